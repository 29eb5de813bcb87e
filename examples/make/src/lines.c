/* SPDX-License-Identifier: MIT */
#include "lines.h"

#include <string.h>

#include "split.h"

static int is_blank(struct span line)
{
	for (size_t i = 0; i < line.len; i++)
		if (!strchr(" \t\r", line.start[i]))
			return 0;
	return 1;
}

void lines_count(struct lines *lines, const char *text, size_t len)
{
	const char *position = text;
	struct span line;

	*lines = (struct lines){ 0 };
	while (split_line(&position, text + len, &line)) {
		lines->n++;
		lines->blank += is_blank(line) ? 1 : 0;
		if (line.len > lines->longest) {
			lines->longest = line.len;
			lines->longest_at = lines->n;
		}
	}
}
