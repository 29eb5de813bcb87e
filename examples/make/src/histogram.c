/* SPDX-License-Identifier: MIT */
#include "histogram.h"

enum { LABEL_WIDTH = 16, BAR_WIDTH = 40 };

void histogram_bar(FILE *out, const char *label, int label_len, size_t count, size_t largest)
{
	size_t width = largest ? (count * BAR_WIDTH + largest - 1) / largest : 0;

	fprintf(out, "  %-*.*s %8zu  ", LABEL_WIDTH, label_len, label, count);
	while (width-- > 0)
		fputc('#', out);
	fputc('\n', out);
}
