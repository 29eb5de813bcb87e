/* SPDX-License-Identifier: MIT */

/* Opens traces: which files may be read, and several traces as one. */

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/rights.h"
#include "base/trace_file.h"
#include "db/json_valid.h"
#include "db/merge.h"
#include "db/query_internal.h"

#define VIEWS_VERSION 1
#define BUSY_MS 10000

/* ---- one trace ---- */

static char *beside(const char *path, enum trace_file file)
{
	return sqlite3_mprintf("%s%s", path, trace_file_suffix[file]);
}

static bool stat_file(const char *path, enum trace_file file, struct stat *ret)
{
	char *name = beside(path, file);
	bool there = name && lstat(name, ret) == 0;

	sqlite3_free(name);
	return there;
}

/* 1, 0, or -ENOMEM: not known. */
static int file_exists(const char *path, enum trace_file file)
{
	char *name = beside(path, file);
	struct stat st;
	int r = !name ? -ENOMEM : stat(name, &st) == 0;

	sqlite3_free(name);
	return r;
}

/* Call it before the trace is opened. */
static void files_init(struct trace_files *files, const char *trace)
{
	*files = (struct trace_files){ .path = realpath(trace, NULL) };
	files->has_log = files->path ? file_exists(files->path, TRACE_FILE_LOG) : -ENOMEM;
	files->had_index = files->path && file_exists(files->path, TRACE_FILE_INDEX) != 0;
}

/* Call it after the first read.  As root, SQLite gives the index to the owner of the trace. */
static void files_made(struct trace_files *files)
{
	if (!files->path || files->had_index || !stat_file(files->path, TRACE_FILE_INDEX, &files->index) ||
		(files->index.st_uid != geteuid() && files->index.st_uid != files->trace.st_uid))
		files->index.st_ino = 0;
}

static bool is_same(const struct stat *one, const struct stat *other)
{
	return one->st_ino == other->st_ino && one->st_dev == other->st_dev;
}

static void files_finish(struct trace_files *files)
{
	char *name = files->index.st_ino ? beside(files->path, TRACE_FILE_INDEX) : NULL;
	struct stat st;

	if (name && stat(name, &st) == 0 && is_same(&st, &files->index))
		unlink(name);
	sqlite3_free(name);
	free(files->path);
}

/* A trace without a log is opened as immutable; otherwise SQLite would create files beside it, for which it may have no
 * permission.  If there is a log, it must be read: it is the newest part of the trace. */
static char *uri_of(const struct trace_files *files)
{
	const unsigned char *at = (const unsigned char *)files->path;
	char *uri = at && files->has_log >= 0 ? sqlite3_mprintf("file:") : NULL;

	for (; uri && *at; at++)
		uri = strchr("%?#", *at) || *at >= 0x80 ? sqlite3_mprintf("%z%%%02X", uri, *at)
							: sqlite3_mprintf("%z%c", uri, *at);
	return uri ? sqlite3_mprintf("%z?mode=ro%s", uri, files->has_log ? "" : "&immutable=1")
		   : NULL;
}

static int64_t pragma(sqlite3 *sqlite, const char *sql)
{
	sqlite3_stmt *stmt = NULL;
	int64_t number = -1;

	if (sqlite3_prepare_v2(sqlite, sql, -1, &stmt, NULL) == SQLITE_OK &&
		sqlite3_step(stmt) == SQLITE_ROW)
		number = sqlite3_column_int64(stmt, 0);
	sqlite3_finalize(stmt);
	return number;
}

/* Views that every trace has. */
#define IS_TRACE                                                                               \
	"SELECT (SELECT count(*) FROM (SELECT 1 FROM trace LIMIT 1)) + (SELECT count(*) FROM " \
	"(SELECT 1 FROM process LIMIT 1)) + (SELECT count(*) FROM (SELECT 1 FROM handle LIMIT 1))"

