/* SPDX-License-Identifier: MIT */
#ifndef DB_SQL_TEXT_H
#define DB_SQL_TEXT_H

/*
 * Builds SQL as a growing text, with SQLite's formats.
 *
 * sql_text_format() takes the formats of sqlite3_mprintf() (https://sqlite.org/printf.html): %Q is a quoted literal or NULL;
 * %q and %w are for use inside quotes ' and ".
 *
 * Functions do not report lack of memory; sql_text_finish() does.  One thread for each text.
 */

#include <stddef.h>

struct sql_text;

struct sql_text *sql_text_create(void);
void sql_text_put(struct sql_text *text, const char *bytes);
void sql_text_put_bytes(struct sql_text *text, const char *bytes, size_t len);
void sql_text_format(struct sql_text *text, const char *format, ...);

/* Destroys the builder and returns the text, which the caller frees; NULL: out of memory. */
char *sql_text_finish(struct sql_text *text);

#endif
