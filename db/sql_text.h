/* SPDX-License-Identifier: MIT */
#ifndef DB_SQL_TEXT_H
#define DB_SQL_TEXT_H

/*
 * SQL that is put together: a text that grows, with SQLite's formats.
 *
 * sql_text_format() takes those of sqlite3_mprintf() (https://sqlite.org/printf.html): %Q is a literal in quotes, or
 * NULL; %q and %w are for use inside of quotes ' and ".
 *
 * No function fails for want of memory: sql_text_finish() says so.  One thread for each text.
 */

#include <stddef.h>

struct sql_text;

struct sql_text *sql_text_create(void);
void sql_text_put(struct sql_text *text, const char *bytes);
void sql_text_put_bytes(struct sql_text *text, const char *bytes, size_t len);
void sql_text_format(struct sql_text *text, const char *format, ...);

/* Ends the text and frees it.  The caller frees what comes back; NULL: out of memory. */
char *sql_text_finish(struct sql_text *text);

#endif
