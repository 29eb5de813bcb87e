/* SPDX-License-Identifier: MIT */
#ifndef DB_TEXT_H
#define DB_TEXT_H

/* Converts bytes from outside for the database. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "db/store.h"

bool text_is_utf8(const char *bytes, size_t len);

/* TEXT if it is UTF-8, else BLOB; NULL for NULL.  The bytes are not copied. */
struct value text_value(const char *bytes, size_t len);

/*
 * Arguments, each ended by NUL, as a JSON array.  Bytes that are not UTF-8 become U+FFFD; then *ret_exact is false.  The
 * caller frees it; NULL: out of memory.
 */
char *text_json_array(const char *args, size_t len, bool *ret_exact);

/*
 * One part of a text of length-prefixed parts (db/event.h, enum process_part).  NULL if it is not known or the text ends
 * before it.
 */
const char *text_part(const char *text, size_t len, int part, size_t *ret_len);

/* Open flags as text: the access mode, then names joined by '|'; bits without a name as one hex number. */
void text_open_flags(uint32_t flags, char *out, size_t size);

#endif
