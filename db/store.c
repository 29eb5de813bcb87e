/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fd_path.h"
#include "base/trace_file.h"
#include "base/watched.h"
#include "db/bus.h"
#include "db/event.h"
#include "db/layers.h"
#include "db/figures.h"
#include "db/spill.h"
#include "db/sql.h"
#include "db/store_internal.h"

#define STRING(x) STRING_OF(x)
#define STRING_OF(x) #x
#define IMAGE_END_T 5 /* the column */

#define TEXT_KEY -1 /* rows are rarely written twice, or are not buffered */

static const struct {
	const char *table;
	int columns;
	int key; /* the number of key columns; 0: no row is written twice, or 'added' */
	bool is_fresh; /* sum.sql takes the rows */
} tables[] = {
	[PUT_META] = { "meta", 2, TEXT_KEY, false },
	[PUT_CLOCK] = { "clocks", 6, 2, false },
	[PUT_FLAG_TEXT] = { "flag_text", 2, 1, false },
	[PUT_DIRECTORY] = { "directories", 2, 1, false },
	[PUT_PATH_NAME] = { "path_names", 3, 1, false },
	[PUT_MOUNT] = { "mounts", 6, 1, false },
	[PUT_KIND] = { "kinds", 4, 1, false },
	[PUT_FILE] = { "files", 8, 1, false },
	[PUT_NAME] = { "names", 4, 3, false },
	[PUT_PROCESS] = { "processes", 13, 1, false },
	[PUT_IMAGE] = { "images", 14, 1, false },
	[PUT_ENVIRON] = { "environs", 3, TEXT_KEY, false },
	[PUT_THREAD] = { "threads", 3, 1, false },
	[PUT_OP_HANDLE] = { "ops_handle", 9, 0, false },
	[PUT_OP_NAME] = { "ops_name", 8, 0, false },
	[PUT_SECOND_OPERAND] = { "second_operands", 3, 1, false },
	[PUT_PIECES] = { "pieces", 2, 1, false },
	[PUT_RANGE] = { "ranges", 4, 1, false },
	[PUT_WAY] = { "ways", 10, 1, false },
	[PUT_HANDLE] = { "handles", 16, 1, false },
	[PUT_MOVED] = { "moved", 17, 1, false },
	[PUT_MOVED_OTHERWISE] = { "moved_otherwise", 8, 1, false },
	[PUT_USE] = { "uses", 14, 0, false },
	[PUT_TOUCH] = { "touches", 13, 1, true },
	[PUT_SOCKET] = { "sockets", 9, 0, false },
	[PUT_DEVICE] = { "devices", 10, 0, false },
	[PUT_CALLER] = { "callers", 5, 1, false },
	[PUT_CALL] = { "calls", 13, 1, false },
	[PUT_MPI_CALL] = { "mpi_calls", 6, 1, false },
	[PUT_CALL_SUM] = { "call_sums", 5, 1, false },
	[PUT_MISSING_NAME] = { "missing_names", 4, 0, false },
	[PUT_OP_TIME] = { "op_times", 3, 0, false },
	[PUT_METRIC_GRID] = { "metric_grids", 3, 1, false },
	[PUT_METRIC] = { "metrics", 12, 0, false },
	[PUT_FIGURES] = { "figures", 1 + FIGURE_MAX, 1, false },
	[PUT_FRESH_IMAGE] = { "fresh_images", 1, 1, true },
	[PUT_FRESH_HANDLE] = { "fresh_handles", 2, 1, true },
	[PUT_SPENT] = { "spent", 10, 1, false },
	[PUT_LOADED] = { "loaded", 2, 1, false },
	[PUT_SAMPLE] = { "samples", 4, 2, false },
	[PUT_TARGET] = { "targets", 4, 1, false },
	[PUT_PREREQUISITE] = { "prerequisites", 3, 2, false },
};
_Static_assert(sizeof(tables) / sizeof(tables[0]) == PUT_MAX, "a table for each statement");

/* Of the existing row and the new one; a time may be NULL, and last_ counts from first_. */
#define SUM(column) column " = " column " + excluded." column
#define EITHER(which, a, b) "coalesce(" which "(" a ", " b "), " a ", " b ")"
#define FIRST(column) EITHER("min", column, "excluded." column)
#define SPAN(of) "first_" of " = " FIRST("first_" of) ", last_" of " = " \
	EITHER("max", "first_" of " + last_" of, "excluded.first_" of " + excluded.last_" of) " - " FIRST("first_" of)

