/* SPDX-License-Identifier: MIT */

/*
 * New operations.  Their ids only increase, so what is new is found by the id; but the open, the first getattr, the first move of data
 * and the close of a handle are in the rows of the handle, which are written again when they come: so the open handles are looked at each
 * time.
 */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/saturate.h"
#include "dag/live/collect_internal.h"

#define READ_AT_MOST 500000 /* operations of the time before the first look */

enum { ID, PROCESS, NAME, FILE_ID, BYTES, LATENCY, RESULT, START, OFFSET, HANDLE };
#define OPERATION "SELECT id, process, name, file, bytes, latency_ns, result, start_ns, offset, handle FROM "

/* ---- failures ---- */

/* What programs ask on purpose: whether a name is there, a descriptor is open, something is a terminal, more has come. */
static const struct {
	int error;
	const char *names; /* with a blank at each side; NULL: of all */
} expected[] = {
	{ ENOENT, " lookup getattr open access readlink getxattr " },
	{ EAGAIN, NULL }, { EINTR, NULL }, { EINPROGRESS, NULL }, { ERESTART, NULL },
	{ ENODATA, " getxattr removexattr listxattr " }, { EOPNOTSUPP, " getxattr setxattr listxattr " },
	{ ENOTTY, " ioctl " }, { EBADF, " fcntl " }, { EEXIST, " mkdir " }, { EINVAL, " readlink " }, { ESPIPE, " lseek " },
};

static bool is_expected(const char *name, int error)
{
	char word[40];

	snprintf(word, sizeof(word), " %s ", name);
	for (size_t i = 0; i < sizeof(expected) / sizeof(expected[0]); i++)
		if (expected[i].error == error && (!expected[i].names || strstr(expected[i].names, word)))
			return true;
	return false;
}

static void report(struct collect *collect, const struct query *row, const char *name)
{
	const struct task *task = collect_find(collect, query_int(row, PROCESS));
	struct error error = { .process = query_int(row, PROCESS), .op = query_int(row, ID) };

	error.is = (struct live_error){ .time_ns = query_int(row, START), .pid = task ? task->pid : -1, .what = strdup(name),
		.program = task && task->program ? strdup(task->program) : NULL, .error = (int)-query_int(row, RESULT),
		.exit_code = -1, .exit_signal = -1 };
	collect_error(collect, &error);
}

/* ---- one operation ---- */

static struct kind *find_kind(struct collect *collect, const char *name, size_t len)
{
	int room = (int)(sizeof(collect->kinds) / sizeof(collect->kinds[0]));
	struct kind *kind;

	for (int i = 0; i < collect->n_kinds; i++)
		if (strncmp(collect->kinds[i].name, name, len) == 0 && !collect->kinds[i].name[len])
			return &collect->kinds[i];
	if (collect->n_kinds == room || len >= sizeof(kind->name))
		return NULL; /* of no trace that ftrac wrote */
	kind = &collect->kinds[collect->n_kinds++];
	memcpy(kind->name, name, len);
	return kind;
}

static struct used_file *use_file(struct collect *collect, int64_t id)
{
	struct used_file *file;

	HASH_FIND(hh, collect->files, &id, sizeof(id), file);
	if (file)
		return file;
	file = calloc(1, sizeof(*file));
	if (!file) {
		collect->failed = true;
		return NULL;
	}
	file->id = id;
	HASH_ADD(hh, collect->files, id, sizeof(id), file);
	if (file->hh.tbl)
		return file;
	free(file);
	collect->failed = true;
	return NULL;
}

static bool is_write(const char *name)
{
	return strcmp(name, "write") == 0 || strcmp(name, "send") == 0 || strcmp(name, "copy") == 0 ||
	       strcmp(name, "sendfile") == 0 || strcmp(name, "splice") == 0;
}

static void add_bytes(int64_t *sum, int64_t bytes)
{
	*sum = saturate_add(*sum, bytes);
}

static void add_use(struct collect *collect, struct task *task, const struct query *row, int64_t bytes, bool writes)
{
	struct used_file *file = query_type(row, FILE_ID) == QUERY_NULL ? NULL : use_file(collect, query_int(row, FILE_ID));

	if (task) {
		task->operations++;
		add_bytes(writes ? &task->written : &task->read, bytes);
	}
	if (file) {
		file->operations++;
		add_bytes(writes ? &file->written : &file->read, bytes);
	}
	add_bytes(writes ? &collect->written : &collect->read, bytes);
}

