/* SPDX-License-Identifier: MIT */
#include "db/record.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/falloc.h>
#include <linux/fs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "db/calls.h"
#include "db/combos.h"
#include "db/declared.h"
#include "db/event.h"
#include "db/files.h"
#include "db/ghosts.h"
#include "db/handles.h"
#include "db/op_times.h"
#include "db/procs.h"
#include "db/store.h"
#include "db/text.h"
#include "db/touches.h"

/* In the flags of an OPEN by execve(2); not in any header. */
#define FMODE_EXEC 040
#define FLAGS_KNOWN 64

struct record {
	struct store *store;
	struct record_options options;
	struct paths *paths;
	struct procs *procs;
	struct files *files;
	struct handles *handles;
	struct touches *touches;
	struct ghosts *ghosts;
	struct op_times *op_times;
	struct combos *threads;
	struct calls *calls;
	struct record_counts counts;
	int64_t last_op;
	/* Some whose text is in the database; few programs use many. */
	uint32_t known_flags[FLAGS_KNOWN];
	size_t n_known_flags;
};

/* One operation on its way through. */
struct work {
	const struct event *ev;
	const struct event_op *op;
	const char *name; /* first text */
	size_t name_len;
	const char *name2; /* second text */
	size_t name2_len;
	struct image *image;
	struct process *process;
	bool ok;
};

/* What of it goes into the row of an operation by name. */
struct row {
	struct path path;
	int64_t file, version, path2, file2;
};

/* What clients can make as much of as they like. */
static int create_bounded(struct record *record, size_t kept)
{
	struct store *store = record->store;
	int64_t start = record->options.start_ns;
	int r = paths_create(store, &record->options.paths, kept, &record->paths);

	if (r == 0)
		r = touches_create(store, start, kept, &record->touches);
	if (r == 0)
		r = ghosts_create(store, start, kept, &record->ghosts);
	if (r == 0)
		r = files_create(store, record->paths, start, kept, &record->files);
	if (r == 0)
		r = handles_create(store, start, kept, &record->handles);
	return r < 0 ? r : combos_create(store, PUT_THREAD, 2, kept, &record->threads);
}

int record_create(struct store *store, const struct record_options *options,
	struct record **ret_record)
{
	struct record *record = calloc(1, sizeof(*record));
	int r;

	if (!record)
		return -ENOMEM;
	record->store = store;
	record->options = *options;
	r = create_bounded(record, options->kept ? options->kept : RECORD_KEPT);
	if (r == 0)
		r = calls_create(&record->calls);
	if (r == 0)
		r = procs_create(store, record->paths,
			&(struct procs_options){ .start_ns = options->start_ns }, &record->procs);
	if (r == 0)
		r = op_times_create(store, &record->op_times);
	if (r < 0) {
		record_destroy(record);
		return r;
	}
	*ret_record = record;
	return 0;
}

void record_destroy(struct record *record)
{
	if (!record)
		return;
	handles_destroy(record->handles);
	files_destroy(record->files);
	procs_destroy(record->procs);
	touches_destroy(record->touches);
	ghosts_destroy(record->ghosts);
	op_times_destroy(record->op_times);
	paths_destroy(record->paths);
	combos_destroy(record->threads);
	calls_destroy(record->calls);
	free(record);
}

struct record_counts record_counts(const struct record *record)
{
	return record->counts;
}

int record_flush(struct record *record)
{
	int r = files_flush(record->files);

	if (r == 0)
		r = handles_flush(record->handles);
	if (r == 0)
		r = touches_flush(record->touches);
	if (r == 0)
		r = ghosts_flush(record->ghosts);
	return r < 0 ? r : op_times_flush(record->op_times);
}

void record_prune(struct record *record, int64_t time_ns)
{
	procs_prune(record->procs, time_ns);
}

/* ---- rows of operations ---- */

static bool moves_data(int op)
{
	return op == OP_READ || op == OP_WRITE || op == OP_COPY;
}

/* A read or write as the application made it. */
static bool is_call(const struct event *ev)
{
	return (ev->op == OP_READ || ev->op == OP_WRITE) && ev->via == VIA_DIRECT;
}