/* How a row is added to the existing one; NULL: it replaces that. */
static const char *const added[PUT_MAX] = {
	[PUT_USE] = SUM("nread") ", " SUM("bread") ", " SUM("nwrite") ", " SUM("bwrite") ", " SUM("nseek") ", "
		SUM("read_ns") ", " SUM("write_ns") ", " SPAN("read") ", " SPAN("write"),
	[PUT_OP_TIME] = SUM("ops") ", " SUM("ns"),
	[PUT_MISSING_NAME] = SUM("count") ", first_t = " FIRST("first_t"),
};
_Static_assert(ROW_COLUMNS >= 18, "the widest table");

/* The names of calls in the ParaTrac paper (Table 4); other operations have none. */
static const char *const paratrac_names[OP_MAX] = {
	[OP_LOOKUP] = "lstat",	   [OP_GETATTR] = "fstat",   [OP_TRUNCATE] = "truncate",
	[OP_CREATE] = "creat",	   [OP_OPEN] = "open",	     [OP_READ] = "read",
	[OP_WRITE] = "write",	   [OP_FLUSH] = "flush",     [OP_RELEASE] = "close",
	[OP_OPENDIR] = "opendir",  [OP_READDIR] = "readdir", [OP_RELEASEDIR] = "closedir",
	[OP_ACCESS] = "access",	   [OP_CHMOD] = "chmod",     [OP_CHOWN] = "chown",
	[OP_MKDIR] = "mkdir",	   [OP_RMDIR] = "rmdir",     [OP_UNLINK] = "unlink",
	[OP_RENAME] = "rename",	   [OP_LINK] = "link",	     [OP_SYMLINK] = "symlink",
	[OP_READLINK] = "readlink", [OP_FSYNC] = "fsync",    [OP_STATFS] = "statfs",
	[OP_MKNOD] = "mknod",	   [OP_UTIMENS] = "utime",
};

/* SQLite's text of an I/O error has no cause, and SQLite does not keep errno. */
static void put_error(struct store *store, int code)
{
	snprintf(store->error, sizeof(store->error), "%s%s",
		store->db ? sqlite3_errmsg(store->db) : sqlite3_errstr(code),
		(code & 0xff) == SQLITE_IOERR ? ": a quota or the limit of file sizes (ulimit -f) is used up, or the device fails" : "");
}

/* Converts SQLite's codes to -errno; the only place. */
static int store_result(struct store *store, int code)
{
	switch (code & 0xff) {
	case SQLITE_OK:
	case SQLITE_DONE:
	case SQLITE_ROW:
		return 0;
	}
	put_error(store, code);
	switch (code & 0xff) {
	case SQLITE_NOMEM: return -ENOMEM;
	case SQLITE_FULL: return -ENOSPC;
	case SQLITE_BUSY:
	case SQLITE_LOCKED: return -EBUSY;
	case SQLITE_READONLY: return -EROFS;
	case SQLITE_CANTOPEN:
	case SQLITE_PERM: return -EACCES;
	case SQLITE_CORRUPT:
	case SQLITE_NOTADB: return -EINVAL;
	default: return -EIO;
	}
}

static int store_exec(struct store *store, const char *sql)
{
	return store_result(store, sqlite3_exec(store->db, sql, NULL, NULL, NULL));
}

static int prepare(struct store *store, enum put put, int rows, sqlite3_stmt **ret_stmt)
{
	char sql[2048 + ROWS * (2 * ROW_COLUMNS + 4)];
	int n = snprintf(sql, sizeof(sql), "INSERT %sINTO %s VALUES ",
		tables[put].key ? "OR REPLACE " : "", tables[put].table);

	for (int row = 0; row < rows; row++) {
		n += snprintf(sql + n, sizeof(sql) - n, row ? ",(?" : "(?");
		for (int i = 1; i < tables[put].columns; i++)
			n += snprintf(sql + n, sizeof(sql) - n, ",?");
		n += snprintf(sql + n, sizeof(sql) - n, ")");
	}
	if (added[put])
		snprintf(sql + n, sizeof(sql) - n, " ON CONFLICT DO UPDATE SET %s", added[put]);
	return store_result(store, sqlite3_prepare_v3(store->db, sql, -1,
		SQLITE_PREPARE_PERSISTENT, ret_stmt, NULL));
}

/* Frees sql; NULL: out of memory. */
static int exec_made(struct store *store, char *sql)
{
	int r = sql ? store_exec(store, sql) : store_result(store, SQLITE_NOMEM);

	sqlite3_free(sql);
	return r;
}

