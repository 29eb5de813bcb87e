/* SPDX-License-Identifier: MIT */

/* Opens several traces as one. */

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "db/into.h"
#include "db/merge.h"
#include "db/merge_clocks.h"
#include "db/query_internal.h"
#include "db/relay.h"

/* ---- each alone: the order, and precise error messages ---- */

/* Views are stable between versions of ftrac; tables are not, and merging reads the tables. */
#define HAS_OUR_TABLES "SELECT count(*) = 19 FROM sqlite_schema WHERE name IN ('moved', 'spent', 'op_times', 'rules', 'mpi_calls', 'call_sums', " \
	"'programs', 'fresh_handles', 'parts', 'doubts', 'metrics', 'metric_grids', 'clocks', 'hosts', 'starts', 'directories', 'moved_otherwise') " \
	"OR name = 'files' AND sql LIKE '%birth INTEGER%' " \
	"OR name = 'mounts' AND sql LIKE '%fsid TEXT%'"

struct start {
	const char *path;
	int64_t start_ns; /* with the shift */
	int64_t shift_ns; /* to the first one of all clocks */
	int schema;	  /* the same number: the same schema */
	struct stat file; /* when it was read alone */
};

/* The trace that is read now. */
struct alone {
	struct query_db *db;
	struct relay relay;
	sqlite3_stmt *is_trace;
	int schema; /* counted */
};

static void alone_close(struct alone *alone)
{
	sqlite3_finalize(alone->is_trace);
	relay_finish(&alone->relay);
	query_close(alone->db);
	*alone = (struct alone){ .schema = alone->schema + 1 };
}

static int alone_check(const struct alone *alone, const char *path)
{
	if (query_number(alone->db->sqlite, HAS_OUR_TABLES) == 1)
		return 0;
	return query_fail(alone->db, -EPROTO,
		"cannot merge '%s' with other traces: its tables are not those "
		"of this version of ftrac%s; read it alone",
		path, "");
}

/* Ends the snapshot: without a log there is nothing that could change. */
static int alone_open(struct alone *alone, const char *path, unsigned how)
{
	int r;

	alone_close(alone);
	alone->db = calloc(1, sizeof(*alone->db));
	if (!alone->db)
		return -ENOMEM;
	alone->db->relayed = true;
	r = query_open_trace(alone->db, path, how);
	if (r == 0)
		r = alone_check(alone, path);
	if (r == 0 && sqlite3_exec(alone->db->sqlite, "COMMIT", NULL, NULL, NULL) == SQLITE_OK)
		relay_init(&alone->relay, alone->db->sqlite, "main");
	return r;
}

/* The views are those of the one before. */
static bool is_trace(struct alone *alone)
{
	static const char sql[] = "SELECT EXISTS (SELECT 1 FROM processes) + EXISTS (SELECT 1 FROM images) + EXISTS (SELECT 1 FROM handles)";
	bool is;

	if (!alone->is_trace && sqlite3_prepare_v2(alone->db->sqlite, sql, -1, &alone->is_trace, NULL) != SQLITE_OK)
		return false;
	is = sqlite3_step(alone->is_trace) == SQLITE_ROW;
	sqlite3_reset(alone->is_trace);
	return is;
}

/* Whether it can be read like the one before, and nothing is wrong with it. */
static bool alone_switch(struct alone *alone, const char *path, unsigned how)
{
	struct query_db *db = alone->db;

	if (!alone->relay.sqlite || db->files.has_log != 0)
		return false;
	query_files_finish(&db->files);
	query_files_init(&db->files, path);
	return db->files.has_log == 0 && query_check_files(db, path, &db->files, how) == 0 &&
		relay_switch(&alone->relay, db->files.path) && is_trace(alone) && query_read_facts(db) == 0 &&
		query_check_same(db, path, &db->files) == 0 && (!(how & QUERY_ENDED) || query_check_ended(db) == 0);
}

/* Opens the next one, in place of the last one. */
static int alone_next(struct query_db *db, struct alone *alone, const char *path, unsigned how)
{
	int r = alone_switch(alone, path, how) ? 0 : alone_open(alone, path, how);

	return r < 0 ? query_fail(db, r, "%s%s", query_error(alone->db), "") : r;
}

