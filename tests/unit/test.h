/* SPDX-License-Identifier: MIT */
#ifndef TESTS_UNIT_TEST_H
#define TESTS_UNIT_TEST_H

/*
 * What every unit test needs: cmocka with the headers it wants in front of it, a directory that
 * goes away, and one answer of a trace.db as text.
 */

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <ftw.h>
#include <limits.h>
#include <sqlite3.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define TEST_UNUSED __attribute__((unused))

/* ---- a directory of this test ---- */

static inline int temp_remove(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	return remove(path);
}

struct temp {
	char dir[64];
	char path[64 + 256];
};

static inline void temp_make(struct temp *temp)
{
	const char *base = getenv("TMPDIR");

	snprintf(temp->dir, sizeof(temp->dir), "%.40s/ftrac-XXXXXX", base ? base : "/tmp");
	assert_non_null(mkdtemp(temp->dir));
}

/* Valid until the next call. */
static inline const char *temp_path(struct temp *temp, const char *name)
{
	snprintf(temp->path, sizeof(temp->path), "%s/%s", temp->dir, name);
	return temp->path;
}

static inline void temp_take_away(struct temp *temp)
{
	nftw(temp->dir, temp_remove, 16, FTW_DEPTH | FTW_PHYS | FTW_MOUNT);
}

/* A fixture that is such a directory alone. */
TEST_UNUSED static int temp_setup(void **state)
{
	struct temp *temp = calloc(1, sizeof(*temp));

	assert_non_null(temp);
	temp_make(temp);
	*state = temp;
	return 0;
}

TEST_UNUSED static int temp_teardown(void **state)
{
	temp_take_away(*state);
	free(*state);
	return 0;
}

/* ---- answers ---- */

static inline void sql_value(FILE *out, sqlite3_stmt *stmt, int column)
{
	const unsigned char *bytes;

	switch (sqlite3_column_type(stmt, column)) {
	case SQLITE_NULL:
		fputs("NULL", out);
		break;
	case SQLITE_BLOB:
		bytes = sqlite3_column_blob(stmt, column);
		fputs("x'", out);
		for (int i = 0; i < sqlite3_column_bytes(stmt, column); i++)
			fprintf(out, "%02x", bytes[i]);
		fputs("'", out);
		break;
	default:
		fputs((const char *)sqlite3_column_text(stmt, column), out);
	}
}

static inline void sql_rows(FILE *out, sqlite3 *db, const char *sql)
{
	sqlite3_stmt *stmt;
	int code, rows = 0;

	if (sqlite3_prepare_v2(db, sql, -1, &stmt, NULL) != SQLITE_OK)
		fail_msg("%s: %s", sqlite3_errmsg(db), sql);
	while ((code = sqlite3_step(stmt)) == SQLITE_ROW) {
		if (rows++)
			fputc('\n', out);
		for (int i = 0; i < sqlite3_column_count(stmt); i++) {
			if (i)
				fputc('|', out);
			sql_value(out, stmt, i);
		}
	}
	sqlite3_finalize(stmt);
	if (code != SQLITE_DONE)
		fail_msg("%s: %s", sqlite3_errmsg(db), sql);
}

/*
 * What a statement answers: columns joined by '|', rows by a newline, NULL and BLOBs as SQL
 * writes them.  The text is valid until four calls later.
 */
static inline const char *sql_vask(const char *file, const char *format, va_list args)
{
	static char answers[4][65536];
	static unsigned next;
	char *answer = answers[next++ % 4], *sql = sqlite3_vmprintf(format, args);
	FILE *out = fmemopen(answer, sizeof(answers[0]), "w");
	sqlite3 *db;

	assert_non_null(out);
	answer[0] = '\0';
	if (sqlite3_open_v2(file, &db, SQLITE_OPEN_READONLY, NULL) != SQLITE_OK)
		fail_msg("%s: %s", sqlite3_errmsg(db), file);
	sql_rows(out, db, sql);
	sqlite3_close(db);
	sqlite3_free(sql);
	fclose(out);
	return answer;
}

static inline const char *sql_ask(const char *file, const char *format, ...)
{
	const char *answer;
	va_list args;

	va_start(args, format);
	answer = sql_vask(file, format, args);
	va_end(args);
	return answer;
}

#endif
