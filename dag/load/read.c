/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/failure.h"
#include "base/vector.h"
#include "dag/load/read_internal.h"
#include "dag/trace/traces.h"
#include "db/query.h"

/* ---- things of the trace by their ids ---- */

int32_t load_read_find(const struct read_id *ids, int64_t id)
{
	struct read_id *entry;

	HASH_FIND(hh, ids, &id, sizeof(id), entry);
	return entry ? entry->index : PLAN_NONE;
}

int load_read_add(struct reading *in, struct read_id **ids, int64_t id, int32_t index)
{
	struct read_id *entry = arena_alloc(&in->memory, sizeof(*entry));

	if (!entry)
		return -ENOMEM;
	*entry = (struct read_id){ .id = id, .index = index };
	HASH_ADD(hh, *ids, id, sizeof(entry->id), entry);
	if (!entry->hh.tbl) /* the hash cannot grow */
		return -ENOMEM;
	return 0;
}

static int64_t number(const struct query *query, int column)
{
	return query_type(query, column) == QUERY_NULL ? PLAN_UNKNOWN : query_int(query, column);
}

static bool is_text(const struct query *query, int column, const char *text)
{
	size_t len;
	const char *bytes = query_bytes(query, column, &len);

	return bytes && len == strlen(text) && memcmp(bytes, text, len) == 0;
}

/* Runs add() for each row.  0 or -errno. */
static int each(struct reading *in, const char *sql, int (*add)(struct reading *in, const struct query *query))
{
	struct query *query = NULL;
	int r = query_start(in->db, sql, &query);

	if (r < 0)
		return traces_fail(in->db, r, in->failure);
	while ((r = query_next(query)) > 0 && (r = add(in, query)) == 0)
		;
	if (r < 0 && !in->failure->code)
		r == -ENOMEM ? failure_memory(in->failure) : r == -EFBIG || r == -ENOSPC ?
			failure_set(in->failure, r, "the plan of the replay cannot be written into the directory: %s", strerror(-r)) :
			traces_fail(in->db, r, in->failure);
	query_end(query);
	return r;
}

static int find_path(struct reading *in, const struct query *query, int column, int32_t *ret_path)
{
	size_t len = 0;
	const char *text = query_type(query, column) == QUERY_NULL ? NULL : query_bytes(query, column, &len);

	*ret_path = PLAN_NONE;
	return text ? load_names_find(&in->names, text, len, ret_path) : 0;
}

/* ---- files, opens, processes ---- */

static uint8_t kind_of(const struct query *query, int kind, int path)
{
	static const struct {
		const char *text;
		uint8_t kind;
	} kinds[] = { { "file", KIND_FILE }, { "dir", KIND_DIRECTORY }, { "symlink", KIND_LINK }, { "fifo", KIND_FIFO },
		{ "socket", KIND_SOCKET }, { "char", KIND_DEVICE }, { "block", KIND_DEVICE }, { "terminal", KIND_DEVICE } };
	size_t len = 0;
	const char *name = query_bytes(query, path, &len);
	bool absolute = name && len && name[0] == '/';

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (is_text(query, kind, kinds[i].text))
			return kinds[i].kind == KIND_FIFO && !absolute ? KIND_PIPE : kinds[i].kind;
	return query_type(query, kind) == QUERY_NULL && absolute ? KIND_FILE : KIND_OBJECT;
}

/* id, kind, path, size_first, size_last */
static int add_file(struct reading *in, const struct query *query)
{
	struct plan *plan = in->plan;
	struct plan_file file = { .kind = kind_of(query, 1, 2), .size = number(query, 3), .size_last = number(query, 4) };
	int r = vector_push(in->file_state, in->n_file_state, (struct read_file){ .peer = PLAN_NONE, .read_end = PLAN_NONE });

	if (r == 0)
		r = vector_push(plan->files, plan->n_files, file);
	return r ? r : load_read_add(in, &in->files, query_int(query, 0), plan->n_files - 1);
}

/* file, peer */
static int add_peer(struct reading *in, const struct query *query)
{
	int32_t file = load_read_find(in->files, query_int(query, 0)), peer = load_read_find(in->files, query_int(query, 1));

	if (file >= 0 && peer >= 0) {
		in->file_state[file].peer = peer;
		in->file_state[peer].thing.changes = true;
	}
	return 0;
}

static uint32_t parse_mode(const struct query *query, int column)
{
	size_t len = 0;
	const char *text = query_bytes(query, column, &len);
	uint32_t mode = 0;

	for (size_t i = 0; text && i < len && text[i] >= '0' && text[i] <= '7'; i++)
		mode = (mode << 3 | (uint32_t)(text[i] - '0')) & 0777;
	return mode;
}

