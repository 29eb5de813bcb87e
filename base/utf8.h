/* SPDX-License-Identifier: MIT */
#ifndef BASE_UTF8_H
#define BASE_UTF8_H

#include <stddef.h>

/* The length of the UTF-8 character at text, of which there are len bytes; 0: it is none.  As Unicode has
 * it: no longer forms, no surrogates, nothing above U+10FFFF. */
size_t utf8_char(const char *text, size_t len);

/* A copy with U+FFFD for each byte that is part of no character, to be freed; NULL: out of memory. */
char *utf8_replace(const char *text, size_t len, size_t *ret_len);

#endif
