/* SPDX-License-Identifier: MIT */
#include "prose.h"

#include "charclass.h"
#include "split.h"

static size_t syllables_of(struct span word)
{
	size_t n = 0;
	int in_run = 0;

	for (size_t i = 0; i < word.len; i++) {
		int is_vowel = charclass[(unsigned char)word.start[i]] == CHAR_VOWEL;

		n += is_vowel && !in_run ? 1 : 0;
		in_run = is_vowel;
	}
	return n ? n : 1;
}

void prose_count(struct prose *prose, const char *text, size_t len)
{
	const char *position = text, *end = text + len;
	struct span word;

	*prose = (struct prose){ 0 };
	while (split_word(&position, end, &word)) {
		prose->syllables += syllables_of(word);
		if (position < end && split_is_stop(*position))
			prose->sentences++;
	}
}