static int fill_names(struct store *store)
{
	int r = 0;

	for (int i = 0; i < OP_MAX && r == 0; i++)
		r = exec_made(store, sqlite3_mprintf("INSERT INTO op_name VALUES (%d, %Q, %Q)", i,
			event_op_names[i], paratrac_names[i]));
	for (int i = 0; i < VIA_MAX && r == 0; i++)
		r = exec_made(store, sqlite3_mprintf("INSERT INTO via_name VALUES (%d, %Q)", i,
			event_via_names[i]));
	for (int i = 0; i < FIDELITY_MAX && r == 0; i++)
		r = exec_made(store, sqlite3_mprintf("INSERT INTO fidelity_name VALUES (%d, %Q)", i,
			event_fidelity_names[i]));
	return r;
}

int store_name_calls(struct store *store)
{
	int r = 0;

	for (int i = 0; i < CALL_MAX && r == 0; i++)
		r = exec_made(store, sqlite3_mprintf("INSERT INTO call_name VALUES (%d, %Q, %Q, %Q, %d, %d)", i, layer_calls[i].name,
			layer_names[layer_calls[i].layer], layer_class_names[layer_calls[i].class], layer_calls[i].moves,
			layer_calls[i].collective));
	return r;
}

static int make_schema(struct store *store)
{
	/* The application id is in the database file itself from the start, not only in the log. */
	int r = store_exec(store, "PRAGMA journal_mode = MEMORY; PRAGMA page_size = 2048; PRAGMA auto_vacuum = INCREMENTAL;"
		"PRAGMA application_id = " STRING(TRACE_FILE_ID) ";"
		"PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA temp_store = MEMORY;"
		"PRAGMA wal_autocheckpoint = 8000; BEGIN");

	if (r == 0)
		r = store_exec(store, sql_schema);
	if (r == 0)
		r = store_exec(store, sql_views);
	if (r == 0)
		r = store_exec(store, sql_steps);
	if (r == 0)
		r = fill_names(store);
	if (r == 0)
		r = store_exec(store, "COMMIT");
	for (int i = 0; i < PUT_MAX && r == 0; i++)
		r = prepare(store, i, 1, &store->rows[i].one);
	if (r == 0)
		r = store_result(store, sqlite3_prepare_v3(store->db,
			"UPDATE images SET end_t = ? WHERE id = ?", -1, SQLITE_PREPARE_PERSISTENT,
			&store->end_image, NULL));
	if (r == 0)
		r = store_result(store, sqlite3_prepare_v3(store->db,
			"SELECT 1 FROM paths WHERE id = ? AND path = ?", -1, SQLITE_PREPARE_PERSISTENT,
			&store->is_path, NULL));
	if (r == 0)
		r = store_result(store, sqlite3_prepare_v3(store->db, sql_fit_spent, -1, SQLITE_PREPARE_PERSISTENT,
			&store->fit_spent, NULL));
	return r;
}

int store_create(const char *path, bool force, struct store **ret_store)
{
	struct store *store = calloc(1, sizeof(*store));
	int r;

	if (!store)
		return -ENOMEM;
	store->dir = store->reserve = store->lock = -1;
	r = store_open_place(store, path, force);
	if (r == 0) {
		int code = store_make_vfs(store);

		r = store_result(store, code != SQLITE_OK ? code : sqlite3_open_v2(store->path, &store->db,
			SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, store->vfs_name));
		if (r == 0)
			r = make_schema(store);
		if (r < 0) {
			store_discard(store);
			return r;
		}
	}
	if (r < 0) {
		store_destroy(store);
		return r;
	}
	sqlite3_busy_timeout(store->db, 10000);
	store_take_reserve(store);
	bus_catch();
	*ret_store = store;
	return 0;
}

static void finalize_all(struct store *store)
{
	for (int i = 0; i < PUT_MAX; i++) {
		sqlite3_finalize(store->rows[i].one);
		sqlite3_finalize(store->rows[i].many);
		store->rows[i].one = store->rows[i].many = NULL;
	}
	sqlite3_finalize(store->end_image);
	sqlite3_finalize(store->is_path);
	sqlite3_finalize(store->fit_spent);
	store->end_image = store->is_path = store->fit_spent = NULL;
}

#define FOLD_MS 500
#define FOLD_WATCHED_MS 10000