/* The columns 'code' and 'who' of a row; see schema.sql. */
struct who {
	int64_t code;
	struct value who;
};

/* usual: the image that need not be said; versions: since the one that need not be said. */
static int find_who(struct record *record, const struct work *w, const struct image *usual,
	int64_t versions, struct who *ret_who)
{
	int64_t image = w->image ? w->image->id : 0, thread = 0;
	int32_t tid = w->ev->tid;
	int r = 0;

	ret_who->code = w->ev->op | w->ev->via << 6 | versions << 9;
	ret_who->who = w->image && w->image == usual ? V_NULL : V_INT(image);
	if (w->image && tid == 0)
		ret_who->code |= 1 << 8;
	else if (tid != (w->image ? w->process->pid : 0))
		r = combos_intern(record->threads, (int64_t[]){ image, tid }, &thread);
	if (thread)
		ret_who->who = V_INT(-thread);
	return r;
}

/* What fails is counted as lost, by the writer. */
static int recorded(struct record *record, const struct work *w, int r)
{
	if (r == 0)
		r = op_times_add(record->op_times, w->process ? w->process->id : 0, w->op->latency_ns);
	record->counts.ops += r == 0;
	return r;
}

static int put_handle_op(struct record *record, const struct work *w, const struct handle *h,
	int64_t version)
{
	const struct event_op *op = w->op;
	bool data = moves_data(w->ev->op);
	struct who who;
	int r;

	if (!record->options.ops)
		return recorded(record, w, 0);
	r = find_who(record, w, h->opener, version - h->version, &who);
	if (r == 0)
		r = store_put(record->store, PUT_OP_HANDLE,
			(struct value[]){ V_INT(++record->last_op), V_INT(who.code),
				V_INT(w->ev->time_ns - h->open_ns), V_INT(op->latency_ns),
				V_INT(op->handle), V_INT(op->result),
				V_OPT(data && op->offset >= 0, op->offset),
				V_OPT(data && op->length != (uint64_t)op->result, op->length),
				who.who });
	if (r == 0 && is_call(w->ev) && op->pieces != 1)
		r = store_put(record->store, PUT_PIECES,
			(struct value[]){ V_INT(record->last_op), V_ID(op->pieces) });
	return recorded(record, w, r);
}

static int put_name_op(struct record *record, const struct work *w, const struct row *row)
{
	const struct event_op *op = w->op;
	struct who who;
	int r;

	if (!record->options.ops)
		return recorded(record, w, 0);
	r = find_who(record, w, NULL, row->file ? row->version - 1 : 0, &who);
	if (r == 0)
		r = store_put(record->store, PUT_OP_NAME,
			(struct value[]){ V_INT(++record->last_op), V_INT(who.code),
				V_INT(w->ev->time_ns - record->options.start_ns),
				V_INT(op->latency_ns), who.who, V_ID(row->file), V_ID(row->path.id),
				V_INT(op->result) });
	if (r == 0 && (row->path2 || row->file2))
		r = store_put(record->store, PUT_SECOND,
			(struct value[]){
				V_INT(record->last_op), V_ID(row->path2), V_ID(row->file2) });
	return recorded(record, w, r);
}

static int excluded(struct record *record)
{
	record->counts.excluded++;
	return 0;
}

static struct touch *touch(struct record *record, const struct work *w, struct file *file,
	int64_t path)
{
	static struct touch nowhere; /* when out of memory: this transaction will not be committed */
	struct touch *t =
		touches_get(record->touches, w->process, file, file->version, path, w->ev->time_ns);

	return t ? t : &nowhere;
}

static struct touch *touch_data(struct record *record, const struct work *w, struct file *file,
	int64_t path, bool out)
{
	struct touch *t = touch(record, w, file, path);

	(out ? touch_out : touch_in)(t, w->ev->time_ns);
	return t;
}

/* ---- operations by name ---- */

static struct node *dir_of(struct record *record, const struct work *w)
{
	return files_node(record->files, w->op->node);
}