static int fail_at_clocks(struct query_db *db, int code)
{
	if (code == SQLITE_OK)
		return 0;
	return query_fail(db, code == SQLITE_NOMEM ? -ENOMEM : code == SQLITE_FULL ? -ENOSPC : -EIO, "cannot compare the clocks of the traces: %s%s",
		sqlite3_errstr(code), code == SQLITE_FULL ? "; set $TMPDIR to a place with more space" : "");
}

/* What they say of their clocks and, if there are several, of files. */
static int read_clocks(struct query_db *db, struct merge_clocks *clocks, struct alone *alone, const char *const *paths, int n, unsigned how)
{
	int r = fail_at_clocks(db, merge_clocks_sort(clocks));

	if (r < 0 || !merge_clocks_are_several(clocks))
		return r;
	for (int i = 0; i < n && r == 0; i++) {
		r = alone_next(db, alone, paths[i], how);
		if (r == 0)
			r = fail_at_clocks(db, merge_clocks_add_files(clocks, i, alone->db->sqlite));
	}
	return r == 0 ? fail_at_clocks(db, merge_clocks_solve(clocks)) : r;
}

static int read_start(struct query_db *db, struct alone *alone, const char *path, unsigned how, struct merge_clocks *clocks, int n,
	struct start *ret_start)
{
	int r = alone_next(db, alone, path, how);

	*ret_start = (struct start){ .path = path, .schema = alone->schema };
	if (r == 0) {
		ret_start->start_ns = query_fact(alone->db, "start_ns", INT64_MAX);
		ret_start->file = alone->db->files.trace;
	}
	return r == 0 ? fail_at_clocks(db, merge_clocks_add(clocks, n, alone->db->sqlite)) : r;
}

static int compare_starts(const void *x, const void *y)
{
	const struct start *a = x, *b = y;

	if (a->start_ns != b->start_ns)
		return a->start_ns < b->start_ns ? -1 : 1;
	return strcmp(a->path, b->path);
}

/* In the order of their start. */
static int read_starts(struct query_db *db, const char *const *paths, int n, unsigned how, struct merge_clocks *clocks,
	struct start *starts)
{
	struct alone alone = { 0 };
	int r = starts && clocks ? 0 : query_fail(db, -ENOMEM, "%s%s", "out of memory", "");

	for (int i = 0; i < n && r == 0; i++)
		r = read_start(db, &alone, paths[i], how, clocks, i, &starts[i]);
	if (r == 0 && n)
		r = read_clocks(db, clocks, &alone, paths, n, how);
	alone_close(&alone);
	for (int i = 0; i < n && r == 0; i++) {
		starts[i].shift_ns = merge_clocks_shift(clocks, i);
		if (__builtin_add_overflow(starts[i].start_ns, starts[i].shift_ns, &starts[i].start_ns))
			starts[i].shift_ns = 0;
	}
	if (r == 0)
		qsort(starts, n, sizeof(*starts), compare_starts);
	return r;
}

/* ---- together ---- */

/* The schema of that number is known of the trace. */
static int known_schema(const struct start *start, const struct trace_files *files)
{
	const struct stat *then = &start->file, *now = &files->trace;
	bool is_unchanged = then->st_ino == now->st_ino && then->st_dev == now->st_dev && then->st_size == now->st_size &&
		then->st_mtim.tv_sec == now->st_mtim.tv_sec && then->st_mtim.tv_nsec == now->st_mtim.tv_nsec &&
		then->st_ctim.tv_sec == now->st_ctim.tv_sec && then->st_ctim.tv_nsec == now->st_ctim.tv_nsec;

	return is_unchanged && files->has_log == 0 ? start->schema : 0;
}

/* is_alike: it has the schema of the one before. */
static int merge_files(struct merge *merge, const struct trace_files *files, bool is_alike, bool with_ops, int64_t shift_ns)
{
	char *uri;
	int r;

	if (files->has_log == 0 && merge_switch(merge, files->path, is_alike))
		return merge_add(merge, with_ops, shift_ns);
	uri = query_uri(files, true);
	r = uri ? merge_attach(merge, uri) : SQLITE_NOMEM;
	sqlite3_free(uri);
	if (r == SQLITE_OK)
		r = merge_add(merge, with_ops, shift_ns);
	return r == SQLITE_OK && files->has_log ? merge_detach(merge) : r;
}

