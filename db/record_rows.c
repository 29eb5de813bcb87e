/* SPDX-License-Identifier: MIT */
#include "db/record_internal.h"

#include "db/tuples.h"
#include "db/metrics.h"
#include "db/op_times.h"
#include "db/procs.h"
#include "db/store.h"
#include "db/touches.h"

static bool moves_data(int op)
{
	switch (op) {
	case OP_READ: case OP_WRITE: case OP_COPY: case OP_SENDFILE: case OP_SPLICE: case OP_SEND: case OP_RECV:
		return true;
	default:
		return false;
	}
}

static bool is_open(const struct event *ev)
{
	return ev->op == OP_OPEN || ev->op == OP_OPENDIR || ev->op == OP_CREATE || ev->op == OP_TMPFILE;
}

/* A read or write as the application made it, by requests. */
static bool is_call(const struct event *ev)
{
	return ev->form == FORM_REQUEST && (ev->op == OP_READ || ev->op == OP_WRITE) && ev->via == VIA_DIRECT;
}

/* The columns 'code' and 'requester' of a row; see schema.sql. */
struct requester {
	int64_t code;
	struct value requester;
};

/* versions: how many versions follow the one that a 0 stands for. */
static int find_requester(struct record *record, const struct work *w, int64_t versions, struct requester *ret)
{
	int64_t image = w->image ? w->image->id : 0, thread = 0;
	int32_t tid = w->ev->tid;
	int r = 0;

	ret->code = w->ev->op | w->ev->via << 6 | versions << 9;
	if (w->image && tid == 0)
		ret->code |= 1 << 8;
	else if (tid != (w->image ? w->process->pid : 0))
		r = tuples_intern(record->threads, (int64_t[]){ image, tid }, &thread);
	ret->requester = V_INT(thread ? -thread : image);
	return r;
}

/* A NULL stands for the thread that opened the handle. */
static void spare_opener(const struct handle *h, struct requester *by)
{
	if (h->opener && by->requester.number == (h->thread ? -h->thread : h->opener->id))
		by->requester = V_NULL;
}

static void set_thread(struct handle *h, const struct work *w, const struct requester *by)
{
	if (is_open(w->ev) && !h->open.op && w->image && w->image == h->opener && by->requester.number < 0)
		h->thread = -by->requester.number;
}

/* Counts an operation whose row was put with the result r; the writer counts a failed one as lost.  bytes: -1 if it moved none. */
static int count_op(struct record *record, const struct work *w, const struct file *file, int64_t bytes, int r)
{
	const struct metric_op op = { .process = w->process ? w->process->id : 0, .file = file, .code = w->ev->op,
		.program = w->image ? w->image->comm : "",
		.time_ns = w->ev->time_ns, .latency_ns = w->op->latency_ns, .failed = w->op->result < 0, .bytes = bytes };

	if (r == 0)
		r = op_times_add(record->op_times, op.process, op.latency_ns);
	if (r == 0)
		r = metrics_add(record->metrics, &op);
	record->counts.ops += r == 0;
	return r;
}

static int count_handle_op(struct record *record, const struct work *w, const struct handle *h, int r)
{
	return count_op(record, w, h->file, moves_data(w->ev->op) && w->op->result >= 0 ? w->op->result : -1, r);
}

static bool has_range(const struct event *ev)
{
	switch (ev->op) {
	case OP_LOCK:
		return ev->form == FORM_CALL;
	case OP_MMAP:
	case OP_MUNMAP:
	case OP_MSYNC:
	case OP_MPROTECT:
	case OP_MREMAP:
		return true;
	default:
		return false;
	}
}

#define RANGE_BITS 7 /* of the flags in schema.sql */

static int64_t range_flags(const struct event *ev)
{
	uint32_t flags = ev->u.op.flags;

	return ev->op == OP_LOCK ? flags & ((1 << RANGE_BITS) - 1) : (flags & 7) | (flags >> 8 & 1) << 3;
}

