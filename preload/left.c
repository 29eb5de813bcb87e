/* SPDX-License-Identifier: MIT */
#include "preload/left.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.h"
#include "db/layers.h"
#include "preload/wire.h"

#define LOOK_NS 100000000 /* between two looks at the threads */

struct left {
	struct wire_header *header;
	struct {
		uint32_t caller, number;
	} seen[WIRE_BLOCKS * WIRE_SUMS];
	uint32_t dead[WIRE_BLOCKS]; /* the caller that has ended; its last records are read in the next pass */
	int64_t look_ns;
};

int left_create(struct wire_header *header, struct left **ret_left)
{
	struct left *left = calloc(1, sizeof(*left));

	if (!left)
		return -ENOMEM;
	left->header = header;
	*ret_left = left;
	return 0;
}

void left_destroy(struct left *left)
{
	free(left);
}

void left_note(struct left *left, uint64_t place, const struct wire_record *record)
{
	if (place == 0 || place > WIRE_BLOCKS * WIRE_SUMS)
		return;
	left->seen[place - 1].caller = record->caller;
	left->seen[place - 1].number = record->number;
}

static void fill(const struct wire_sum *sum, uint32_t caller, size_t place, struct wire_record *ret_record, char *text)
{
	const struct layer_mpi mpi = { .opened = sum->opened, .order = -1, .rank = sum->rank, .size = sum->size };
	const struct layer_sum about = { .calls = sum->calls, .measured = layer_measured(sum->calls, sum->timed), .end_ns = sum->end_ns, .least_ns = sum->least_ns,
		.most_ns = sum->most_ns, .place = (uint32_t)place };
	size_t n_mpi = sum->known & WIRE_HAS_MPI ? sizeof(mpi) : 0;

	memcpy(text, &mpi, n_mpi);
	memcpy(text + n_mpi, &about, sizeof(about));
	*ret_record = (struct wire_record){ .kind = WIRE_CALL, .known = (uint8_t)(sum->known | WIRE_HAS_SUM), .code = sum->code,
		.text_len = (uint16_t)(n_mpi + sizeof(about)), .caller = caller, .number = sum->number, .parent = sum->parent, .fd = sum->fd,
		.start_ns = sum->start_ns, .latency_ns = sum->latency_ns, .offset = sum->offset, .length = sum->length, .result = sum->bytes };
	if (sum->calls > 1)
		ret_record->known &= ~WIRE_HAS_OFFSET;
}

static int take_block(struct left *left, uint32_t i, uint32_t caller, void (*put)(void *, const struct wire_record *, const char *), void *arg)
{
	const struct wire_block *block = wire_block(left->header, i);
	int n = 0;

	for (uint32_t k = 0; k < WIRE_SUMS; k++) {
		char text[sizeof(struct layer_mpi) + sizeof(struct layer_sum)];
		size_t place = (size_t)i * WIRE_SUMS + k;
		struct wire_sum sum;
		struct wire_record record;

		memcpy(&sum, &block->sums[k], sizeof(sum));
		if (!sum.number || !sum.calls || (left->seen[place].caller == caller && left->seen[place].number == sum.number))
			continue;
		fill(&sum, caller, place + 1, &record, text);
		left_note(left, place + 1, &record);
		put(arg, &record, text);
		n++;
	}
	return n;
}

static void free_block(struct wire_block *block)
{
	memset(block->sums, 0, sizeof(block->sums));
	block->pid = block->tid = 0;
	atomic_store(&block->ended, 0);
	atomic_store_explicit(&block->caller, 0, memory_order_release);
}

/* A thread has one block: a later one of the same thread is that of another program. */
static bool has_later(struct left *left, uint32_t i)
{
	const struct wire_block *block = wire_block(left->header, i);

	for (uint32_t k = 0; k < WIRE_BLOCKS; k++) {
		const struct wire_block *other = wire_block(left->header, k);

		if (other->tid == block->tid && atomic_load(&other->caller) > atomic_load(&block->caller))
			return true;
	}
	return false;
}

/* Threads of other pid namespaces live, as far as is known. */
static void find_dead(struct left *left)
{
	for (uint32_t i = 0; i < WIRE_BLOCKS; i++) {
		const struct wire_block *block = wire_block(left->header, i);
		int32_t pid = block->pid, tid = block->tid;
		bool gone = pid > 0 && tid > 0 && syscall(SYS_tgkill, pid, tid, 0) < 0 && errno == ESRCH;

		left->dead[i] = gone || (tid > 0 && has_later(left, i)) ? atomic_load(&block->caller) : 0;
	}
}

int left_take(struct left *left, bool last, void (*put)(void *arg, const struct wire_record *record, const char *text), void *arg)
{
	int64_t now_ns = clock_now_ns();
	uint32_t used = 0;
	int n = 0;

	for (uint32_t i = 0; i < WIRE_BLOCKS; i++) {
		struct wire_block *block = wire_block(left->header, i);
		uint32_t caller = atomic_load_explicit(&block->caller, memory_order_acquire);
		bool ended = caller && (left->dead[i] == caller || atomic_load_explicit(&block->ended, memory_order_acquire));

		used += caller > 0;
		if (caller && (ended || last))
			n += take_block(left, i, caller, put, arg);
		if (ended)
			free_block(block);
	}
	if (!last && used > WIRE_BLOCKS / 2 && now_ns >= left->look_ns) {
		find_dead(left);
		left->look_ns = now_ns + LOOK_NS;
	}
	return n;
}
