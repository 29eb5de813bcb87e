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
	/* Its last row, not written yet: another one at the same time takes its place.  number 0: there is none. */
	int64_t from_t, number;
};

struct walk {
	sqlite3_stmt *events, *put;
	int64_t file, number;
	int64_t began;	/* when the version with that number did */
	int64_t reader; /* the process that has read it: NONE, SEVERAL */
	bool is_used;	/* it was read or written */
	struct segment *segments; /* the last of each trace */
	int n_segments;
};

enum { NONE = 0, SEVERAL = -1 };
enum { FILE_ID, VERSION, TIME, UNTIL, EVENT, PROCESS, BEGINS, EMPTIES, READ_BEFORE, USED_BEFORE };
/* BEGINS: how a trace has begun the version: not at all, by a write after reads, by emptying used content, as a new file. */
enum { FOUND, AFTER_READ, EMPTIED, ANEW };
enum { FIRST_ACCESS, READ, WRITE }; /* events, in this order if at the same time */

/*
 * The first access to each version of a trace, and the first read and write of each process.  Within a trace, a write
 * after reads of others has begun a new version already; so these events decide only between traces.  A process that is
 * not known is SEVERAL.  As access_rows, but with no more than is needed here: a third of its time.
 */
static const char rows_sql[] =
	"CREATE TEMP TABLE rows (file, version, process, first_t, last_t, in_t, out_t, last_out, created, emptied, writes, reads, begins);"
	"INSERT INTO rows SELECT file, version, coalesce(process, -1), min(first_t), max(last_t), coalesce(min(first_in), min(first_t)),"
	"    coalesce(min(first_out), min(first_t)), max(last_out), max(did & 1), max(did >> 6 & 1), max(writes), max(reads), NULL"
	"  FROM (SELECT file, version, process, first_t, first_t + last_t AS last_t, first_t + first_in AS first_in,"
	"      first_t + first_out AS first_out, first_t + first_out + last_out AS last_out, did, did & (1 + 2 + 256) <> 0 AS writes,"
	"      did & (16 + 32 + 128) <> 0 AS reads FROM touches"
	"    UNION ALL SELECT file, version, process, coalesce(min(first_read, first_write), first_read, first_write),"
	"      coalesce(max(last_read, last_write), last_read, last_write), first_read, first_write, last_write, 0, nwrite > 0, nread > 0"
	"      FROM any_use WHERE handle IN (SELECT handle FROM fresh_handles))"
	"  WHERE file IN shared GROUP BY file, version, process;"
	"CREATE INDEX temp.rows_version ON rows (file, version);"
	"UPDATE rows SET begins = b.begins FROM (SELECT file, version, CASE WHEN max(created) OR (file, version) IN changed THEN 3"
	"    WHEN version & 4294967295 = 1 THEN 0 WHEN max(emptied) THEN 2 ELSE 1 END AS begins FROM rows GROUP BY file, version) b"
	"  WHERE rows.file = b.file AND rows.version = b.version";
/*
 * Of a first access: the process that is the first to write; when the former version of the trace was read last by another
 * process, and when it was used last.  Without a row of that version: always.
 */
static const char walk_sql[] =
	"SELECT file, version, min(first_t) AS t, max(last_t), 0 AS event, -1, begins, 0, NULL, NULL FROM rows"
	"  WHERE begins IN (0, 3) GROUP BY file, version"
	" UNION ALL SELECT v.file, v.version, t, until, 0, writer, v.begins, 0,"
	"  iif(count(f.file), max(iif(f.reads AND f.process <> writer, iif(f.writes AND f.last_t <= f.last_out,"
	"    f.in_t, f.last_t), 0)), 9223372036854775807),"
	"  iif(count(f.file), max(iif(f.reads OR f.writes, f.last_t, 0)), 9223372036854775807)"
	"  FROM (SELECT r.file, r.version, r.begins, min(first_t) AS t, max(last_t) AS until,"
	"      (SELECT process FROM rows w WHERE w.file = r.file AND w.version = r.version AND w.writes"
	"        ORDER BY out_t LIMIT 1) AS writer"
	"    FROM rows r WHERE begins IN (1, 2) GROUP BY r.file, r.version) v"
	"  LEFT JOIN rows f ON f.file = v.file AND f.version = v.version - 1 GROUP BY v.file, v.version"
	" UNION ALL SELECT file, version, in_t, 0, 1, process, begins, 0, 0, 0 FROM rows WHERE reads"
	" UNION ALL SELECT file, version, out_t, 0, 2, process, begins, emptied, 0, 0 FROM rows WHERE writes"
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