/* Whether it was for lack of space: of the place of the result, or of that of temporary files. */
static const char *advice(const struct query_db *db, int error)
{
	if (error != -ENOSPC && error != -EIO)
		return "";
	return db->into ? "; take a place with more space for the result, or for temporary files by $TMPDIR"
			: "; set $TMPDIR to a place with more space";
}

static int fail_to_add(struct query_db *db, const char *path, int code)
{
	int r = query_fail_sqlite(db, code);
	char why[256];

	snprintf(why, sizeof(why), "%s%s", sqlite3_errmsg(db->sqlite), advice(db, r));
	return query_fail(db, r, "cannot add '%s' to the other traces: %s", path, why);
}

/* Checks again that it is the file that was opened alone.  schema: the number of the one before; 0: it is not known. */
static int add_trace(struct query_db *db, struct merge *merge, const struct start *start, unsigned how, int *schema)
{
	struct trace_files files;
	int former = *schema, r, code;

	query_files_init(&files, start->path);
	r = query_check_files(db, start->path, &files, how);
	*schema = r == 0 ? known_schema(start, &files) : 0;
	if (r == 0 && (code = merge_files(merge, &files, *schema && *schema == former, how & QUERY_OPS, start->shift_ns)) != SQLITE_OK)
		r = fail_to_add(db, start->path, code);
	query_files_made(&files);
	if (r == 0)
		r = query_check_same(db, start->path, &files);
	query_files_finish(&files);
	return r;
}

static int fail_to_end(struct query_db *db, int code)
{
	int r = query_fail_sqlite(db, code);

	return query_fail(db, r, "cannot put the traces together: %s%s", sqlite3_errmsg(db->sqlite), advice(db, r));
}

/* What many statements and rows need at a time comes from one block of memory, beside what SQLite has for few. */
static int add_memory(sqlite3 *sqlite)
{
	return sqlite3_db_config(sqlite, SQLITE_DBCONFIG_LOOKASIDE, NULL, 1200, 2000);
}

static int open_together(struct query_db *db)
{
	return db->into ? into_open(db->into->fd, &db->sqlite)
			: sqlite3_open_v2("", &db->sqlite,
				  SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_URI, NULL);
}

static int end_together(struct query_db *db, struct merge *merge)
{
	int r = merge_end(merge);

	return r == SQLITE_OK && db->into ? into_finish(db->sqlite) : r;
}

static int put_together(struct query_db *db, const struct merge_clocks *clocks, const struct start *starts, int n, unsigned how,
	const struct same *same)
{
	struct merge *merge = NULL;
	int schema = 0, code, r = open_together(db);

	if (r == SQLITE_OK)
		r = add_memory(db->sqlite);
	if (r == SQLITE_OK)
		r = merge_begin(db->sqlite, n ? starts[0].start_ns : 0, same, &merge);
	if (r == SQLITE_OK && n)
		r = merge_clocks_store(clocks, db->sqlite);
	if (r == SQLITE_OK)
		r = query_harden(db->sqlite); /* now: a database that is defended cannot be without a journal */
	r = r == SQLITE_OK ? 0 : fail_to_end(db, r);
	for (int i = 0; i < n && r == 0; i++)
		r = add_trace(db, merge, &starts[i], how, &schema);
	if (r == 0 && (code = end_together(db, merge)) != SQLITE_OK)
		r = fail_to_end(db, code);
	merge_destroy(merge);
	return r;
}

const char *query_same_wrong(const char *text)
{
	return same_wrong(text);
}

int query_open_several(struct query_db *db, const char *const *paths, int n, unsigned how)
{
	cleanup_free struct start *starts = malloc((size_t)(n + 1) * sizeof(*starts));
	const struct same same = { db->into ? db->into->same : NULL, db->into ? db->into->n_same : 0 };
	struct merge_clocks *clocks = merge_clocks_create(&same);
	int code = relay_register();
	int r = code == SQLITE_OK ? read_starts(db, paths, n, how, clocks, starts) : query_fail_sqlite(db, code);

	if (r == 0)
		r = put_together(db, clocks, starts, n, how, &same);
	merge_clocks_destroy(clocks);
	return r;
}