static int check_trace(struct query_db *db, const char *path)
{
	int64_t id, version;
	int code;

	id = pragma(db->sqlite, "PRAGMA application_id");
	version = pragma(db->sqlite, "PRAGMA user_version");
	code = sqlite3_errcode(db->sqlite);
	if ((id < 0 || version < 0) && code != SQLITE_NOTADB && code != SQLITE_CORRUPT)
		return query_fail(db, query_fail_sqlite(db, code),
			"cannot read '%s': %s; it still has its log beside it, "
			"which takes the right to write there: copy all files of this name to a "
			"place of your own",
			path, sqlite3_errmsg(db->sqlite));
	if (id == TRACE_FILE_ID && version > VIEWS_VERSION)
		return query_fail(db, -EPROTO,
			"'%s' is a trace of a newer format%s; use the programs of the "
			"ftrac that wrote it",
			path, "");
	if (id < 0 || (id == TRACE_FILE_ID && pragma(db->sqlite, IS_TRACE) < 0))
		return query_fail(db, -EINVAL,
			"'%s' is damaged, or no trace: %s; SQLite's '.recover' may save what "
			"is left",
			path, sqlite3_errmsg(db->sqlite));
	if (id != TRACE_FILE_ID && pragma(db->sqlite, IS_TRACE) < 0)
		return query_fail(db, -EINVAL,
			"'%s' is no trace%s; give the file that ftrac or procmon wrote, "
			"trace.db unless --db named another file",
			path, "");
	return 0;
}

/*
 * The schema in the file is untrusted: views may use only functions and virtual tables without side effects, triggers are
 * off, and nothing can be written.  The limits are above the needs of ftrac's own views and queries.
 */
static int harden(sqlite3 *sqlite)
{
	static const struct {
		int what, value;
	} limits[] = { { SQLITE_LIMIT_LENGTH, 256 << 20 }, { SQLITE_LIMIT_SQL_LENGTH, 1 << 20 },
		{ SQLITE_LIMIT_COLUMN, 200 }, { SQLITE_LIMIT_EXPR_DEPTH, 200 },
		{ SQLITE_LIMIT_COMPOUND_SELECT, 50 }, { SQLITE_LIMIT_FUNCTION_ARG, 100 },
		{ SQLITE_LIMIT_ATTACHED, 1 }, { SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 4096 },
		{ SQLITE_LIMIT_TRIGGER_DEPTH, 0 }, { SQLITE_LIMIT_WORKER_THREADS, 0 } };
	static const char *modules[] = { "json_each", "json_tree", NULL };

	static const struct {
		int what, value;
	} settings[] = { { SQLITE_DBCONFIG_DEFENSIVE, 1 }, { SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0 },
		{ SQLITE_DBCONFIG_ENABLE_TRIGGER, 0 }, { SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0 } };
	int r = sqlite3_drop_modules(sqlite, modules);

	sqlite3_busy_timeout(sqlite, BUSY_MS);
	if (r == SQLITE_OK)
		r = json_valid_create(sqlite);
	for (size_t i = 0; i < sizeof(settings) / sizeof(settings[0]) && r == SQLITE_OK; i++)
		r = sqlite3_db_config(sqlite, settings[i].what, settings[i].value, NULL);
	for (size_t i = 0; i < sizeof(limits) / sizeof(limits[0]); i++)
		sqlite3_limit(sqlite, limits[i].what, limits[i].value);
	/* Finds some damage earlier; an error here does no harm. */
	sqlite3_exec(sqlite, "PRAGMA cell_size_check = ON; PRAGMA mmap_size = 0", NULL, NULL, NULL);
	return r;
}

static int open_sqlite(struct query_db *db, const char *path)
{
	char *uri = uri_of(&db->files);
	int r = uri ? sqlite3_open_v2(uri, &db->sqlite,
			      SQLITE_OPEN_READONLY | SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX, NULL)
		    : SQLITE_NOMEM;

	sqlite3_free(uri);
	if (r == SQLITE_OK)
		r = harden(db->sqlite);
	if (r == SQLITE_OK)
		return 0;
	r = query_fail_sqlite(db, r);
	return query_fail(db, r, "cannot open '%s': %s; see that it may be read", path,
		db->sqlite ? sqlite3_errmsg(db->sqlite) : "out of memory");
}