/* The path of the operation's name in its directory; unknown directories have none. */
static int name_path(struct record *record, const struct work *w, struct path *ret_path)
{
	struct node *dir = dir_of(record, w);

	*ret_path = (struct path){ .recorded = true };
	return dir ? files_path(record->files, dir, w->name, w->name_len, ret_path) : 0;
}

static int bind_new(struct record *record, const struct work *w, struct row *row,
	struct file **ret_file)
{
	struct node *dir = dir_of(record, w), *node = files_node(record->files, w->op->other);
	int r;

	*ret_file = NULL;
	if (!dir || !node)
		return 0;
	if (files_is_late(node, w->ev->time_ns))
		r = 0;
	else
		r = files_bind(record->files, dir, w->name, w->name_len, node, w->ev->time_ns);
	*ret_file = node_file(node);
	row->file = (*ret_file)->id;
	row->version = (*ret_file)->version;
	return r;
}

static int on_lookup(struct record *record, const struct work *w)
{
	struct row row = { 0 };
	struct file *file = NULL;
	int r = name_path(record, w, &row.path);

	if (r == 0 && w->ok)
		r = bind_new(record, w, &row, &file);
	if (r == 0 && w->op->result == -ENOENT && dir_of(record, w))
		files_unbind(record->files, dir_of(record, w), w->name, w->name_len, false,
			w->ev->time_ns);
	if (r < 0 || w->ev->aside)
		return r;
	if (!row.path.recorded)
		return excluded(record);
	if (file)
		touch(record, w, file, row.path.id)->nmeta++;
	else if (w->op->result == -ENOENT && row.path.id)
		r = ghosts_add(record->ghosts, w->process ? w->process->id : 0, row.path.id,
			w->ev->time_ns);
	return r < 0 ? r : put_name_op(record, w, &row);
}

static void created(struct record *record, const struct work *w, struct file *file, int64_t path)
{
	struct touch *t;

	file->created = true;
	file->deleted = false;
	file_write(file, w->process);
	files_dirty(record->files, file);
	t = touch(record, w, file, path);
	t->created = true;
	touch_out(t, w->ev->time_ns);
}

/* MKDIR, MKNOD, SYMLINK */
static int on_make(struct record *record, const struct work *w)
{
	struct row row = { 0 };
	struct file *file = NULL;
	struct path target;
	int r = name_path(record, w, &row.path);

	if (r == 0 && w->ok)
		r = bind_new(record, w, &row, &file);
	if (r < 0)
		return r;
	if (!row.path.recorded)
		return excluded(record);
	if (file)
		created(record, w, file, row.path.id);
	if (w->ev->op == OP_SYMLINK && w->name2) {
		r = paths_intern(record->paths, w->name2, w->name2_len, &target);
		row.path2 = target.id;
	}
	return r < 0 ? r : put_name_op(record, w, &row);
}

/* UNLINK, RMDIR */
static int on_remove(struct record *record, const struct work *w)
{
	struct node *dir = dir_of(record, w), *node;
	struct row row = { 0 };
	struct file *file = NULL;
	int r = name_path(record, w, &row.path);

	if (r < 0)
		return r;
	node = dir ? files_resolve(record->files, dir, w->name, w->name_len) : NULL;
	if (node) {
		file = node_file(node);
		row.file = file->id;
		row.version = file->version;
	}
	if (node && w->ok)
		files_unbind(record->files, dir, w->name, w->name_len, true, w->ev->time_ns);
	if (!row.path.recorded)
		return excluded(record);
	if (file && w->ok)
		touch(record, w, file, row.path.id)->unlinked = true;
	return put_name_op(record, w, &row);
}

/* The two ends of a rename. */
struct ends {
	struct node *dir, *dir2, *node, *node2;
};

