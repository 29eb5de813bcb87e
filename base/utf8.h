/* SPDX-License-Identifier: MIT */
#ifndef BASE_UTF8_H
#define BASE_UTF8_H

#include <stdbool.h>
#include <stddef.h>

/* The length of the UTF-8 character at the start of text, which has len bytes; 0: it is not valid UTF-8.  Overlong forms,
 * surrogates and codes above U+10FFFF are not valid. */
size_t utf8_char(const char *text, size_t len);

/* All control characters of ASCII. */
#define UTF8_CONTROLS                                                                              \
	"\x01\x02\x03\x04\x05\x06\x07\x08\x09\x0a\x0b\x0c\x0d\x0e\x0f\x10\x11\x12\x13\x14\x15\x16" \
	"\x17\x18\x19\x1a\x1b\x1c\x1d\x1e\x1f\x7f"

/* True if the text is UTF-8 and its control characters (below U+0020, and U+007F) are all in allowed. */
bool utf8_is_text(const char *text, const char *allowed);

/* A copy with U+FFFD for each byte that is part of no character.  The caller frees it; NULL: out of memory. */
char *utf8_replace(const char *text, size_t len, size_t *ret_len);

#endif