/* A log is a part of the trace, so it must have the same owner. */
static int check_beside(struct query_db *db, const char *path, const struct trace_files *files)
{
	struct stat beside;

	for (int i = TRACE_FILE_LOG; files->path && i < TRACE_FILE_MAX; i++)
		if (stat_file(files->path, i, &beside) &&
			beside.st_uid != files->trace.st_uid && !is_same(&beside, &files->index))
			return query_fail(db, -EPERM,
				"'%s%s' belongs to another user than the trace; copy the trace alone "
				"to a place of your own",
				path, trace_file_suffix[i]);
	return 0;
}

static int check_owner(struct query_db *db, const char *path, const struct trace_files *files,
	unsigned how)
{
	if (!(how & QUERY_FOREIGN) && !rights_is_us(files->trace.st_uid))
		return query_fail(db, -EPERM,
			"'%s' belongs to another user%s, so its contents are not trusted; "
			"--foreign reads it all the same",
			path, "");
	return check_beside(db, path, files);
}

/* SQLite opens the name again: checks that it still leads to the file that was checked. */
static int check_same(struct query_db *db, const char *path, const struct trace_files *files)
{
	struct stat now;

	if (stat(files->path, &now) < 0 || !is_same(&now, &files->trace) ||
		now.st_uid != files->trace.st_uid)
		return query_fail(db, -ESTALE,
			"'%s' was replaced by another file while it was opened%s; try again", path, "");
	return check_beside(db, path, files);
}

/* Checks before the trace is opened. */
static int check_files(struct query_db *db, const char *path, struct trace_files *files,
	unsigned how)
{
	if (stat(path, &files->trace) < 0)
		return query_fail(db, -errno,
			"cannot open '%s': %s; give the trace that ftrac or procmon wrote", path,
			strerror(errno));
	if (!S_ISREG(files->trace.st_mode))
		return query_fail(db, -EINVAL, "cannot open '%s': it is no file%s; give the trace itself",
			path, "");
	if (access(path, R_OK) < 0)
		return query_fail(db, -errno,
			"cannot open '%s': %s; it belongs to the user that made the trace", path,
			strerror(errno));
	return check_owner(db, path, files, how);
}

static int open_once(struct query_db *db, const char *path, unsigned how)
{
	int r;

	files_init(&db->files, path);
	r = check_files(db, path, &db->files, how);
	if (r == 0)
		r = open_sqlite(db, path);
	if (r == 0)
		r = check_trace(db, path);
	files_made(&db->files);
	return r < 0 ? r : check_same(db, path, &db->files);
}

static int64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * INT64_C(1000) + now.tv_nsec / 1000000;
}

/* Whether the writer removed its log while the trace was opened.  SQLite waits for some locks only, so the caller
 * retries. */
static bool may_be_in_between(const struct query_db *db, int r)
{
	return r == -EBUSY || (r < 0 && db->files.has_log == 1 && file_exists(db->files.path, TRACE_FILE_LOG) == 0);
}

static void close_once(struct query_db *db)
{
	sqlite3_close(db->sqlite);
	db->sqlite = NULL;
	files_finish(&db->files);
	db->files = (struct trace_files){ 0 };
}

static int open_trace(struct query_db *db, const char *path, unsigned how)
{
	const struct timespec pause = { .tv_nsec = 20000000 };
	int64_t until_ms = now_ms() + BUSY_MS;
	int r = open_once(db, path, how);

	while (may_be_in_between(db, r) && now_ms() < until_ms) {
		close_once(db);
		nanosleep(&pause, NULL);
		r = open_once(db, path, how);
	}
	return r;
}

