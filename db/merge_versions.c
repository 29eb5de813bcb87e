/* SPDX-License-Identifier: MIT */
#include "db/merge_versions.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/vector.h"
#include "db/sql.h"

/* A version of one trace: the time in which that trace uses it. */
struct segment {
	int64_t version; /* tagged */
	int64_t until;	 /* its last access */
	int64_t read_until; /* the same of processes that only read it, */
	int64_t used_until; /* and of those that read or wrote it */
};

struct walk {
	sqlite3_stmt *events, *put;
	int64_t file, number;
	int64_t began; /* when the version with that number did */
	bool is_read; /* the version was read by a process that did not write it */
	bool is_used; /* it was read or written */
	struct segment *segments; /* the last of each trace */
	int n_segments;
};

enum { FILE_ID, VERSION, TIME, UNTIL, EVENT, BEGINS, EMPTIES, READ_UNTIL, USED_UNTIL };
/* BEGINS: how a trace has begun the version: not at all, by a write after reads, by emptying used content, as a new file. */
enum { FOUND, AFTER_READ, EMPTIED, ANEW };
enum { FIRST_ACCESS, READ, WRITE }; /* events, in this order if at the same time */

/*
 * The first access to each version of a trace, and the first read and write of each process.  Within a trace, a write
 * after reads of others has begun a new version already; so these events decide only between traces.
 */
static const char rows_sql[] =
	"CREATE TEMP TABLE rows AS SELECT file, version, first_t, last_t, coalesce(first_in, first_t) AS in_t,"
	"  coalesce(first_out, first_t) AS out_t, emptied,"
	"  nwrite > 0 OR created OR truncated OR assumed_write AS writes,"
	"  nread > 0 OR mapped OR executed OR assumed_read AS reads,"
	"  CASE WHEN max(created) OVER w OR (file, version) IN changed THEN 3 WHEN version & 4294967295 = 1 THEN 0"
	"    WHEN max(emptied) OVER w THEN 2 ELSE 1 END AS begins"
	"  FROM access_rows WHERE file IN shared WINDOW w AS (PARTITION BY file, version)";
static const char walk_sql[] =
	"SELECT file, version, min(first_t) AS t, max(last_t), 0 AS event, begins, 0,"
	"  max(iif(reads AND NOT writes, last_t, 0)), max(iif(reads OR writes, last_t, 0)) FROM rows GROUP BY file, version"
	" UNION ALL SELECT file, version, in_t, 0, 1, begins, 0, 0, 0 FROM rows WHERE reads AND NOT writes"
	" UNION ALL SELECT file, version, out_t, 0, 2, begins, emptied, 0, 0 FROM rows WHERE writes"
	" ORDER BY file, t, event";

int merge_versions_begin(sqlite3 *sqlite)
{
	return sqlite3_exec(sqlite,
		"CREATE TEMP TABLE shared (file INTEGER PRIMARY KEY);"
		"CREATE TEMP TABLE changed (file INTEGER, version INTEGER);"
		"CREATE TEMP TABLE numbers (file INTEGER, version INTEGER, from_t INTEGER, number INTEGER,"
		"  PRIMARY KEY (file, version, from_t)) WITHOUT ROWID",
		NULL, NULL, NULL);
}

static int64_t column(const struct walk *w, int i)
{
	return sqlite3_column_int64(w->events, i);
}

static int64_t trace_of(int64_t version)
{
	return version >> 32;
}

/* From that time on, the version has the number that is the last one now. */
static int put_number(struct walk *w, int64_t version, int64_t from_t)
{
	int r;

	sqlite3_bind_int64(w->put, 1, w->file);
	sqlite3_bind_int64(w->put, 2, version);
	sqlite3_bind_int64(w->put, 3, from_t);
	sqlite3_bind_int64(w->put, 4, w->number);
	r = sqlite3_step(w->put);
	sqlite3_reset(w->put);
	return r == SQLITE_DONE ? SQLITE_OK : r;
}

