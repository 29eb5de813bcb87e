/* SPDX-License-Identifier: MIT */
#include "words.h"

#include <stdlib.h>
#include <strings.h>

static int by_text(const void *a, const void *b)
{
	const struct word *x = a, *y = b;
	size_t len = x->text.len < y->text.len ? x->text.len : y->text.len;
	int order = strncasecmp(x->text.start, y->text.start, len);

	return order ? order : (x->text.len > y->text.len) - (x->text.len < y->text.len);
}

static int by_count(const void *a, const void *b)
{
	const struct word *x = a, *y = b;

	if (x->count != y->count)
		return x->count < y->count ? 1 : -1;
	return by_text(a, b);
}

static int collect(struct words *words, const char *text, size_t len)
{
	const char *position = text;
	struct span span;
	size_t size = 0;

	while (split_word(&position, text + len, &span)) {
		if (words->total == size) {
			struct word *grown;

			size = size ? 2 * size : 256;
			grown = realloc(words->word, size * sizeof(*grown));
			if (!grown)
				return -1;
			words->word = grown;
		}
		words->word[words->total++] = (struct word){ .text = span, .count = 1 };
	}
	return 0;
}

/* Equal words stand side by side: the first of them takes the counts of the others. */
static void merge(struct words *words)
{
	for (size_t i = 0; i < words->total; i++) {
		struct word *last = words->n ? &words->word[words->n - 1] : NULL;

		if (last && by_text(last, &words->word[i]) == 0)
			last->count++;
		else
			words->word[words->n++] = words->word[i];
	}
}

int words_init(struct words *words, const char *text, size_t len)
{
	*words = (struct words){ 0 };
	if (collect(words, text, len) < 0) {
		words_finish(words);
		return -1;
	}
	if (words->total == 0)
		return 0;
	qsort(words->word, words->total, sizeof(*words->word), by_text);
	merge(words);
	qsort(words->word, words->n, sizeof(*words->word), by_count);
	return 0;
}

void words_finish(struct words *words)
{
	free(words->word);
	*words = (struct words){ 0 };
}
