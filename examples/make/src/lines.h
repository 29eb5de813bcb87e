/* SPDX-License-Identifier: MIT */
#ifndef LINES_H
#define LINES_H

#include <stddef.h>

struct lines {
	size_t n, blank;
	size_t longest, longest_at; /* bytes; the number of that line, from 1 */
};

void lines_count(struct lines *lines, const char *text, size_t len);

#endif