#define HAS_STEPS "SELECT 1 FROM sqlite_schema WHERE name = 'process_step' OR NOT EXISTS (SELECT 1 FROM sqlite_schema WHERE name = 'process')"
/* Of a trace of an earlier release: before this view of ours its own one is hidden. */
#define STEPS_OF_OLD "CREATE TEMP VIEW process AS SELECT *, coalesce(xform, program) AS step, NULL AS task, NULL AS part, " \
	"program AS label FROM main.process"

static int count_row(void *arg, int n, char **values, char **names)
{
	(void)n, (void)values, (void)names;
	*(bool *)arg = true;
	return 0;
}

/* Begins the snapshot. */
static int begin(struct query_db *db)
{
	bool has_steps = false;
	int r = sqlite3_exec(db->sqlite,
		"PRAGMA temp_store = FILE; PRAGMA cache_size = -65536; BEGIN;"
		"SELECT count(*) FROM sqlite_schema",
		NULL, NULL, NULL);

	if (r == SQLITE_OK)
		r = sqlite3_exec(db->sqlite, HAS_STEPS, count_row, &has_steps, NULL);
	if (r == SQLITE_OK && !has_steps)
		r = sqlite3_exec(db->sqlite, STEPS_OF_OLD, NULL, NULL, NULL);
	return r == SQLITE_OK ? 0 : query_fail_sqlite(db, r);
}

/* ---- several ---- */

/* Views are stable between versions of ftrac; tables are not, and merging reads the tables. */
#define HAS_OUR_TABLES "SELECT count(*) = 8 FROM sqlite_schema WHERE name IN ('moved', 'spent', 'op_times', 'rules', 'mpi_calls', 'programs') " \
	"OR name = 'files' AND sql LIKE '%birth INTEGER%' OR name = 'handles' AND sql LIKE '%open_op INTEGER%'"

struct start {
	const char *path;
	int64_t start_ns;
};

/* Opens each trace alone first, for a precise error message. */
static int read_start(struct query_db *db, const char *path, unsigned how, struct start *ret_start)
{
	struct query_db *one;
	int r = query_open(&path, 1, how, &one);

	*ret_start = (struct start){ path, r == 0 ? query_fact(one, "start_ns", INT64_MAX) : 0 };
	if (r == 0 && pragma(one->sqlite, HAS_OUR_TABLES) != 1)
		r = query_fail(one, -EPROTO,
			"cannot merge '%s' with other traces: its tables are not those "
			"of this version of ftrac%s; read it alone",
			path, "");
	if (r < 0)
		query_fail(db, r, "%s%s", query_error(one), "");
	query_close(one);
	return r;
}

static int compare_starts(const void *x, const void *y)
{
	const struct start *a = x, *b = y;

	if (a->start_ns != b->start_ns)
		return a->start_ns < b->start_ns ? -1 : 1;
	return strcmp(a->path, b->path);
}

/* In the order of their start. */
static int read_starts(struct query_db *db, const char *const *paths, int n, unsigned how, struct start *starts)
{
	int r = starts ? 0 : query_fail(db, -ENOMEM, "%s%s", "out of memory", "");

	for (int i = 0; i < n && r == 0; i++)
		r = read_start(db, paths[i], how, &starts[i]);
	if (r == 0)
		qsort(starts, n, sizeof(*starts), compare_starts);
	return r;
}

static int merge_files(struct query_db *db, struct merge *merge, const char *path,
	const struct trace_files *files, bool with_ops)
{
	char *uri = uri_of(files);
	int r = uri ? merge_add(merge, uri, with_ops) : SQLITE_NOMEM;

	sqlite3_free(uri);
	if (r == SQLITE_OK)
		return 0;
	r = query_fail_sqlite(db, r);
	return query_fail(db, r,
		r == -ENOSPC || r == -EIO ? "cannot add '%s' to the other traces: %s; set "
					    "$TMPDIR to a place with more space"
					  : "cannot add '%s' to the other traces: %s",
		path, sqlite3_errmsg(db->sqlite));
}

