/* SPDX-License-Identifier: MIT */
#include "report.h"

#include "histogram.h"

static void print_ratio(FILE *out, const char *what, size_t part, size_t whole)
{
	if (whole)
		fprintf(out, "  %-24s %10.2f\n", what, (double)part / (double)whole);
}

static void print_letters(FILE *out, const struct letters *letters)
{
	size_t largest = 0;

	for (int i = 0; i < 26; i++)
		if (letters->count[i] > largest)
			largest = letters->count[i];
	fprintf(out, "letters\n");
	for (int i = 0; i < 26; i++)
		histogram_bar(out, (const char[]){ (char)('a' + i) }, 1, letters->count[i],
			largest);
}

static void print_words(FILE *out, const struct words *words, size_t top)
{
	fprintf(out, "words\n");
	for (size_t i = 0; i < words->n && i < top; i++)
		histogram_bar(out, words->word[i].text.start, (int)words->word[i].text.len,
			words->word[i].count, words->word[0].count);
}

void report_print(FILE *out, const char *name, const struct counts *counts, size_t top)
{
	fprintf(out, "%s\n", name);
	fprintf(out, "  %-24s %10zu\n", "lines", counts->lines.n);
	fprintf(out, "  %-24s %10zu\n", "blank lines", counts->lines.blank);
	fprintf(out, "  %-24s %10zu (line %zu)\n", "longest line", counts->lines.longest,
		counts->lines.longest_at);
	fprintf(out, "  %-24s %10zu\n", "words", counts->words.total);
	fprintf(out, "  %-24s %10zu\n", "different words", counts->words.n);
	print_ratio(out, "letters per word", counts->letters.total, counts->words.total);
	print_ratio(out, "syllables per word", counts->prose.syllables, counts->words.total);
	print_ratio(out, "words per sentence", counts->words.total, counts->prose.sentences);
	print_words(out, &counts->words, top);
	print_letters(out, &counts->letters);
}