static int move(struct record *record, const struct work *w, const struct ends *e)
{
	bool exchange = w->op->flags & RENAME_EXCHANGE;
	struct files *files = record->files;
	int64_t now = w->ev->time_ns;
	bool dirs = false;
	int r = 0;

	if (e->node == e->node2) /* two links of one file: rename(2) does nothing */
		return 0;
	if (S_ISDIR(e->node ? node_file(e->node)->mode : 0) ||
		S_ISDIR(e->node2 ? node_file(e->node2)->mode : 0))
		dirs = true;
	files_unbind(files, e->dir2, w->name2, w->name2_len, !exchange, now);
	files_unbind(files, e->dir, w->name, w->name_len, false, now);
	if (e->node)
		r = files_bind(files, e->dir2, w->name2, w->name2_len, e->node, now);
	if (r == 0 && exchange && e->node2)
		r = files_bind(files, e->dir, w->name, w->name_len, e->node2, now);
	if (e->node)
		files_set_moved(e->node, now + w->op->latency_ns);
	if (exchange && e->node2)
		files_set_moved(e->node2, now + w->op->latency_ns);
	if (r == 0 && dirs)
		r = files_moved(files, now);
	return r;
}

static void touch_moved(struct record *record, const struct work *w, const struct ends *e,
	const struct row *row)
{
	struct file *file = e->node ? node_file(e->node) : NULL;
	struct file *other = e->node2 ? node_file(e->node2) : NULL;

	if (file == other)
		return;
	if (file)
		touch_data(record, w, file, row->path2, true)->renamed = true;
	if (other && (w->op->flags & RENAME_EXCHANGE))
		touch_data(record, w, other, row->path.id, true)->renamed = true;
	else if (other)
		touch(record, w, other, row->path2)->unlinked = true;
}

static int on_rename(struct record *record, const struct work *w)
{
	struct ends e = { .dir = dir_of(record, w),
		.dir2 = files_node(record->files, w->op->other) };
	struct row row = { 0 };
	struct path path2 = { .recorded = true };
	int r = name_path(record, w, &row.path);

	if (r == 0 && e.dir2)
		r = files_path(record->files, e.dir2, w->name2, w->name2_len, &path2);
	if (r < 0)
		return r;
	row.path2 = path2.id;
	if (e.dir && e.dir2) {
		e.node = files_resolve(record->files, e.dir, w->name, w->name_len);
		e.node2 = files_resolve(record->files, e.dir2, w->name2, w->name2_len);
	}
	if (e.node) {
		row.file = node_file(e.node)->id;
		row.version = node_file(e.node)->version;
	}
	if (e.node2 && e.node2 != e.node)
		row.file2 = node_file(e.node2)->id;
	if (w->ok && e.dir && e.dir2) {
		r = move(record, w, &e);
		if (row.path.recorded || path2.recorded)
			touch_moved(record, w, &e, &row);
	}
	if (r < 0 || (!row.path.recorded && !path2.recorded))
		return r < 0 ? r : excluded(record);
	return put_name_op(record, w, &row);
}

static int on_link(struct record *record, const struct work *w)
{
	struct node *node = dir_of(record, w), *dir = files_node(record->files, w->op->other);
	struct row row = { .path = { .recorded = true } };
	struct path path2 = { .recorded = true };
	int r = 0;

	if (node)
		r = files_path(record->files, node, NULL, 0, &row.path);
	if (r == 0 && dir)
		r = files_path(record->files, dir, w->name, w->name_len, &path2);
	if (r < 0)
		return r;
	row.path2 = path2.id;
	if (node)
		row.file = node_file(node)->id;
	if (node)
		row.version = node_file(node)->version;
	if (node && dir && w->ok) {
		node_file(node)->nlink++;
		node_file(node)->deleted = false;
		r = files_bind(record->files, dir, w->name, w->name_len, node, w->ev->time_ns);
	}
	if (r < 0 || (!row.path.recorded && !path2.recorded))
		return r < 0 ? r : excluded(record);
	if (node && w->ok)
		touch(record, w, node_file(node), path2.id)->nmeta++;
	return put_name_op(record, w, &row);
}