static int64_t known(const struct query *row, int column)
{
	return query_type(row, column) == QUERY_NULL ? -1 : query_int(row, column);
}

static void keep(struct collect *collect, struct task *task, const struct query *row, const struct kind *kind)
{
	const struct recent operation = { .id = query_int(row, ID), .handle = query_int(row, HANDLE), .start_ns = query_int(row, START),
		.latency_ns = known(row, LATENCY), .bytes = known(row, BYTES), .offset = known(row, OFFSET), .result = query_int(row, RESULT),
		.name = kind->name };

	if (task)
		collect_keep_operation(collect, task, &operation);
	if (operation.handle && operation.bytes >= 0)
		collect_add_to_handle(collect, &operation, is_write(kind->name));
}

static void take_operation(struct collect *collect, const struct query *row)
{
	size_t len;
	const char *bytes = query_bytes(row, NAME, &len);
	struct kind *kind = find_kind(collect, bytes, len);
	int64_t start_ns = query_int(row, START), moved = query_int(row, BYTES);
	struct task *task;

	if (!kind)
		return;
	if (query_int(row, ID) > collect->new_op)
		collect->new_op = query_int(row, ID);
	if (!collect->first_op_ns || start_ns < collect->first_op_ns)
		collect->first_op_ns = start_ns;
	kind->count++;
	kind->total++;
	add_bytes(&kind->bytes, moved);
	kind->moves |= query_type(row, BYTES) != QUERY_NULL;
	if (query_type(row, LATENCY) != QUERY_NULL)
		latencies_add(&kind->latencies, query_int(row, LATENCY));
	task = collect_find(collect, query_int(row, PROCESS));
	add_use(collect, task, row, moved, is_write(kind->name));
	keep(collect, task, row, kind);
	if (query_int(row, RESULT) >= 0)
		return;
	kind->failed++;
	if (!is_expected(kind->name, (int)-query_int(row, RESULT)))
		report(collect, row, kind->name);
}

/* ---- handles ---- */

static void drop_handle(struct collect *collect, const struct query *row)
{
	int64_t id = query_int(row, 0);
	struct open_handle *handle;

	HASH_FIND(hh, collect->open, &id, sizeof(id), handle);
	collect_drop_sum(collect, id);
	if (!handle)
		return;
	HASH_DEL(collect->open, handle);
	free(handle);
}

static void add_handle(struct collect *collect, const struct query *row)
{
	struct open_handle *handle = calloc(1, sizeof(*handle));

	if (query_int(row, 0) > collect->new_handle)
		collect->new_handle = query_int(row, 0);
	if (query_int(row, 1) || !handle) {
		collect_drop_sum(collect, query_int(row, 0));
		collect->failed |= !handle;
		free(handle);
		return;
	}
	handle->id = query_int(row, 0);
	handle->process = query_int(row, 2);
	HASH_ADD(hh, collect->open, id, sizeof(handle->id), handle);
	if (!handle->hh.tbl) {
		free(handle);
		collect->failed = true;
	}
}

#define HANDLES_AT_ONCE 20000

/* The views of operations that are in the rows of handles; earlier builds had fewer. */
static const char *const parts[] = { "open_op", "stat_op", "data_op", "close_op" };
#define PARTS (sizeof(parts) / sizeof(parts[0]))

static void take_part(struct collect *collect, const struct query *row)
{
	size_t len;
	const char *name = query_bytes(row, 0, &len);

	for (size_t i = 0; i < PARTS; i++)
		if (len == strlen(parts[i]) && memcmp(name, parts[i], len) == 0)
			collect->parts |= 1U << i;
}

static int ask_parts(struct collect *collect, struct query_db *db, struct failure *failure, const char *where)
{
	int r = 0;

	for (size_t i = 0; i < PARTS && r == 0; i++) {
		cleanup_free char *sql = NULL;

		if (!(collect->parts & 1U << i))
			continue;
		if (asprintf(&sql, OPERATION "%s WHERE %s", parts[i], where) < 0)
			sql = NULL;
		r = collect_each(collect, db, take_operation, failure, sql);
	}
	return r;
}