static int set_segment(struct walk *w, int64_t version)
{
	int i = 0;

	while (i < w->n_segments && trace_of(w->segments[i].version) != trace_of(version))
		i++;
	if (i == w->n_segments && vector_push(w->segments, w->n_segments, (struct segment){ 0 }) < 0)
		return SQLITE_NOMEM;
	w->segments[i] = (struct segment){ version, column(w, UNTIL), column(w, READ_UNTIL), column(w, USED_UNTIL) };
	return SQLITE_OK;
}

static const struct segment *segment_of(const struct walk *w, int64_t version)
{
	for (int i = 0; i < w->n_segments; i++)
		if (trace_of(w->segments[i].version) == trace_of(version))
			return &w->segments[i];
	return NULL;
}

/* Whether what a trace has begun a version for is so of the last version of all, too: its reads may have been of another. */
static bool begins(const struct walk *w, int64_t version)
{
	const struct segment *former = segment_of(w, version);

	switch (column(w, BEGINS)) {
	case FOUND:
		return false;
	case AFTER_READ:
		return w->is_read || !former || former->read_until >= w->began;
	case EMPTIED:
		return w->is_used || !former || former->used_until >= w->began;
	default:
		return true;
	}
}

/* Begins a version; other traces that still use the content they found use it from now on. */
static int next_number(struct walk *w, int64_t version, int64_t time)
{
	int r = SQLITE_OK;

	w->number++;
	w->began = time;
	w->is_read = w->is_used = false;
	for (int i = 0; i < w->n_segments && r == SQLITE_OK; i++) {
		const struct segment *s = &w->segments[i];

		if (trace_of(s->version) != trace_of(version) && s->until > time)
			r = put_number(w, s->version, time);
	}
	return r;
}

static int on_first_access(struct walk *w)
{
	int64_t version = column(w, VERSION);
	int r = SQLITE_OK;

	if (w->number == 0 || begins(w, version))
		r = next_number(w, version, column(w, TIME));
	if (r == SQLITE_OK)
		r = set_segment(w, version);
	return r == SQLITE_OK ? put_number(w, version, INT64_MIN) : r;
}

/* The rule of file_write() and file_truncate() in files.h. */
static int on_write(struct walk *w)
{
	int64_t version = column(w, VERSION), time = column(w, TIME);
	bool empties = column(w, EMPTIES) && !column(w, BEGINS) && w->is_used;
	int r = SQLITE_OK;

	if (w->is_read || empties) {
		r = next_number(w, version, time);
		r = r == SQLITE_OK ? put_number(w, version, time) : r;
	}
	w->is_used = true;
	return r;
}

static int on_event(struct walk *w)
{
	if (w->file != column(w, FILE_ID)) {
		w->file = column(w, FILE_ID);
		w->number = w->n_segments = 0;
		w->is_read = w->is_used = false;
	}
	switch (column(w, EVENT)) {
	case FIRST_ACCESS:
		return on_first_access(w);
	case READ:
		w->is_read = w->is_used = true;
		return SQLITE_OK;
	default:
		return on_write(w);
	}
}

static int walk(sqlite3 *sqlite)
{
	struct walk w = { 0 };
	int r = sqlite3_prepare_v2(sqlite, walk_sql, -1, &w.events, NULL);

	if (r == SQLITE_OK)
		r = sqlite3_prepare_v2(sqlite, "INSERT OR REPLACE INTO numbers VALUES (?, ?, ?, ?)", -1,
			&w.put, NULL);
	while (r == SQLITE_OK && (r = sqlite3_step(w.events)) == SQLITE_ROW)
		r = on_event(&w);
	sqlite3_finalize(w.events);
	sqlite3_finalize(w.put);
	free(w.segments);
	return r == SQLITE_DONE ? SQLITE_OK : r;
}

int merge_versions(sqlite3 *sqlite)
{
	int r = sqlite3_exec(sqlite, rows_sql, NULL, NULL, NULL);

	if (r == SQLITE_OK)
		r = walk(sqlite);
	return r == SQLITE_OK ? sqlite3_exec(sqlite, sql_versions, NULL, NULL, NULL) : r;
}
