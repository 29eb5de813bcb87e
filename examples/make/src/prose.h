/* SPDX-License-Identifier: MIT */
#ifndef PROSE_H
#define PROSE_H

#include <stddef.h>

struct prose {
	size_t sentences, syllables;
};

/* Both are estimates: a sentence ends at a stop, a syllable is a run of vowels. */
void prose_count(struct prose *prose, const char *text, size_t len);

#endif