/* The operations in the rows of handles that were open at the last look. */
static int ask_handles(struct collect *collect, struct query_db *db, struct failure *failure, const struct ids *ids)
{
	cleanup_free char *where = NULL, *gone = NULL;
	int r;

	if (!ids->n)
		return 0;
	if (asprintf(&where, "handle IN (%s) AND id > %lld", ids->text, (long long)collect->last_op) < 0)
		return failure_memory(failure);
	r = ask_parts(collect, db, failure, where);
	if (asprintf(&gone, "SELECT id FROM handles WHERE id IN (%s) AND (close_op NOTNULL OR life NOTNULL)", ids->text) < 0)
		gone = NULL;
	return r < 0 ? r : collect_each(collect, db, drop_handle, failure, gone);
}

static int ask_open(struct collect *collect, struct query_db *db, struct failure *failure)
{
	struct ids ids = { 0 };
	struct open_handle *handle, *next;
	int r = 0;

	/* A copy of the ids: handles are dropped meanwhile. */
	size_t n = 0, all = HASH_COUNT(collect->open);
	cleanup_free int64_t *open = calloc(all + 1, sizeof(*open));

	if (!open)
		return failure_memory(failure);
	HASH_ITER (hh, collect->open, handle, next)
		open[n++] = handle->id;
	for (size_t i = 0; i < n && r == 0; i++) {
		ids_add(&ids, open[i], &collect->failed);
		if (ids.n < HANDLES_AT_ONCE && i + 1 < n)
			continue;
		r = ask_handles(collect, db, failure, &ids);
		ids.len = 0;
		ids.n = 0;
	}
	free(ids.text);
	return r;
}

/* ---- all of it ---- */

static int ask_new(struct collect *collect, struct query_db *db, struct failure *failure, const char *format, int64_t last, collect_row *add)
{
	char sql[256];

	snprintf(sql, sizeof(sql), format, (long long)last);
	return collect_each(collect, db, add, failure, sql);
}

static void take_limits(struct collect *collect, const struct query *row)
{
	collect->new_op = query_int(row, 0);
	collect->new_handle = query_int(row, 1);
}

/* At the first look: leaves out what is too old, so that it does not take long. */
static int begin_late(struct collect *collect, struct query_db *db, struct failure *failure)
{
	int64_t most = query_fact(db, "ops_recorded", 0);
	int r;

	collect->is_whole = most <= READ_AT_MOST;
	if (collect->is_whole)
		return 0;
	r = ask_new(collect, db, failure, "SELECT last, (SELECT coalesce(max(id), 0) FROM handles WHERE open_op <= last)"
		" FROM (SELECT max((SELECT max(id) FROM ops_handle), (SELECT max(id) FROM ops_name)) - %lld AS last)", READ_AT_MOST,
		take_limits);
	collect->last_op = collect->new_op;
	collect->last_handle = collect->late_handle = collect->new_handle;
	return r < 0 ? r : ask_new(collect, db, failure, "SELECT h.id, 0, i.process FROM handles h LEFT JOIN images i ON i.id = h.image"
		" WHERE h.id <= %lld AND h.close_op ISNULL AND h.life ISNULL", collect->last_handle, add_handle);
}

int collect_operations(struct collect *collect, struct query_db *db, struct failure *failure)
{
	char where[64];
	int r = collect_each(collect, db, take_part, failure, "SELECT name FROM sqlite_schema WHERE type = 'view'");

	if (r == 0 && !collect->last_ns)
		r = begin_late(collect, db, failure);
	if (r == 0)
		r = ask_new(collect, db, failure, OPERATION "other_op WHERE id > %lld", collect->last_op, take_operation);
	if (r == 0)
		r = ask_new(collect, db, failure, OPERATION "name_op WHERE id > %lld", collect->last_op, take_operation);
	if (r == 0)
		r = ask_open(collect, db, failure);
	snprintf(where, sizeof(where), "handle > %lld", (long long)collect->last_handle);
	if (r == 0)
		r = ask_parts(collect, db, failure, where);
	if (r == 0)
		r = ask_new(collect, db, failure, "SELECT h.id, h.close_op NOTNULL OR h.life NOTNULL, i.process FROM handles h"
			" LEFT JOIN images i ON i.id = h.image WHERE h.id > %lld", collect->last_handle, add_handle);
	collect->last_op = collect->new_op;
	collect->last_handle = collect->new_handle;
	return r;
}