/* SQLite does not wait for this lock.  No journal: only the first page is left to write, in one write. */
static void leave_log(struct store *store)
{
	const struct timespec nap = { .tv_nsec = 10000000 };
	int64_t until_ns = clock_now_ns() + FOLD_WATCHED_MS * INT64_C(1000000);

	while (sqlite3_exec(store->db, "PRAGMA journal_mode = MEMORY", NULL, NULL, NULL) == SQLITE_BUSY && store_is_watched(store) &&
		clock_now_ns() < until_ns)
		nanosleep(&nap, NULL);
}

/*
 * While readers use the trace, the log stays until the last of them closes it; nothing is lost.  A program that watches the trace has it
 * open now and then, so between two of its looks the log can go.
 */
int store_fold(struct store *store)
{
	int r;

	finalize_all(store);
	sqlite3_busy_timeout(store->db, store_is_watched(store) ? FOLD_WATCHED_MS : FOLD_MS);
	r = store_exec(store, "PRAGMA wal_checkpoint(TRUNCATE)");
	if (r == 0)
		leave_log(store);
	return r == -EBUSY ? 0 : r;
}

void store_destroy(struct store *store)
{
	if (!store)
		return;
	store_keep(store);
	finalize_all(store);
	spill_destroy(store->spill);
	sqlite3_close(store->db);
	sqlite3_vfs_unregister(&store->vfs);
	store_release_reserve(store);
	if (store->lock >= 0) /* last: close(2) drops SQLite's locks on the file */
		close(store->lock);
	if (store->dir >= 0)
		close(store->dir);
	free(store);
}

void store_discard(struct store *store)
{
	if (!store)
		return;
	store_unlink_files(store);
	store_restore_former(store);
	store_destroy(store);
}

int store_fail(struct store *store, int error)
{
	if (error == 0 || store->failed)
		return error;
	store->failed = error;
	if (error == -ENOMEM || !store->error[0])
		snprintf(store->error, sizeof(store->error), "%s",
			error == -ENOMEM ? "out of memory" : strerror(-error));
	return error;
}

static int bind(sqlite3_stmt *stmt, int column, const struct value *v)
{
	switch (v->type) {
	case VALUE_INT:
		return sqlite3_bind_int64(stmt, column, v->number);
	case VALUE_TEXT:
		return sqlite3_bind_text64(stmt, column, v->data, v->number, SQLITE_STATIC,
			SQLITE_UTF8);
	case VALUE_BLOB:
		return sqlite3_bind_blob64(stmt, column, v->data, v->number, SQLITE_STATIC);
	default:
		return sqlite3_bind_null(stmt, column);
	}
}

static int run(struct store *store, sqlite3_stmt *stmt, const struct value *values, int n)
{
	int code = SQLITE_OK;

	/* SQLite may have ended the transaction itself; what follows would be an incomplete transaction. */
	if (store->failed)
		return store->failed;
	for (int i = 0; i < n && code == SQLITE_OK; i++)
		code = bind(stmt, i + 1, &values[i]);
	if (code == SQLITE_OK)
		code = sqlite3_step(stmt);
	code = store_result(store, code);
	sqlite3_reset(stmt);
	return store_fail(store, code);
}

static int put_row(struct store *store, enum put put, const struct value *values)
{
	return run(store, store->rows[put].one, values, tables[put].columns);
}

/* Writes the buffered rows; the buffer is empty afterwards, even on error. */
static int put_waiting(struct store *store, enum put put)
{
	struct rows *rows = &store->rows[put];
	int n = rows->n, columns = tables[put].columns, r = store->failed;

	rows->n = 0;
	rows->text_used = 0;
	if (r == 0 && n == ROWS && !rows->many)
		r = store_fail(store, prepare(store, put, ROWS, &rows->many));
	if (r == 0 && n == ROWS)
		return run(store, rows->many, rows->values, ROWS * columns);
	for (int i = 0; i < n && r == 0; i++)
		r = put_row(store, put, rows->values + i * columns);
	return r;
}

static int put_all_waiting(struct store *store)
{
	int r = store->failed;

	for (int i = 0; i < PUT_MAX && r == 0; i++)
		r = put_waiting(store, i);
	return r;
}

static size_t text_length(const struct value *values, int n)
{
	size_t len = 0;

	for (int i = 0; i < n; i++)
		if (values[i].type == VALUE_TEXT || values[i].type == VALUE_BLOB)
			len += values[i].number;
	return len;
}