/* What is done to a node without an open handle, or fails to open it: GETATTR, CHMOD, OPEN ... */
static int on_node(struct record *record, const struct work *w)
{
	struct node *node = dir_of(record, w);
	struct row row = { .path = { .recorded = true } };
	struct file *file = node ? node_file(node) : NULL;
	int r = node ? files_path(record->files, node, NULL, 0, &row.path) : 0;

	if (r < 0)
		return r;
	if (!row.path.recorded)
		return excluded(record);
	if (file) {
		row.file = file->id;
		row.version = file->version;
		if (w->ok)
			touch(record, w, file, row.path.id)->nmeta++;
	}
	return put_name_op(record, w, &row);
}

/* ---- opens ---- */

static int know_flags(struct record *record, uint32_t flags)
{
	char text[256];

	for (size_t i = 0; i < record->n_known_flags; i++)
		if (record->known_flags[i] == flags)
			return 0;
	if (record->n_known_flags == FLAGS_KNOWN)
		record->n_known_flags = 0;
	record->known_flags[record->n_known_flags++] = flags;
	text_open_flags(flags, text, sizeof(text));
	return store_put(record->store, PUT_FLAG_TEXT,
		(struct value[]){ V_INT(flags), V_STR(text) });
}

static bool is_writable(uint32_t flags)
{
	return (flags & O_ACCMODE) != O_RDONLY;
}

static struct handle *open_handle(struct record *record, const struct work *w, struct file *file,
	const struct path *path)
{
	struct handle *h = handles_open(record->handles, w->op->handle, w->image);

	if (!h)
		return NULL;
	h->file = file;
	h->path = path->id;
	h->recorded = path->recorded;
	h->flags = w->op->flags;
	h->fidelity = w->ev->fidelity;
	h->open_ns = w->ev->time_ns;
	if (!S_ISREG(file->mode) || (h->flags & O_ACCMODE) == O_WRONLY)
		h->mapped = 0;
	if (is_writable(h->flags))
		file->write_handles++;
	return h;
}

/*
 * Data passes by the kernel alone: all that will be known is what the file was opened for.  What
 * was made or emptied by this open has nothing in it to be read, and is written in any case.
 */
static void assume_data(struct record *record, const struct work *w, struct handle *h)
{
	struct file *file = h->file;
	bool fresh = h->created || (h->flags & O_TRUNC);
	struct touch *t;

	if (h->fidelity != FIDELITY_OPEN || !S_ISREG(file->mode))
		return;
	touch(record, w, file, h->path)->assumed |= ASSUMED_UNCOUNTED;
	if ((h->flags & O_ACCMODE) != O_WRONLY && !fresh && !(h->flags & FMODE_EXEC)) {
		touch_data(record, w, file, h->path, false)->assumed |= ASSUMED_READ;
		file_read(file, w->process);
	}
	if (is_writable(h->flags)) {
		file_write(file, w->process);
		files_dirty(record->files, file);
		t = touch(record, w, file, h->path);
		t->assumed |= ASSUMED_UNCOUNTED | (fresh ? 0 : ASSUMED_WRITE);
		touch_out(t, w->ev->time_ns + w->op->latency_ns +
				     1); /* behind what was there to be read */
	}
}

/* A file, or directory, is open now; with the row of the operation. */
static int opened(struct record *record, const struct work *w, struct file *file,
	const struct path *path)
{
	struct handle *h = open_handle(record, w, file, path);
	struct touch *t;
	int r;

	if (!h)
		return -ENOMEM;
	if (w->ev->op == OP_CREATE || w->ev->op == OP_TMPFILE) {
		h->created = true;
		h->mode = w->op->mode;
		created(record, w, file, path->id);
	} else if (h->flags & O_TRUNC) {
		file_truncate(file);
		file_write(file, w->process);
		files_dirty(record->files, file);
	}
	h->version = file->version;
	if (!h->recorded)
		return excluded(record);
	t = touch(record, w, file, path->id);
	t->opens++;
	if ((h->flags & O_TRUNC) && !h->created) {
		t->truncated = t->emptied = true;
		touch_out(t, w->ev->time_ns);
	}
	if (h->flags & FMODE_EXEC) {
		t->executed = true;
		touch_in(t, w->ev->time_ns);
		file_read(file, w->process);
	}
	r = know_flags(record, h->flags);
	if (r == 0)
		r = put_handle_op(record, w, h, file->version);
	assume_data(record, w, h);
	return r;
}

