/* SPDX-License-Identifier: MIT */
#ifndef TESTS_FUZZ_FUZZ_H
#define TESTS_FUZZ_FUZZ_H

/*
 * What the targets of libFuzzer share: bytes taken apart into what a target wants, a directory for files,
 * and command lines.  A target must not crash, run for ever or trip a sanitizer, whatever the bytes are;
 * what it finds out is thrown away, what it promises is asserted.
 */

#include <ftw.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FUZZ_UNUSED __attribute__((unused))

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerInitialize(int *argc, char ***argv);

/* Also where NDEBUG is set. */
#define FUZZ_ASSERT(fact) ((fact) ? (void)0 : abort())

/* ---- bytes taken apart ---- */

struct fuzz_bytes {
	const uint8_t *at;
	size_t left;
};

/* size bytes; zeros where there are no more. */
FUZZ_UNUSED static void fuzz_take(struct fuzz_bytes *bytes, void *out, size_t size)
{
	size_t n = size < bytes->left ? size : bytes->left;

	memset(out, 0, size);
	memcpy(out, bytes->at, n);
	bytes->at += n;
	bytes->left -= n;
}

FUZZ_UNUSED static unsigned fuzz_byte(struct fuzz_bytes *bytes)
{
	uint8_t byte;

	fuzz_take(bytes, &byte, 1);
	return byte;
}

/* Up to the next newline, to be freed. */
FUZZ_UNUSED static char *fuzz_line(struct fuzz_bytes *bytes)
{
	const uint8_t *end = bytes->left ? memchr(bytes->at, '\n', bytes->left) : NULL;
	size_t n = end ? (size_t)(end - bytes->at) : bytes->left;
	char *line = strndup((const char *)bytes->at, n);

	bytes->at += n + (end != NULL);
	bytes->left -= n + (end != NULL);
	return line;
}

/* ---- files ---- */

static char fuzz_directory[64];

FUZZ_UNUSED static int fuzz_remove(const char *path, const struct stat *st, int type,
	struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	return remove(path);
}

FUZZ_UNUSED static void fuzz_clean_up(void)
{
	nftw(fuzz_directory, fuzz_remove, 16, FTW_DEPTH | FTW_PHYS | FTW_MOUNT);
}

/* In memory if there is a place; it goes with the process, if that is not killed. */
FUZZ_UNUSED static void fuzz_make_directory(void)
{
	snprintf(fuzz_directory, sizeof(fuzz_directory), "%s/ftrac-fuzz-XXXXXX",
		access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
	FUZZ_ASSERT(mkdtemp(fuzz_directory));
	atexit(fuzz_clean_up);
}

/* Valid until the next call. */
FUZZ_UNUSED static const char *fuzz_path(const char *name)
{
	static char path[256];

	snprintf(path, sizeof(path), "%s/%s", fuzz_directory, name);
	return path;
}

FUZZ_UNUSED static void fuzz_write(const char *name, const void *bytes, size_t size)
{
	FILE *f = fopen(fuzz_path(name), "w");

	FUZZ_ASSERT(f);
	FUZZ_ASSERT(fwrite(bytes, 1, size, f) == size);
	FUZZ_ASSERT(fclose(f) == 0);
}

/* ---- command lines ---- */

#define FUZZ_WORDS 24

struct fuzz_words {
	char *word[FUZZ_WORDS + 1]; /* ended by NULL; what parses them may change their order, and drop some */
	char *made[FUZZ_WORDS];	    /* to be freed */
	int n;
};

/* Each line a word, the program's name first. */
FUZZ_UNUSED static void fuzz_words_read(struct fuzz_words *words, const char *name,
	struct fuzz_bytes *bytes)
{
	*words = (struct fuzz_words){ .word = { strdup(name) }, .n = 1 };
	while (bytes->left && words->n < FUZZ_WORDS)
		words->word[words->n++] = fuzz_line(bytes);
	memcpy(words->made, words->word, sizeof(words->made));
}

FUZZ_UNUSED static void fuzz_words_free(struct fuzz_words *words)
{
	for (int i = 0; i < words->n; i++)
		free(words->made[i]);
}

#endif