static bool is_same_key(const struct value *a, const struct value *b, int n)
{
	for (int i = 0; i < n; i++)
		if (a[i].type != b[i].type || a[i].number != b[i].number)
			return false;
	return true;
}

/* The buffered row with that key, or NULL. */
static struct value *find_waiting(struct rows *rows, enum put put, const struct value *key)
{
	struct value *row = rows->values;

	for (int i = 0; i < rows->n; i++, row += tables[put].columns)
		if (is_same_key(row, key, tables[put].key))
			return row;
	return NULL;
}

/* The buffer has room for the text. */
static void keep_row(struct rows *rows, struct value *row, const struct value *values, int columns)
{
	memcpy(row, values, columns * sizeof(*values));
	for (int i = 0; i < columns; i++) {
		if (row[i].type != VALUE_TEXT && row[i].type != VALUE_BLOB)
			continue;
		row[i].data = rows->text + rows->text_used;
		memcpy(rows->text + rows->text_used, values[i].data, values[i].number);
		rows->text_used += values[i].number;
	}
}

int store_put(struct store *store, enum put put, const struct value *values)
{
	struct rows *rows = &store->rows[put];
	int columns = tables[put].columns, r = 0;
	size_t len = text_length(values, columns);
	struct value *row;

	store->n_fresh += tables[put].is_fresh;
	if (sqlite3_get_autocommit(store->db))
		return put_row(store, put, values);
	if (len > sizeof(rows->text) - rows->text_used)
		r = put_waiting(store, put);
	if (r < 0 || len > sizeof(rows->text))
		return r < 0 ? r : put_row(store, put, values);
	row = tables[put].key > 0 ? find_waiting(rows, put, values) : NULL;
	keep_row(rows, row ? row : rows->values + rows->n++ * columns, values, columns);
	return rows->n < ROWS ? 0 : put_waiting(store, put);
}

static int spill_result(struct store *store, int code)
{
	int r = store_result(store, code);

	if (r < 0) /* the error is not in store->db */
		snprintf(store->error, sizeof(store->error), "temporary file of paths: %s",
			sqlite3_errstr(code));
	return store_fail(store, r);
}

int store_spill_path(struct store *store, uint32_t hash, int64_t id)
{
	int code = store->spill ? SQLITE_OK : spill_create(store->vfs_name, &store->spill);

	if (code == SQLITE_OK)
		code = spill_put(store->spill, hash, id);
	return spill_result(store, code);
}

/* Whether the path with that id is this one. */
static int is_path(struct store *store, int64_t id, const struct value *path, bool *ret_is)
{
	int r = put_waiting(store, PUT_DIRECTORY), code;

	if (r == 0)
		r = put_waiting(store, PUT_PATH_NAME);
	if (r < 0)
		return r;
	code = bind(store->is_path, 1, &V_INT(id));
	if (code == SQLITE_OK)
		code = bind(store->is_path, 2, path);
	if (code == SQLITE_OK)
		code = sqlite3_step(store->is_path);
	*ret_is = code == SQLITE_ROW;
	r = store_result(store, code);
	sqlite3_reset(store->is_path);
	return store_fail(store, r);
}

int store_find_path(struct store *store, uint32_t hash, const struct value *path, int64_t *ret_id)
{
	bool is = false;
	int r = store->failed;

	*ret_id = 0;
	while (r == 0 && store->spill && !is) {
		r = spill_result(store, spill_find(store->spill, hash, *ret_id, ret_id));
		if (r < 0 || !*ret_id)
			break;
		r = is_path(store, *ret_id, path, &is);
	}
	return r;
}

/* Notifies once, so that the last facts can still be written. */
static int notify_bus(struct store *store)
{
	store->bus_notified = true;
	snprintf(store->error, sizeof(store->error), "the file system has no room, or no quota, for the index of the log");
	return store_fail(store, -ENOSPC);
}

int store_begin(struct store *store)
{
	store->failed = 0;
	if (bus_has_failed() && !store->bus_notified)
		return notify_bus(store);
	return store_exec(store, "BEGIN");
}

int store_begin_conclusion(struct store *store)
{
	int r = store_exec(store, "PRAGMA temp_store = FILE");

	return r < 0 ? r : store_begin(store);
}

int store_commit(struct store *store)
{
	int r = put_all_waiting(store);

	return r < 0 ? r : store_exec(store, "COMMIT");
}

size_t store_fresh_rows(const struct store *store)
{
	return store->n_fresh;
}

int store_sum(struct store *store)
{
	int r = put_all_waiting(store);

	store->n_fresh = 0;
	return r < 0 ? r : store_fail(store, store_exec(store, sql_sum));
}

