/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "db/query_internal.h"

struct query {
	struct query_db *db;
	sqlite3_stmt *stmt;
	int first, *bound; /* see query_bind(); NULL: columns by position */
};

/* ---- errors ---- */

int query_fail(struct query_db *db, int error, const char *format, const char *path,
	const char *why)
{
	snprintf(db->error, sizeof(db->error), format, path, why);
	return error;
}

int query_fail_sqlite(struct query_db *db, int code)
{
	snprintf(db->error, sizeof(db->error), "%s",
		db->sqlite ? sqlite3_errmsg(db->sqlite) : sqlite3_errstr(code));
	switch (code & 0xff) {
	case SQLITE_NOMEM:
		return -ENOMEM;
	case SQLITE_FULL:
		return -ENOSPC;
	case SQLITE_BUSY:
	case SQLITE_LOCKED:
	case SQLITE_PROTOCOL: /* the locks of a log */
		return -EBUSY;
	case SQLITE_CANTOPEN:
	case SQLITE_PERM:
		return -EACCES;
	case SQLITE_CORRUPT:
	case SQLITE_NOTADB:
		return -EINVAL;
	default:
		return -EIO;
	}
}

const char *query_error(const struct query_db *db)
{
	return db && db->error[0] ? db->error : "out of memory";
}

const char *query_path(const struct query_db *db)
{
	return db->files.path;
}

void query_interrupt(struct query_db *db)
{
	if (db->sqlite)
		sqlite3_interrupt(db->sqlite);
}

/* ---- rows ---- */

static int64_t within(int64_t number)
{
	return number > QUERY_MOST ? QUERY_MOST : number < -QUERY_MOST ? -QUERY_MOST : number;
}

int query_start(struct query_db *db, const char *sql, struct query **ret_query)
{
	struct query *query = calloc(1, sizeof(*query));
	const char *rest = "";
	int r = query ? sqlite3_prepare_v2(db->sqlite, sql, -1, &query->stmt, &rest) : SQLITE_NOMEM;

	if (r != SQLITE_OK) {
		free(query);
		return query_fail_sqlite(db, r);
	}
	query->db = db;
	if (rest[strspn(rest, " \t\n")]) { /* a user may have written a part of it */
		query_end(query);
		return query_fail(db, -EINVAL, "%s%s", "it is more than one statement", "");
	}
	*ret_query = query;
	return 0;
}

int query_next(struct query *query)
{
	int r;

	if (query->db->failed)
		return query_fail(query->db, query->db->failed, "%s%s", "out of memory", "");
	r = sqlite3_step(query->stmt);
	return r == SQLITE_ROW ? 1 : r == SQLITE_DONE ? 0 : query_fail_sqlite(query->db, r);
}

void query_rest(struct query *query)
{
	sqlite3_reset(query->stmt);
	if (!sqlite3_get_autocommit(query->db->sqlite))
		sqlite3_exec(query->db->sqlite, "COMMIT", NULL, NULL, NULL);
}

void query_end(struct query *query)
{
	if (!query)
		return;
	sqlite3_finalize(query->stmt);
	free(query->bound);
	free(query);
}

/* The position of the column in the statement. */
static int column_of(const struct query *query, int column)
{
	return query->bound && column >= query->first ? query->bound[column - query->first] : column;
}

static int find_column(const struct query *query, const char *name, size_t len)
{
	for (int i = query->first; i < query_columns(query); i++) {
		const char *other = sqlite3_column_name(query->stmt, i);

		if (other && strncmp(other, name, len) == 0 && !other[len])
			return i;
	}
	return -1;
}

int query_bind(struct query *query, int first, const char *names)
{
	size_t len;

	query->first = first;
	query->bound = calloc(strlen(names) / 2 + 1, sizeof(*query->bound));
	if (!query->bound)
		return query_fail(query->db, -ENOMEM, "%s%s", "out of memory", "");
	for (int n = 0; *names; n++, names += len + (names[len] == ' ')) {
		char name[64];

		len = strcspn(names, " ");
		query->bound[n] = find_column(query, names, len);
		snprintf(name, sizeof(name), "%.*s", (int)len, names);
		if (query->bound[n] < 0)
			return query_fail(query->db, -EPROTO, "a query has no column '%s'%s", name, "");
	}
	return 0;
}

int query_columns(const struct query *query)
{
	return sqlite3_column_count(query->stmt);
}

const char *query_name(const struct query *query, int column)
{
	return sqlite3_column_name(query->stmt, column_of(query, column));
}

enum query_type query_type(const struct query *query, int column)
{
	switch (sqlite3_column_type(query->stmt, column_of(query, column))) {
	case SQLITE_INTEGER:
		return QUERY_INT;
	case SQLITE_FLOAT:
		return QUERY_REAL;
	case SQLITE_TEXT:
		return QUERY_TEXT;
	case SQLITE_BLOB:
		return QUERY_BLOB;
	default:
		return QUERY_NULL;
	}
}

int64_t query_int(const struct query *query, int column)
{
	return within(sqlite3_column_int64(query->stmt, column_of(query, column)));
}

double query_real(const struct query *query, int column)
{
	return sqlite3_column_double(query->stmt, column_of(query, column));
}

const char *query_bytes(const struct query *query, int column, size_t *ret_len)
{
	/* sqlite3_value_*() takes no lock and checks no error: half of the cost of sqlite3_column_*(). */
	sqlite3_value *value = sqlite3_column_value(query->stmt, column_of(query, column));
	int type = sqlite3_value_type(value);
	const void *bytes =
		type == SQLITE_BLOB ? sqlite3_value_blob(value) : (const void *)sqlite3_value_text(value);

	*ret_len = bytes ? sqlite3_value_bytes(value) : 0;
	if (!bytes && type != SQLITE_NULL && type != SQLITE_BLOB)
		query->db->failed = -ENOMEM; /* query_next() returns it */
	return bytes ? bytes : "";
}

/* ---- facts ---- */

static const struct fact *find_fact(const struct query_db *db, const char *key)
{
	const struct fact *fact = db->facts;

	while (fact && strcmp(fact->bytes, key) != 0)
		fact = fact->next;
	return fact;
}

int64_t query_fact(const struct query_db *db, const char *key, int64_t fallback)
{
	const struct fact *fact = find_fact(db, key);

	return fact && fact->is_number ? within(fact->number) : fallback;
}

const char *query_fact_text(const struct query_db *db, const char *key)
{
	const struct fact *fact = find_fact(db, key);

	return fact ? fact->text : NULL;
}