/* Whether the row of an operation on a handle has the range. */
static bool fits_range(const struct event *ev)
{
	return has_range(ev) && ev->u.op.length <= INT64_MAX >> RANGE_BITS;
}

static int put_range(struct record *record, const struct event *ev)
{
	const struct event_op *op = &ev->u.op;

	return store_put(record->store, PUT_RANGE,
		(struct value[]){ V_INT(record->last_op), V_OPT(op->offset >= 0, op->offset),
			V_INT(op->length), V_INT(range_flags(ev)) });
}

#define LONG_LENGTH ((uint64_t)1 << 62) /* cp asks for nearly 2^63 bytes */

/* The columns 'offset' and 'length' of a row of ops_handle. */
static struct value offset_of(const struct event *ev)
{
	return V_OPT((moves_data(ev->op) || fits_range(ev)) && ev->u.op.offset >= 0, ev->u.op.offset);
}

static struct value length_of(const struct event *ev)
{
	const struct event_op *op = &ev->u.op;

	if (fits_range(ev))
		return V_INT((int64_t)op->length << RANGE_BITS | range_flags(ev));
	if (!moves_data(ev->op) || op->length == (uint64_t)op->result)
		return V_NULL;
	if (op->length <= LONG_LENGTH)
		return V_INT(op->length);
	return V_INT(op->length > INT64_MAX ? -1 : (int64_t)op->length - INT64_MAX - 1);
}

/* Whether the operation is one of those that the row of moved sums up, and all about it is in that row. */
static bool has_moved(const struct work *w, const struct handle *h)
{
	return w->op->result >= 0 && h->sum.nread + h->sum.nwrite > 0 && !(is_call(w->ev) && w->op->pieces != 1);
}

/* Where the operation is a part of the handle's rows; NULL: it has a row of its own. */
static struct end *end_of(struct handle *h, const struct work *w, const struct requester *by)
{
	if (by->requester.type != VALUE_NULL || by->code >> 9)
		return NULL;
	if (is_open(w->ev))
		return h->open.op ? NULL : &h->open;
	if (moves_data(w->ev->op))
		return h->data.op || h->has_data_rows || !has_moved(w, h) ? NULL : &h->data;
	switch (w->ev->op) {
	case OP_CLOSE: case OP_RELEASE: case OP_RELEASEDIR:
		return h->open.op && !h->close.op && w->op->result == 0 ? &h->close : NULL;
	case OP_GETATTR:
		return h->open.op && !h->stat.op && w->op->result == 0 && by->code == OP_GETATTR ? &h->stat : NULL;
	default:
		return NULL;
	}
}

int record_put_handle_op(struct record *record, const struct work *w, struct handle *h,
	int64_t version)
{
	const struct event_op *op = w->op;
	struct requester by;
	struct end *end;
	int r;

	if (!record->options.ops)
		return count_handle_op(record, w, h, 0);
	r = find_requester(record, w, version - h->version, &by);
	if (r == 0) {
		set_thread(h, w, &by);
		spare_opener(h, &by);
	}
	if (r == 0 && (end = end_of(h, w, &by))) {
		*end = (struct end){ ++record->last_op, by.code, w->ev->time_ns, op->latency_ns, op->result };
		if (end == &h->data) {
			h->data_offset = offset_of(w->ev);
			h->data_length = length_of(w->ev);
		}
		handles_dirty(record->handles, h);
		return count_handle_op(record, w, h, 0);
	}
	h->has_data_rows |= moves_data(w->ev->op);
	if (r == 0)
		r = store_put(record->store, PUT_OP_HANDLE,
			(struct value[]){ V_INT(++record->last_op), V_INT(by.code),
				V_INT(w->ev->time_ns - h->open_ns), V_INT(op->latency_ns),
				V_INT(op->handle), V_INT(op->result),
				offset_of(w->ev), length_of(w->ev), by.requester });
	if (r == 0 && is_call(w->ev) && op->pieces != 1)
		r = store_put(record->store, PUT_PIECES,
			(struct value[]){ V_INT(record->last_op), V_ID(op->pieces) });
	if (r == 0 && has_range(w->ev) && !fits_range(w->ev))
		r = put_range(record, w->ev);
	return count_handle_op(record, w, h, r);
}