/* The two ends of a pipe are opened together. */
static void join_ends(struct reading *in, int32_t handle)
{
	struct plan *plan = in->plan;
	struct plan_handle *h = &plan->handles[handle];
	struct read_file *file = h->file >= 0 && plan->files[h->file].kind == KIND_PIPE ? &in->file_state[h->file] : NULL;

	if (!file)
		return;
	if ((h->flags & 3) == 0 && file->read_end < 0)
		file->read_end = handle;
	else if ((h->flags & 3) == 1 && file->read_end >= 0 && plan->handles[file->read_end].other_end < 0)
		plan->handles[file->read_end].other_end = handle;
}

/* id, file, path, flags, mode */
static int add_handle(struct reading *in, const struct query *query)
{
	struct plan *plan = in->plan;
	struct plan_handle handle = { .file = load_read_find(in->files, query_int(query, 1)), .mode = parse_mode(query, 4), .other_end = PLAN_NONE };
	size_t len = 0;
	const char *flags = query_bytes(query, 3, &len);
	int r = find_path(in, query, 2, &handle.path);

	handle.flags = flags ? load_flags_parse(flags, len) : 0;
	if (handle.flags & 01000 && handle.file >= 0)
		in->file_state[handle.file].thing.changes = true;
	if (r == 0)
		r = vector_push(in->opener, in->n_opener, (struct read_open){ .thread = PLAN_NONE });
	if (r == 0)
		r = vector_push(plan->handles, plan->n_handles, handle);
	if (r == 0)
		r = load_read_add(in, &in->handles, query_int(query, 0), plan->n_handles - 1);
	if (r == 0)
		join_ends(in, plan->n_handles - 1);
	return r;
}

/* id, parent, pid, comm */
static int add_process(struct reading *in, const struct query *query)
{
	struct plan *plan = in->plan;
	struct plan_process process = { .thread = PLAN_NONE, .id = query_int(query, 0) };
	size_t len = 0;
	const char *comm = query_bytes(query, 3, &len);
	int r = vector_push(in->process_state, in->n_process_state,
		(struct read_process){ .parent_id = number(query, 1), .pid = number(query, 2), .parent = PLAN_NONE });

	if (comm)
		memcpy(process.comm, comm, len < sizeof(process.comm) ? len : sizeof(process.comm) - 1);
	if (r == 0)
		r = vector_push(plan->processes, plan->n_processes, process);
	return r ? r : load_read_add(in, &in->processes, process.id, plan->n_processes - 1);
}

/* path, path2: names that are made or removed */
static int add_change(struct reading *in, const struct query *query)
{
	for (int column = 0; column < 2; column++) {
		int32_t path;
		int r = find_path(in, query, column, &path);

		if (r < 0)
			return r;
		if (path >= 0)
			in->names.things[path].changes = true;
	}
	return 0;
}

/* file: its content is changed */
static int add_written(struct reading *in, const struct query *query)
{
	int32_t file = load_read_find(in->files, query_int(query, 0));

	if (file >= 0)
		in->file_state[file].thing.changes = true;
	return 0;
}

/* ---- the operations ---- */

static int find_op(const struct query *query, int column)
{
	for (int op = 0; op < OP_MAX; op++)
		if (is_text(query, column, event_op_names[op]))
			return op;
	return -1;
}

/* rank, t, process, tid, name, file, path, path2, latency, result, offset, length, bytes, via, handle, range offset, length, flags, id */
static int add_event(struct reading *in, const struct query *query)
{
	struct read_row row = { .t_ns = query_int(query, 1), .process = load_read_find(in->processes, query_int(query, 2)) };
	int64_t rank = query_int(query, 0);
	int op = rank == READ_OP ? find_op(query, 4) : 0, r;

	if (rank != READ_OP)
		return row.process > 0 ? load_read_life(in, (int)rank, row.process, row.t_ns) : 0;
	if (op < 0)
		return 0;
	row.op = (uint8_t)op;
	row.tid = number(query, 3);
	row.file = query_type(query, 5) == QUERY_NULL ? PLAN_NONE : load_read_find(in->files, query_int(query, 5));
	row.latency_ns = query_type(query, 8) == QUERY_NULL || query_int(query, 8) < 0 ? 0 : query_int(query, 8);
	row.result = number(query, 9);
	row.offset = number(query, query_type(query, 10) == QUERY_NULL ? 15 : 10);
	row.length = number(query, query_type(query, 11) == QUERY_NULL ? 16 : 11);
	row.bytes = number(query, 12);
	row.by_kernel = query_type(query, 13) != QUERY_NULL && !is_text(query, 13, "direct") && !is_text(query, 13, "copy");
	row.handle = query_type(query, 14) == QUERY_NULL ? PLAN_NONE : load_read_find(in->handles, query_int(query, 14));
	row.flags = query_type(query, 17) == QUERY_NULL ? 0 : (uint32_t)query_int(query, 17) & 0xff;
	r = find_path(in, query, 6, &row.path);
	if (r == 0 && op != OP_SYMLINK)
		r = find_path(in, query, 7, &row.path2);
	else
		row.path2 = PLAN_NONE;
	if (r == 0 && op == OP_SYMLINK) { /* its target is a text of that length */
		size_t len = 0;

		query_bytes(query, 7, &len);
		row.length = (int64_t)len;
	}
	return r ? r : load_read_operation(in, &row);
}

