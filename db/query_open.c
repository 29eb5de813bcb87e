/* SPDX-License-Identifier: MIT */

/* Opens traces: which files may be read. */

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
#include "db/query_internal.h"
#include "db/query_paths.h"
#include "db/relay.h"

#define VIEWS_VERSION 1
#define BUSY_MS 10000

/* ---- files ---- */

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

void query_files_init(struct trace_files *files, const char *trace)
{
	*files = (struct trace_files){ .path = realpath(trace, NULL) };
	files->has_log = files->path ? file_exists(files->path, TRACE_FILE_LOG) : -ENOMEM;
	files->had_index = files->path && file_exists(files->path, TRACE_FILE_INDEX) != 0;
}

/* As root, SQLite gives the index to the owner of the trace. */
void query_files_made(struct trace_files *files)
{
	if (!files->path || files->had_index || !stat_file(files->path, TRACE_FILE_INDEX, &files->index) ||
		(files->index.st_uid != geteuid() && files->index.st_uid != files->trace.st_uid))
		files->index.st_ino = 0;
}

static bool is_same(const struct stat *one, const struct stat *other)
{
	return one->st_ino == other->st_ino && one->st_dev == other->st_dev;
}

void query_files_finish(struct trace_files *files)
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
char *query_uri(const struct trace_files *files, bool relayed)
{
	const unsigned char *at = (const unsigned char *)files->path;
	char *uri = at && files->has_log >= 0 ? sqlite3_mprintf("file:") : NULL;

	for (; uri && *at; at++)
		uri = strchr("%?#", *at) || *at >= 0x80 ? sqlite3_mprintf("%z%%%02X", uri, *at)
							: sqlite3_mprintf("%z%c", uri, *at);
	return uri ? sqlite3_mprintf("%z?mode=ro%s", uri,
			     files->has_log ? "&vfs=unix" : relayed ? "&vfs=" RELAY_VFS : "&immutable=1")
		   : NULL;
}

int64_t query_number(sqlite3 *sqlite, const char *sql)
{
	sqlite3_stmt *stmt = NULL;
	int64_t number = -1;

	if (sqlite3_prepare_v2(sqlite, sql, -1, &stmt, NULL) == SQLITE_OK &&
		sqlite3_step(stmt) == SQLITE_ROW)
		number = sqlite3_column_int64(stmt, 0);
	sqlite3_finalize(stmt);
	return number;
}

static int check_trace(struct query_db *db, const char *path)
{
	int64_t id, version;
	bool is_error;
	int code;

	id = query_number(db->sqlite, "PRAGMA application_id");
	version = query_number(db->sqlite, "PRAGMA user_version");
	code = sqlite3_errcode(db->sqlite);
	is_error = code != SQLITE_OK && code != SQLITE_ROW && code != SQLITE_DONE; /* the numbers may be negative, too */
	if (is_error && code != SQLITE_NOTADB && code != SQLITE_CORRUPT)
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
	if (is_error || (id == TRACE_FILE_ID && query_number(db->sqlite, QUERY_IS_TRACE) < 0))
		return query_fail(db, -EINVAL,
			"'%s' is damaged, or no trace: %s; SQLite's '.recover' may save what "
			"is left",
			path, sqlite3_errmsg(db->sqlite));
	if (id != TRACE_FILE_ID && query_number(db->sqlite, QUERY_IS_TRACE) < 0)
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
int query_harden(sqlite3 *sqlite)
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
	char *uri = query_uri(&db->files, db->relayed);
	int r = uri ? sqlite3_open_v2(uri, &db->sqlite,
			      SQLITE_OPEN_READONLY | SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX, NULL)
		    : SQLITE_NOMEM;

	sqlite3_free(uri);
	if (r == SQLITE_OK)
		r = query_harden(db->sqlite);
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

int query_check_same(struct query_db *db, const char *path, const struct trace_files *files)
{
	struct stat now;

	if (stat(files->path, &now) < 0 || !is_same(&now, &files->trace) ||
		now.st_uid != files->trace.st_uid)
		return query_fail(db, -ESTALE,
			"'%s' was replaced by another file while it was opened%s; try again", path, "");
	return check_beside(db, path, files);
}

int query_check_files(struct query_db *db, const char *path, struct trace_files *files,
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

	query_files_init(&db->files, path);
	r = query_check_files(db, path, &db->files, how);
	if (r == 0)
		r = open_sqlite(db, path);
	if (r == 0)
		r = check_trace(db, path);
	query_files_made(&db->files);
	return r < 0 ? r : query_check_same(db, path, &db->files);
}

static int64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * INT64_C(1000) + now.tv_nsec / 1000000;
}