static int on_open(struct record *record, const struct work *w)
{
	struct node *node = dir_of(record, w);
	struct path path;
	int r;

	if (!w->ok || !node)
		return on_node(record, w);
	r = files_path(record->files, node, NULL, 0, &path);
	return r < 0 ? r : opened(record, w, node_file(node), &path);
}

static int on_create(struct record *record, const struct work *w)
{
	struct row row = { 0 };
	struct file *file = NULL;
	int r = name_path(record, w, &row.path);

	if (r == 0 && w->ok)
		r = bind_new(record, w, &row, &file);
	if (r == 0 && file)
		return opened(record, w, file, &row.path);
	if (r < 0)
		return r;
	return row.path.recorded ? put_name_op(record, w, &row) : excluded(record);
}

/* A file without a name; it is called as the kernel calls it. */
static int on_tmpfile(struct record *record, const struct work *w)
{
	struct node *dir = dir_of(record, w), *node = files_node(record->files, w->op->other);
	struct path path;
	char name[32];
	int r;

	if (!w->ok || !dir || !node)
		return on_node(record, w);
	r = files_bind_unnamed(record->files, dir, name,
		snprintf(name, sizeof(name), "#%llu", (unsigned long long)node_file(node)->key.ino),
		node, w->ev->time_ns);
	if (r == 0)
		r = files_path(record->files, node, NULL, 0, &path);
	if (r < 0)
		return r;
	r = opened(record, w, node_file(node), &path);
	node_file(node)->deleted = true;
	return r;
}

/* ---- operations on handles ---- */

/* The kernel writes a mapping back in nobody's name; with several writers it may be anybody's. */
static void find_who_mapped(struct work *w, struct handle *h)
{
	if (w->image)
		return;
	w->image = h->file->write_handles <= 1 ? h->last : NULL;
	w->process = w->image ? w->image->process : NULL;
}

static void mark_mapped(struct record *record, const struct work *w, struct handle *h)
{
	bool mapped = w->ev->via == VIA_WRITEBACK ||
		      (w->ev->via == VIA_PAGECACHE && h->fidelity == FIDELITY_EXACT);

	/* That a program is run is said by 'executed'; a script's is only read. */
	if (!mapped || h->mapped > 0 || (h->flags & FMODE_EXEC))
		return;
	h->mapped = 1;
	if (h->recorded)
		touch_data(record, w, h->file, h->path, false)->mapped = true;
}

static void note_mixture(struct record *record, const struct work *w, const struct handle *h)
{
	struct file *file = h->file;

	if (w->ev->via != VIA_WRITEBACK || !(w->ev->u.op.flags & EVENT_UNSURE) || file->mixed)
		return;
	file->mixed = true;
	if (record->counts.mixed++ == 0)
		record->counts.mixed_file = file->id;
}

static int count_data(struct record *record, const struct work *w, struct handle *h, bool is_write,
	int64_t offset, int64_t *ret_version)
{
	struct data data = { .time_ns = w->ev->time_ns,
		.latency_ns = w->op->latency_ns,
		.offset = offset,
		.bytes = w->op->result,
		.is_write = is_write };
	struct file *file = h->file;

	data.version = is_write ? file_write(file, w->process) : file_read(file, w->process);
	*ret_version = data.version;
	if (is_write && offset >= 0 && offset + data.bytes > file->size_last) {
		file->size_last = offset + data.bytes;
		files_dirty(record->files, file);
	}
	if (!h->recorded)
		return 0;
	return handles_data(record->handles, h, w->image, &data);
}

