/* SPDX-License-Identifier: MIT */
#ifndef DB_TEXT_H
#define DB_TEXT_H

/* Bytes that came from outside, made fit for the database. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "db/store.h"

bool text_is_utf8(const char *bytes, size_t len);

/* TEXT if it is UTF-8, else BLOB; NULL for NULL.  The bytes are not copied. */
struct value text_value(const char *bytes, size_t len);

/*
 * Arguments, each with its NUL, as a JSON array; what is not UTF-8 becomes U+FFFD, which is told
 * by *ret_exact.  To be freed; NULL when out of memory.
 */
char *text_json_array(const char *args, size_t len, bool *ret_exact);

/*
 * The part-th part of a text made of length-prefixed parts (db/event.h, enum process_part).
 * NULL if it is not known or the text ends before it.
 */
const char *text_part(const char *text, size_t len, int part, size_t *ret_len);

/* Symbolic open flags: the access mode, then names joined by '|', what has no name in hex. */
void text_open_flags(uint32_t flags, char *out, size_t size);

#endif
