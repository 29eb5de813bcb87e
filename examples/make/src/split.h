/* SPDX-License-Identifier: MIT */
#ifndef SPLIT_H
#define SPLIT_H

#include <stdbool.h>
#include <stddef.h>

/* A part of a text, not ended by a NUL. */
struct span {
	const char *start;
	size_t len;
};

/* The next word at or after *position, which is moved behind it; false at the end. */
bool split_word(const char **position, const char *end, struct span *ret_word);

/* The next line, without its newline. */
bool split_line(const char **position, const char *end, struct span *ret_line);

/* Does a sentence end with this character? */
bool split_is_stop(char c);

#endif