static int on_data(struct record *record, struct work *w, struct handle *h)
{
	int64_t version = h->file->version;
	int r = 0;

	if (w->ev->via == VIA_WRITEBACK)
		find_who_mapped(w, h);
	if (w->ok) {
		r = count_data(record, w, h, w->ev->op == OP_WRITE, w->op->offset, &version);
		mark_mapped(record, w, h);
		if (w->ev->op == OP_WRITE)
			note_mixture(record, w, h);
		if (h->recorded)
			record->counts.bytes += w->op->result;
	}
	if (r < 0 || !h->recorded)
		return r < 0 ? r : excluded(record);
	return put_handle_op(record, w, h, version);
}

/* Into the handle, from the handle 'other'; offset and length as of a write. */
static int on_copy(struct record *record, struct work *w, struct handle *h)
{
	struct handle *from = handles_find(record->handles, w->op->other);
	int64_t version = h->file->version, ignored;
	int r = 0;

	if (w->ok && from)
		r = count_data(record, w, from, false, -1, &ignored);
	if (r == 0 && w->ok) {
		r = count_data(record, w, h, true, w->op->offset, &version);
		if (h->recorded)
			record->counts.bytes += w->op->result;
	}
	if (r < 0 || !h->recorded)
		return r < 0 ? r : excluded(record);
	return put_handle_op(record, w, h, version);
}

/* TRUNCATE and FALLOCATE change a file without moving data. */
static void resized(struct record *record, const struct work *w, struct file *file, int64_t path)
{
	int64_t size = w->op->length;
	bool empties = w->ev->op == OP_TRUNCATE && size == 0;
	struct touch *t;

	if (!w->ok)
		return;
	if (empties)
		file_truncate(file);
	file_write(file, w->process);
	if (w->ev->op == OP_TRUNCATE)
		file->size_last = size;
	else if (!(w->op->mode & FALLOC_FL_KEEP_SIZE) && w->op->offset + size > file->size_last)
		file->size_last = w->op->offset + size;
	files_dirty(record->files, file);
	if (!path)
		return;
	t = touch_data(record, w, file, path, true);
	t->truncated = true;
	t->emptied |= empties;
}

static int on_truncate(struct record *record, const struct work *w)
{
	struct node *node = dir_of(record, w);
	struct path path;
	int r = node ? files_path(record->files, node, NULL, 0, &path) : 0;

	if (r < 0)
		return r;
	if (node)
		resized(record, w, node_file(node), path.recorded ? path.id : 0);
	return on_node(record, w);
}

/*
 * Through an open for reading only that was never read the file may have been read all the same
 * - mapped, or out of the page cache: nobody could tell.
 */
static void assume_read(struct record *record, struct handle *h)
{
	struct touch *t;

	if (!h->recorded || !S_ISREG(h->file->mode) || is_writable(h->flags) || h->sum.nread ||
		h->mapped > 0 || (h->flags & FMODE_EXEC) || h->fidelity == FIDELITY_OPEN)
		return;
	t = touches_get(record->touches, h->opener ? h->opener->process : NULL, h->file, h->version,
		h->path, h->open_ns);
	if (t) {
		t->assumed |= ASSUMED_READ;
		touch_in(t, h->open_ns);
	}
	if (h->file->version == h->version)
		file_read(h->file, h->opener ? h->opener->process : NULL);
}

static int close_handle(struct record *record, struct handle *h, int64_t time_ns)
{
	assume_read(record, h);
	if (is_writable(h->flags) && --h->file->write_handles == 0)
		h->file->mixed = false;
	return handles_close(record->handles, h, time_ns);
}

static int on_release(struct record *record, struct work *w, struct handle *h)
{
	int r, closed;

	if (!w->image)
		w->image = h->last;
	w->process = w->image ? w->image->process : NULL;
	r = h->recorded ? put_handle_op(record, w, h, h->file->version) : excluded(record);
	closed = close_handle(record, h, w->ev->time_ns + w->op->latency_ns);
	return r < 0 ? r : closed;
}

/* FLUSH, FSYNC, READDIR, GETATTR of an open file ... */
static int on_handle(struct record *record, struct work *w, struct handle *h)
{
	if (!h->recorded)
		return excluded(record);
	handles_used_by(h, w->image);
	if (w->ev->op == OP_FALLOCATE || w->ev->op == OP_TRUNCATE)
		resized(record, w, h->file, h->path);
	else if (w->ok && w->ev->op != OP_FLUSH && w->ev->op != OP_FSYNC && w->ev->op != OP_LSEEK)
		touch(record, w, h->file, h->path)->nmeta++;
	return put_handle_op(record, w, h, h->file->version);
}