int record_put_name_op(struct record *record, const struct work *w, const struct row *row)
{
	const struct event_op *op = w->op;
	struct requester by;
	int r;

	if (!record->options.ops)
		return count_op(record, w, row->file, -1, 0);
	r = find_requester(record, w, row->file ? row->version - 1 : 0, &by);
	if (r == 0)
		r = store_put(record->store, PUT_OP_NAME,
			(struct value[]){ V_INT(++record->last_op), V_INT(by.code),
				V_INT(w->ev->time_ns - record->options.start_ns),
				V_INT(op->latency_ns), by.requester, V_OPT(row->file, row->file ? row->file->id : 0),
				V_ID(row->path.id), V_INT(op->result) });
	if (r == 0 && has_range(w->ev))
		r = put_range(record, w->ev);
	if (r == 0 && (row->path2 || row->file2))
		r = store_put(record->store, PUT_SECOND_OPERAND,
			(struct value[]){
				V_INT(record->last_op), V_ID(row->path2), V_ID(row->file2) });
	return count_op(record, w, row->file, -1, r);
}

/* What is our own is left out, too, but not counted. */
int record_put_excluded(struct record *record)
{
	const struct paths_options *paths = &record->options.paths;

	record->counts.excluded += paths->include || paths->exclude || paths->scope;
	return 0;
}

struct touch *record_touch(struct record *record, const struct work *w, struct file *file,
	int64_t path)
{
	static struct touch nowhere; /* out of memory: this transaction is rolled back */
	struct touch *t =
		touches_get(record->touches, w->process, file, file->version, path, w->ev->time_ns);

	return t ? t : &nowhere;
}

struct touch *record_touch_data(struct record *record, const struct work *w, struct file *file,
	int64_t path, bool out)
{
	struct touch *t = record_touch(record, w, file, path);

	(out ? touch_out : touch_in)(t, w->ev->time_ns);
	return t;
}

/* Without a name: of the directory itself. */
static int path_in(struct record *record, struct node *dir, const char *name, size_t len,
	struct path *ret_path)
{
	*ret_path = (struct path){ .recorded = true };
	return dir ? files_path(record->files, dir, len ? name : NULL, len, ret_path) : 0;
}

int record_name_path(struct record *record, const struct work *w, struct path *ret_path)
{
	return path_in(record, record_node_of(record, w), w->name, w->name_len, ret_path);
}

int record_node_path(struct record *record, const struct work *w, struct node *node,
	struct path *ret_path)
{
	const struct place *asked = w->places ? &w->places->asked : NULL;

	if (node || !asked)
		return path_in(record, node, NULL, 0, ret_path);
	return path_in(record, asked->dir, asked->name, asked->len, ret_path);
}

int record_bind(struct record *record, const struct work *w, struct row *row,
	struct file **ret_file)
{
	struct node *dir = record_node_of(record, w), *node = record_other_of(record, w);
	int r;

	*ret_file = NULL;
	if (!dir || !node)
		return 0;
	if (files_is_late(node, w->ev->time_ns))
		r = 0;
	else
		r = files_bind(record->files, dir, w->name, w->name_len, node, w->ev->time_ns);
	*ret_file = node_file(node);
	row->file = *ret_file;
	row->version = (*ret_file)->version;
	return r;
}

void record_mark_created(struct record *record, const struct work *w, struct file *file,
	const struct path *path)
{
	struct touch *t;

	file->created = true;
	file->deleted = false;
	file_write(file, w->process);
	files_dirty(record->files, file);
	if (!path->recorded) /* it is left out, until it gets a name that is not */
		return;
	t = record_touch(record, w, file, path->id);
	t->created = true;
	touch_out(t, w->ev->time_ns);
}