int store_conclude(struct store *store)
{
	int r = put_all_waiting(store);

	if (r == 0)
		r = store_fail(store, store_exec(store, sql_refill));
	if (r == 0)
		r = store_sum(store);
	if (r == 0)
		r = store_exec(store, sql_finish);
	return r < 0 ? r : store_exec(store, "PRAGMA incremental_vacuum");
}

void store_rollback(struct store *store)
{
	store->failed = 0;
	for (int i = 0; i < PUT_MAX; i++)
		store->rows[i].n = store->rows[i].text_used = 0;
	if (!sqlite3_get_autocommit(store->db))
		sqlite3_exec(store->db, "ROLLBACK", NULL, NULL, NULL);
}

int store_put_meta(struct store *store, const char *key, struct value value)
{
	return store_put(store, PUT_META, (struct value[]){ V_STR(key), value });
}

int store_put_bytes_kernel(struct store *store)
{
	int r = put_waiting(store, PUT_FIGURES);

	return r < 0 ? r : store_exec(store, "INSERT OR REPLACE INTO meta SELECT 'bytes_kernel', "
		"sum(read_char + write_char) FROM figures WHERE EXISTS (SELECT 1 FROM meta WHERE key = 'command' AND value NOTNULL)");
}

/* The time of a close follows from its latency where the handle ended with it. */
int store_forget_latencies(struct store *store)
{
	int r = put_all_waiting(store);

	return r < 0 ? r : store_exec(store, "UPDATE ops_handle SET latency = NULL; UPDATE ops_name SET latency = NULL;"
		"UPDATE handles SET close_t = coalesce(close_t, close_latency), open_latency = NULL, close_latency = NULL, stat_latency = NULL;"
		"UPDATE moved SET read_ns = NULL, write_ns = NULL, data_latency = NULL; UPDATE uses SET read_ns = NULL, write_ns = NULL;"
		"UPDATE accesses SET io_ns = NULL; UPDATE op_times SET ns = NULL; UPDATE metrics SET ns = NULL, latencies = NULL");
}

int store_end_image(struct store *store, int64_t image, int64_t end_t)
{
	struct value *waiting = find_waiting(&store->rows[PUT_IMAGE], PUT_IMAGE, &V_INT(image));
	int r;

	if (waiting)
		waiting[IMAGE_END_T] = V_INT(end_t);
	if (waiting || store->failed)
		return store->failed;
	sqlite3_bind_int64(store->end_image, 1, end_t);
	sqlite3_bind_int64(store->end_image, 2, image);
	r = store_result(store, sqlite3_step(store->end_image));
	sqlite3_reset(store->end_image);
	return store_fail(store, r);
}

int store_fit_spent(struct store *store, int64_t process)
{
	static const enum put needed[] = { PUT_IMAGE, PUT_FIGURES, PUT_SPENT };
	int r = store->failed;

	for (size_t i = 0; i < sizeof(needed) / sizeof(needed[0]) && r == 0; i++)
		r = put_waiting(store, needed[i]);
	return r < 0 ? r : run(store, store->fit_spent, &V_INT(process), 1);
}

const char *store_error(const struct store *store)
{
	return store->error;
}

bool store_is_watched(const struct store *store)
{
	return watched_is(store->lock);
}

void store_files(const struct store *store, struct store_file ret_files[STORE_FILES])
{
	for (int i = 0; i < STORE_FILES; i++) {
		struct stat st;

		ret_files[i] = (struct store_file){ 0 };
		if (fstatat(store->dir, store_file_name(store, i).text, &st, AT_SYMLINK_NOFOLLOW) == 0)
			ret_files[i] = (struct store_file){ st.st_dev, st.st_ino };
	}
}

struct store_file store_directory(const struct store *store)
{
	struct stat st;

	if (fstat(store->dir, &st) < 0)
		return (struct store_file){ 0 };
	return (struct store_file){ st.st_dev, st.st_ino };
}

const char *store_name(const struct store *store)
{
	return store->name;
}

char *store_place(const struct store *store)
{
	char place[PATH_MAX + sizeof(store->name)];
	ssize_t n = readlink(fd_path(store->dir).text, place, PATH_MAX);

	if (n <= 0 || n >= PATH_MAX)
		return NULL;
	snprintf(place + n, sizeof(place) - n, "%s%s", n > 1 ? "/" : "", store->name);
	return strdup(place);
}
