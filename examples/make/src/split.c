/* SPDX-License-Identifier: MIT */
#include "split.h"

#include <string.h>

#include "charclass.h"

static enum charclass class_of(char c)
{
	return charclass[(unsigned char)c];
}

static bool begins_word(char c)
{
	return class_of(c) == CHAR_VOWEL || class_of(c) == CHAR_LETTER;
}

static bool continues_word(char c)
{
	return begins_word(c) || class_of(c) == CHAR_DIGIT || class_of(c) == CHAR_JOINT;
}

bool split_word(const char **position, const char *end, struct span *ret_word)
{
	const char *p = *position;

	while (p < end && !begins_word(*p))
		p++;
	ret_word->start = p;
	while (p < end && continues_word(*p))
		p++;
	ret_word->len = (size_t)(p - ret_word->start);
	*position = p;
	return ret_word->len > 0;
}

bool split_line(const char **position, const char *end, struct span *ret_line)
{
	const char *newline;

	if (*position == end)
		return false;
	newline = memchr(*position, '\n', (size_t)(end - *position));
	ret_line->start = *position;
	ret_line->len = (size_t)((newline ? newline : end) - *position);
	*position = newline ? newline + 1 : end;
	return true;
}

bool split_is_stop(char c)
{
	return class_of(c) == CHAR_STOP;
}