/* Checks again that it is the file that was opened alone. */
static int add_trace(struct query_db *db, struct merge *merge, const char *path, unsigned how)
{
	struct trace_files files;
	int r;

	files_init(&files, path);
	r = check_files(db, path, &files, how);
	if (r == 0)
		r = merge_files(db, merge, path, &files, how & QUERY_OPS);
	files_made(&files);
	if (r == 0)
		r = check_same(db, path, &files);
	files_finish(&files);
	return r;
}

static int put_together(struct query_db *db, const struct start *starts, int n, unsigned how)
{
	struct merge *merge = NULL;
	int r = sqlite3_open_v2("", &db->sqlite,
		SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_URI,
		NULL);

	if (r == SQLITE_OK)
		r = harden(db->sqlite);
	if (r == SQLITE_OK)
		r = merge_begin(db->sqlite, n ? starts[0].start_ns : 0, &merge);
	r = r == SQLITE_OK ? 0 : query_fail_sqlite(db, r);
	for (int i = 0; i < n && r == 0; i++)
		r = add_trace(db, merge, starts[i].path, how);
	if (r == 0 && (r = merge_end(merge)) != SQLITE_OK)
		r = query_fail_sqlite(db, r);
	merge_destroy(merge);
	return r;
}

static int open_traces(struct query_db *db, const char *const *paths, int n, unsigned how)
{
	cleanup_free struct start *starts = malloc((size_t)(n + 1) * sizeof(*starts));
	int r = read_starts(db, paths, n, how, starts);

	if (r == 0)
		r = put_together(db, starts, n, how);
	return r;
}

static int add_fact(struct query_db *db, const char *key, sqlite3_stmt *stmt)
{
	bool is_number = sqlite3_column_type(stmt, 1) == SQLITE_INTEGER;
	int64_t number = sqlite3_column_int64(stmt, 1);
	const char *text = (const char *)sqlite3_column_text(stmt, 1);
	size_t key_size = key ? strlen(key) + 1 : 0, size = text ? strlen(text) + 1 : 0;
	struct fact *fact = key && text ? malloc(sizeof(*fact) + key_size + size) : NULL;

	if (!fact)
		return SQLITE_NOMEM;
	*fact = (struct fact){ .next = db->facts, .is_number = is_number, .number = number };
	memcpy(fact->bytes, key, key_size);
	fact->text = memcpy(fact->bytes + key_size, text, size);
	db->facts = fact;
	return SQLITE_OK;
}

static int read_facts(struct query_db *db)
{
	sqlite3_stmt *stmt = NULL;
	int r = sqlite3_prepare_v2(db->sqlite,
		"SELECT key, value FROM trace WHERE key IS NOT NULL AND value IS NOT NULL", -1, &stmt, NULL);

	while (r == SQLITE_OK && (r = sqlite3_step(stmt)) == SQLITE_ROW)
		r = add_fact(db, (const char *)sqlite3_column_text(stmt, 0), stmt);
	sqlite3_finalize(stmt);
	return r == SQLITE_DONE ? 0 : r == SQLITE_NOMEM ? query_fail(db, -ENOMEM, "%s%s", "out of memory", "")
							: query_fail_sqlite(db, r);
}

int query_open(const char *const *paths, int n, unsigned how, struct query_db **ret_db)
{
	struct query_db *db = *ret_db = calloc(1, sizeof(*db));
	int r;

	if (!db)
		return -ENOMEM;
	r = n == 1 ? open_trace(db, paths[0], how) : open_traces(db, paths, n, how);
	if (r == 0)
		r = begin(db);
	if (r == 0)
		r = read_facts(db);
	return r == 0 && n == 1 && how & QUERY_ENDED ? query_check_ended(db) : r;
}

void query_close(struct query_db *db)
{
	if (!db)
		return;
	while (db->facts) {
		struct fact *next = db->facts->next;

		free(db->facts);
		db->facts = next;
	}
	sqlite3_close(db->sqlite);
	files_finish(&db->files);
	free(db);
}
