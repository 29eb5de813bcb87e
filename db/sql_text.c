/* SPDX-License-Identifier: MIT */
#include "db/sql_text.h"

#include <sqlite3.h>
#include <stdarg.h>
#include <string.h>

/* SQLite's string builder, which is never NULL. */
static sqlite3_str *str(struct sql_text *text)
{
	return (sqlite3_str *)text;
}

struct sql_text *sql_text_create(void)
{
	return (struct sql_text *)sqlite3_str_new(NULL);
}

void sql_text_put(struct sql_text *text, const char *bytes)
{
	sqlite3_str_appendall(str(text), bytes);
}

void sql_text_put_bytes(struct sql_text *text, const char *bytes, size_t len)
{
	sqlite3_str_append(str(text), bytes, (int)len);
}

void sql_text_format(struct sql_text *text, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	sqlite3_str_vappendf(str(text), format, args);
	va_end(args);
}

char *sql_text_finish(struct sql_text *text)
{
	int failed = sqlite3_str_errcode(str(text));
	char *made = sqlite3_str_finish(str(text)), *copy;

	copy = made ? strdup(made) : failed ? NULL : strdup("");
	sqlite3_free(made);
	return copy;
}
