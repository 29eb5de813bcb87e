/* SPDX-License-Identifier: MIT */
#ifndef BASE_ARENA_H
#define BASE_ARENA_H

/*
 * Memory that is freed as a whole: many small pieces that live as long as one struct.  An arena begins as zeroes.
 * Pieces do not move and are aligned for any type.  (obstack of the C library ends the program if there is no
 * memory.)
 */

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#define ARENA_CHUNK_BYTES ((size_t)64 << 10)

struct arena_chunk {
	struct arena_chunk *next;
	size_t used, size;
	_Alignas(max_align_t) char bytes[];
};

struct arena {
	struct arena_chunk *chunks; /* the newest first: pieces are taken from it alone */
};

/* size bytes, which are not set; NULL: out of memory. */
static inline void *arena_alloc(struct arena *arena, size_t size)
{
	const size_t align = _Alignof(max_align_t);
	struct arena_chunk *chunk = arena->chunks;

	size = (size + align - 1) & ~(align - 1);
	if (!chunk || chunk->size - chunk->used < size) {
		size_t room = size > ARENA_CHUNK_BYTES ? size : ARENA_CHUNK_BYTES;

		chunk = malloc(sizeof(*chunk) + room);
		if (!chunk)
			return NULL;
		*chunk = (struct arena_chunk){ .next = arena->chunks, .size = room };
		arena->chunks = chunk;
	}
	chunk->used += size;
	return chunk->bytes + chunk->used - size;
}

/* A copy of len bytes with a NUL behind them; NULL: out of memory. */
static inline char *arena_text(struct arena *arena, const char *bytes, size_t len)
{
	char *copy = arena_alloc(arena, len + 1);

	if (!copy)
		return NULL;
	if (len)
		memcpy(copy, bytes, len);
	copy[len] = '\0';
	return copy;
}

/* Frees all pieces; the arena is empty then. */
static inline void arena_free(struct arena *arena)
{
	while (arena->chunks) {
		struct arena_chunk *next = arena->chunks->next;

		free(arena->chunks);
		arena->chunks = next;
	}
}

/* The same, but keeps the newest chunk for the next pieces. */
static inline void arena_clear(struct arena *arena)
{
	struct arena_chunk *kept = arena->chunks;

	if (!kept)
		return;
	arena->chunks = kept->next;
	arena_free(arena);
	kept->next = NULL;
	kept->used = 0;
	arena->chunks = kept;
}

#endif