static int write_row(struct walk *w, const struct segment *s)
{
	int r;

	if (!s->number)
		return SQLITE_OK;
	sqlite3_bind_int64(w->put, 1, w->file);
	sqlite3_bind_int64(w->put, 2, s->version);
	sqlite3_bind_int64(w->put, 3, s->from_t);
	sqlite3_bind_int64(w->put, 4, s->number);
	r = sqlite3_step(w->put);
	sqlite3_reset(w->put);
	return r == SQLITE_DONE ? SQLITE_OK : r;
}

/* From that time on, the version has the number that is the last one now. */
static int put_number(struct walk *w, struct segment *s, int64_t from_t)
{
	int r = s->from_t == from_t ? SQLITE_OK : write_row(w, s);

	s->from_t = from_t;
	s->number = w->number;
	return r;
}

/* That of the trace of the version, or one behind the last. */
static int find_segment(const struct walk *w, int64_t version)
{
	int i = 0;

	while (i < w->n_segments && trace_of(w->segments[i].version) != trace_of(version))
		i++;
	return i;
}

static int set_segment(struct walk *w, int64_t version)
{
	int i = find_segment(w, version), r = SQLITE_OK;

	if (i < w->n_segments)
		r = write_row(w, &w->segments[i]);
	else if (vector_push(w->segments, w->n_segments, (struct segment){ 0 }) < 0)
		return SQLITE_NOMEM;
	w->segments[i] = (struct segment){ version, column(w, UNTIL), INT64_MIN, w->number };
	return r;
}

/* The last rows of all. */
static int end_segments(struct walk *w)
{
	int r = SQLITE_OK;

	for (int i = 0; i < w->n_segments && r == SQLITE_OK; i++)
		r = write_row(w, &w->segments[i]);
	w->n_segments = 0;
	return r;
}

static bool is_read_by_another(const struct walk *w, int64_t process)
{
	return w->reader == SEVERAL || (w->reader != NONE && w->reader != process);
}

/* Whether what a trace has begun a version for is so of the last version of all, too: its reads may have been of another. */
static bool begins(const struct walk *w)
{
	switch (column(w, BEGINS)) {
	case FOUND:
		return false;
	case AFTER_READ:
		return is_read_by_another(w, column(w, PROCESS)) || column(w, READ_BEFORE) >= w->began;
	case EMPTIED:
		return w->is_used || column(w, USED_BEFORE) >= w->began;
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
	w->reader = NONE;
	w->is_used = false;
	for (int i = 0; i < w->n_segments && r == SQLITE_OK; i++) {
		struct segment *s = &w->segments[i];

		if (trace_of(s->version) != trace_of(version) && s->until > time)
			r = put_number(w, s, time);
	}
	return r;
}

static int on_first_access(struct walk *w)
{
	int64_t version = column(w, VERSION);
	int r = SQLITE_OK;

	if (w->number == 0 || begins(w))
		r = next_number(w, version, column(w, TIME));
	return r == SQLITE_OK ? set_segment(w, version) : r;
}

/* A trace may still write to a version before its last one. */
static int put_own(struct walk *w, int64_t version, int64_t time)
{
	int i = find_segment(w, version);

	if (i < w->n_segments && w->segments[i].version == version)
		return put_number(w, &w->segments[i], time);
	return write_row(w, &(struct segment){ version, 0, time, w->number });
}

/* The rule of file_write() and file_truncate() in files.h. */
static int on_write(struct walk *w)
{
	int64_t version = column(w, VERSION), time = column(w, TIME);
	bool empties = column(w, EMPTIES) && !column(w, BEGINS) && w->is_used;
	int r = SQLITE_OK;

	if (is_read_by_another(w, column(w, PROCESS)) || empties) {
		r = next_number(w, version, time);
		r = r == SQLITE_OK ? put_own(w, version, time) : r;
	}
	w->is_used = true;
	return r;
}

static int on_read(struct walk *w)
{
	int64_t process = column(w, PROCESS);

	w->reader = w->reader == NONE || w->reader == process ? process : SEVERAL;
	w->is_used = true;
	return SQLITE_OK;
}

static int on_event(struct walk *w)
{
	int r = SQLITE_OK;

	if (w->file != column(w, FILE_ID)) {
		r = end_segments(w);
		w->file = column(w, FILE_ID);
		w->number = 0;
		w->reader = NONE;
		w->is_used = false;
	}
	if (r != SQLITE_OK)
		return r;
	switch (column(w, EVENT)) {
	case FIRST_ACCESS:
		return on_first_access(w);
	case READ:
		return on_read(w);
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
	r = r == SQLITE_DONE ? end_segments(&w) : r;
	sqlite3_finalize(w.events);
	sqlite3_finalize(w.put);
	free(w.segments);
	return r;
}

int merge_versions(sqlite3 *sqlite)
{
	int r = sqlite3_exec(sqlite, rows_sql, NULL, NULL, NULL);

	if (r == SQLITE_OK)
		r = walk(sqlite);
	return r == SQLITE_OK ? sqlite3_exec(sqlite, sql_versions, NULL, NULL, NULL) : r;
}