/* The writer has not locked it yet. */
static bool is_just_made(const struct query_db *db)
{
	return db->files.trace.st_size == 0 && time(NULL) - db->files.trace.st_mtime <= 1;
}

/* Whether the writer has not made its tables yet, or removed its log while the trace was opened.  SQLite waits for some locks only,
 * so the caller retries. */
static bool may_be_in_between(const struct query_db *db, int r)
{
	return r == -EBUSY || (r == -EINVAL && (query_is_written(db) || is_just_made(db))) ||
		(r < 0 && db->files.has_log == 1 && file_exists(db->files.path, TRACE_FILE_LOG) == 0);
}

static void close_once(struct query_db *db)
{
	sqlite3_close(db->sqlite);
	db->sqlite = NULL;
	query_files_finish(&db->files);
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

static void forget_facts(struct query_db *db)
{
	while (db->facts) {
		struct fact *next = db->facts->next;

		free(db->facts);
		db->facts = next;
	}
}

int query_read_facts(struct query_db *db)
{
	sqlite3_stmt *stmt = NULL;
	int r;

	forget_facts(db);
	r = sqlite3_prepare_v2(db->sqlite,
		"SELECT key, value FROM trace WHERE key IS NOT NULL AND value IS NOT NULL", -1, &stmt, NULL);

	while (r == SQLITE_OK && (r = sqlite3_step(stmt)) == SQLITE_ROW)
		r = add_fact(db, (const char *)sqlite3_column_text(stmt, 0), stmt);
	sqlite3_finalize(stmt);
	return r == SQLITE_DONE ? 0 : r == SQLITE_NOMEM ? query_fail(db, -ENOMEM, "%s%s", "out of memory", "")
							: query_fail_sqlite(db, r);
}

static int read_trace(struct query_db *db, const char *path)
{
	int r = begin(db);

	if (r == 0)
		r = query_read_facts(db);
	return r == 0 || r == -ENOMEM ? r : query_fail(db, r, "cannot read '%s': %s", path, sqlite3_errmsg(db->sqlite));
}

int query_open_trace(struct query_db *db, const char *path, unsigned how)
{
	int r = open_trace(db, path, how);

	if (r == 0)
		r = read_trace(db, path);
	return r == 0 && how & QUERY_ENDED ? query_check_ended(db) : r;
}

static int open_together(struct query_db *db, const char *const *paths, int n, unsigned how)
{
	int r = query_open_several(db, paths, n, how);

	if (r == 0)
		r = begin(db);
	return r == 0 ? query_read_facts(db) : r;
}

/* SQLite does not count its memory, for which it takes a lock at each allocation.  Without effect once SQLite was used. */
static struct query_db *create(void)
{
	sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
	return calloc(1, sizeof(struct query_db));
}

int query_open(const char *const *given, int n, unsigned how, struct query_db **ret_db)
{
	struct query_db *db = *ret_db = create();
	struct query_paths paths;
	int r;

	if (!db)
		return -ENOMEM;
	r = query_paths_find(db, given, n, NULL, &paths);
	if (r == 0)
		r = paths.n == 1 ? query_open_trace(db, paths.path[0], how) : open_together(db, paths.path, paths.n, how);
	query_paths_finish(&paths);
	return r;
}

int query_merge(const char *const *given, int n, unsigned how, const struct query_into *into, struct query_db **ret_db)
{
	struct query_db *db = *ret_db = create();
	struct query_paths paths;
	int r;

	if (!db)
		return -ENOMEM;
	db->into = into;
	r = query_paths_find(db, given, n, into->old, &paths);
	if (r == 0)
		r = open_together(db, paths.path, paths.n, how);
	query_paths_finish(&paths);
	db->into = NULL;
	return r;
}

void query_close(struct query_db *db)
{
	if (!db)
		return;
	forget_facts(db);
	sqlite3_close(db->sqlite);
	query_files_finish(&db->files);
	free(db);
}
