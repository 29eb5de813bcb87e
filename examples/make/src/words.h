/* SPDX-License-Identifier: MIT */
#ifndef WORDS_H
#define WORDS_H

#include "split.h"

struct word {
	struct span text;
	size_t count;
};

/* The different words of a text, the most frequent first. They point into the text. */
struct words {
	struct word *word;
	size_t n; /* different ones */
	size_t total;
};

/* 0, or -1 when out of memory. */
int words_init(struct words *words, const char *text, size_t len);
void words_finish(struct words *words);

#endif