static const char files_sql[] = "SELECT id, kind, path, size_first, size_last FROM file";
static const char peers_sql[] = "SELECT file, peer FROM socket_peer";
static const char handles_sql[] = "SELECT id, file, path, flags, mode FROM handle ORDER BY id";
static const char processes_sql[] = "SELECT id, parent, pid, comm FROM process ORDER BY id";
static const char changes_sql[] =
	"SELECT path, path2 FROM op WHERE result >= 0 AND name IN ('create', 'mkdir', 'mknod', 'rmdir', 'unlink', 'rename', 'link', 'symlink', 'tmpfile')";
static const char written_sql[] =
	"SELECT DISTINCT file FROM op WHERE file NOTNULL AND result >= 0 AND name IN ('write', 'truncate', 'fallocate', 'copy', 'sendfile', 'splice', "
	"'create', 'lock')";
static const char events_sql[] =
	"SELECT 0, start_ns AS t, id, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 0 AS o FROM process "
	"UNION ALL SELECT 1, start_ns, process, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 0 FROM image "
	"WHERE seq > 0 "
	"UNION ALL SELECT 2, o.start_ns, o.process, o.tid, o.name, o.file, o.path, o.path2, o.latency_ns, o.result, o.offset, o.length, o.bytes, "
	"o.via, o.handle, r.offset, r.length, r.range_flags, o.id FROM op o LEFT JOIN range_op r ON r.id = o.id WHERE o.process NOTNULL "
	"UNION ALL SELECT 3, end_ns, id, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 0 FROM process "
	"WHERE end_ns NOTNULL ORDER BY 2, 1, o";

static int read_all(struct reading *in)
{
	int r = each(in, files_sql, add_file);

	if (r == 0)
		r = each(in, peers_sql, add_peer);
	if (r == 0)
		r = each(in, handles_sql, add_handle);
	if (r == 0)
		r = each(in, processes_sql, add_process);
	if (r == 0)
		r = each(in, changes_sql, add_change);
	if (r == 0)
		r = each(in, written_sql, add_written);
	if (r == 0)
		r = each(in, events_sql, add_event);
	if (r == 0 && (r = load_read_end(in)) < 0)
		failure_set(in->failure, r, "cannot make the plan of the replay: %s", strerror(-r));
	return r;
}

static void clear(struct reading *in)
{
	HASH_CLEAR(hh, in->files);
	HASH_CLEAR(hh, in->handles);
	HASH_CLEAR(hh, in->processes);
	HASH_CLEAR(hh, in->threads);
	for (int32_t i = 0; i < in->n_file_state; i++)
		free(in->file_state[i].thing.users);
	for (int32_t i = 0; i < in->n_process_state; i++) {
		free(in->process_state[i].ended);
		free(in->process_state[i].reads);
	}
	free(in->file_state);
	free(in->process_state);
	free(in->thread_state);
	free(in->opener);
	free(in->flights);
	free(in->heap);
	load_names_finish(&in->names);
	load_order_finish(&in->order);
	arena_free(&in->memory);
}

bool load_plan_is_possible(struct query_db *db, struct failure *failure)
{
	const char *files = query_fact_text(db, "files");

	if (files && (strcmp(files, "kernel") == 0 || strcmp(files, "preload") == 0))
		return true;
	failure_set(failure, -EINVAL, "the trace has no system calls, which a replay needs: record the command by 'ftrac run --files kernel'");
	return false;
}

int load_plan_read(struct query_db *db, int dir, struct plan *plan, struct failure *failure)
{
	struct reading in = { .db = db, .plan = plan, .failure = failure };
	int r;

	*plan = (struct plan){ .steps_fd = -1, .waits_fd = -1 };
	in.names.plan = plan;
	in.order = (struct order){ .plan = plan, .dir = dir };
	in.dir = dir;
	r = load_read_begin(&in);
	if (r < 0)
		failure_memory(failure);
	else
		r = read_all(&in);
	clear(&in);
	return r;
}