static int on_handle_op(struct record *record, struct work *w)
{
	struct handle *h = handles_find(record->handles, w->op->handle);

	if (!h) /* of a time when something was lost */
		return on_node(record, w);
	switch (w->ev->op) {
	case OP_READ:
	case OP_WRITE:
		return on_data(record, w, h);
	case OP_COPY:
		return on_copy(record, w, h);
	case OP_RELEASE:
	case OP_RELEASEDIR:
		return on_release(record, w, h);
	default:
		return on_handle(record, w, h);
	}
}

static int on_op(struct record *record, const struct event *ev, const char *text, size_t len)
{
	struct work w = { .ev = ev, .op = &ev->u.op, .name = text, .ok = ev->u.op.result >= 0 };

	w.name_len = strnlen(text, len);
	if (w.name_len < len) {
		w.name2 = text + w.name_len + 1;
		w.name2_len = len - w.name_len - 1;
	}
	w.image = procs_find(record->procs, ev->tid, ev->time_ns);
	w.process = w.image ? w.image->process : NULL;
	if (ev->aside && ev->op != OP_LOOKUP)
		return 0;
	switch (ev->op) {
	case OP_LOOKUP:
		return on_lookup(record, &w);
	case OP_CREATE:
		return on_create(record, &w);
	case OP_OPEN:
	case OP_OPENDIR:
		return on_open(record, &w);
	case OP_TMPFILE:
		return on_tmpfile(record, &w);
	case OP_MKDIR:
	case OP_MKNOD:
	case OP_SYMLINK:
		return on_make(record, &w);
	case OP_UNLINK:
	case OP_RMDIR:
		return on_remove(record, &w);
	case OP_RENAME:
		return on_rename(record, &w);
	case OP_LINK:
		return on_link(record, &w);
	}
	if (ev->u.op.handle)
		return on_handle_op(record, &w);
	return ev->op == OP_TRUNCATE ? on_truncate(record, &w) : on_node(record, &w);
}

/* Reads and writes have no text. */
static int on_request(struct record *record, const struct event *ev, const char *text, size_t len)
{
	struct event broken, whole = *ev;
	int r = 0;

	while (r == 0 && calls_broken(record->calls, ev, &broken))
		r = on_op(record, &broken, "", 0);
	if (r < 0 || calls_take(record->calls, &whole) == CALLS_KEPT)
		return r;
	return on_op(record, &whole, text, len);
}

int record_event(struct record *record, const struct event *ev, const char *text, size_t len)
{
	const char *second;

	switch (ev->kind) {
	case EVENT_OP:
		return on_request(record, ev, text, len);
	case EVENT_NODE:
		return files_add_node(record->files, &ev->u.node);
	case EVENT_FORGET:
		files_forget_node(record->files, ev->u.node.id);
		return 0;
	case EVENT_MOUNT:
		if (len == 0 || text[len - 1])
			return 0;
		second = text + strlen(text) + 1;
		return files_add_mount(record->files, ev->u.mount.id, text,
			second < text + len ? second : NULL);
	default:
		if (ev->kind == EVENT_EXIT && ev->u.process.tid > 0)
			calls_end(record->calls, ev->u.process.tid, ev->time_ns);
		return procs_event(record->procs, ev, text, len);
	}
}

static void finish_handle(void *arg, struct handle *handle)
{
	assume_read(arg, handle);
}

int record_finish(struct record *record)
{
	const char *declared = record->options.declared;
	struct event rest;
	int r = 0;

	while (r == 0 && calls_rest(record->calls, &rest))
		r = on_op(record, &rest, "", 0);
	if (r < 0)
		return r;
	handles_each(record->handles, finish_handle, record);
	return declared ? declared_store(record->store, record->paths, declared) : 0;
}
