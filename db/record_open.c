/* SPDX-License-Identifier: MIT */
/* Opens and closes: OPEN, OPENDIR; CREATE; TMPFILE; RELEASE, RELEASEDIR. */
#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>

#include "base/saturate.h"
#include "db/procs.h"
#include "db/record_internal.h"
#include "db/store.h"
#include "db/text.h"
#include "db/touches.h"

#define LATE_NS 1000000000

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
	h->by_call = w->ev->form == FORM_CALL;
	/* System calls show each mapping, but not that of a program which the kernel executes. */
	if (!S_ISREG(file->mode) || (h->flags & O_ACCMODE) == O_WRONLY ||
		(h->fidelity == FIDELITY_CALL && !(h->flags & FMODE_EXEC)))
		h->mapped = 0;
	file_open(file, h->open_ns);
	if (record_is_writable(h->flags))
		file->write_handles++;
	return h;
}

/*
 * With FIDELITY_OPEN ftrac sees no reads and writes.  The flags of the open then stand for them.  An open that creates
 * or empties the file is certainly a write, and there is nothing to read.
 */
static void assume_data(struct record *record, const struct work *w, struct handle *h)
{
	struct file *file = h->file;
	bool fresh = h->created || (h->flags & O_TRUNC);
	struct touch *t;

	if (h->fidelity != FIDELITY_OPEN || !S_ISREG(file->mode))
		return;
	record_touch(record, w, file, h->path)->assumed |= ASSUMED_UNCOUNTED;
	if ((h->flags & O_ACCMODE) != O_WRONLY && !fresh && !(h->flags & FMODE_EXEC)) {
		record_touch_data(record, w, file, h->path, false)->assumed |= ASSUMED_READ;
		file_read(file, w->process);
	}
	if (record_is_writable(h->flags)) {
		file_write(file, w->process);
		files_dirty(record->files, file);
		t = record_touch(record, w, file, h->path);
		t->assumed |= ASSUMED_UNCOUNTED | (fresh ? 0 : ASSUMED_WRITE);
		/* One later than the open: the data read was there before. */
		touch_out(t, w->ev->time_ns + w->op->latency_ns + 1);
	}
}

static bool empties(const struct work *w, const struct handle *h)
{
	return (h->flags & O_TRUNC) && !h->created && !w->ev->aside && S_ISREG(h->file->mode);
}

static void touch_opened(struct record *record, const struct work *w, struct handle *h)
{
	struct touch *t = record_touch(record, w, h->file, h->path);

	t->opens += !w->ev->aside;
	if (empties(w, h)) {
		t->truncated = t->emptied = true;
		touch_out(t, w->ev->time_ns);
	}
	if (h->flags & FMODE_EXEC) {
		t->executed = true;
		touch_in(t, w->ev->time_ns);
		file_read(h->file, w->process);
	}
}

/* Adds the handle and the row of an open that succeeded, of a file or a directory.  An open aside has no row: the handle
 * was open before, or the kernel opened a program to execute it. */
static int opened(struct record *record, const struct work *w, struct file *file,
	const struct path *path)
{
	struct handle *h = open_handle(record, w, file, path);
	int r;

	if (!h)
		return -ENOMEM;
	if (w->ev->op == OP_CREATE || w->ev->op == OP_TMPFILE) {
		h->created = true;
		h->mode = w->op->mode;
		record_mark_created(record, w, file, path);
	} else if (empties(w, h)) {
		file_truncate(file);
		file_write(file, w->process);
		files_dirty(record->files, file);
	}
	h->version = file->version;
	if (!h->recorded)
		return record_put_excluded(record);
	if (!w->ev->aside || (h->flags & FMODE_EXEC))
		touch_opened(record, w, h);
	r = know_flags(record, h->flags);
	if (r == 0 && !w->ev->aside)
		r = record_put_handle_op(record, w, h, file->version);
	assume_data(record, w, h);
	return r;
}

int record_open(struct record *record, const struct work *w)
{
	struct node *node = record_node_of(record, w);
	struct path path;
	int r;

	if (!w->ok || !node)
		return record_node(record, w);
	r = files_path(record->files, node, NULL, 0, &path);
	return r < 0 ? r : opened(record, w, node_file(node), &path);
}

int record_create_file(struct record *record, const struct work *w)
{
	struct row row = { 0 };
	struct file *file = NULL;
	int r = record_name_path(record, w, &row.path);

	if (r == 0 && w->ok)
		r = record_bind(record, w, &row, &file);
	if (r == 0 && file)
		return opened(record, w, file, &row.path);
	if (r < 0)
		return r;
	return row.path.recorded ? record_put_name_op(record, w, &row)
				 : record_put_excluded(record);
}

/* A file without a name; its path ends in what the kernel shows for it, "#INODE". */
int record_tmpfile(struct record *record, const struct work *w)
{
	struct node *dir = record_node_of(record, w), *node = record_other_of(record, w);
	struct path path;
	char name[32];
	int r;

	if (!w->ok || !dir || !node)
		return record_node(record, w);
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

/* A regular file that was open for reading only, and not read through this handle, may have been mapped or read from
 * the page cache.  ftrac cannot see that, so it assumes a read. */
void record_assume_read(struct record *record, struct handle *h)
{
	struct touch *t;

	if (!h->recorded || !S_ISREG(h->file->mode) || record_is_writable(h->flags) ||
		h->sum.nread || h->mapped > 0 || (h->flags & FMODE_EXEC) ||
		h->fidelity == FIDELITY_OPEN || h->fidelity == FIDELITY_CALL)
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

/* The kernel closes a handle when its last mapping has ended: stores into it are assumed until then. */
static void end_mapping(struct record *record, const struct handle *h, int64_t time_ns)
{
	struct touch *t = h->mapper && h->recorded
				  ? touches_get(record->touches, h->mapper->process, h->file,
					    h->mapped_version, h->path, time_ns)
				  : NULL;

	if (t)
		touch_out(t, time_ns);
}

static int close_handle(struct record *record, struct handle *h, int64_t time_ns)
{
	if (!h->end_ns)
		file_close(h->file, time_ns);
	record_assume_read(record, h);
	end_mapping(record, h, time_ns);
	if (record_is_writable(h->flags) && --h->file->write_handles == 0)
		h->file->mixed = false;
	return handles_close(record->handles, h, time_ns);
}

int record_end_handles(struct record *record, int64_t time_ns)
{
	struct handle *h;
	int r = 0;

	while (r == 0 && (h = STAILQ_FIRST(&record->ending)) && saturate_add(h->end_ns, LATE_NS) < time_ns) {
		STAILQ_REMOVE_HEAD(&record->ending, next_ending);
		r = close_handle(record, h, h->end_ns);
	}
	return r;
}

/* Now, or when no call on it can come any more. */
static int end_handle(struct record *record, struct handle *h, int64_t time_ns)
{
	if (h->by_call || h->fidelity != FIDELITY_CALL)
		return close_handle(record, h, time_ns);
	if (h->end_ns)
		return 0;
	h->end_ns = time_ns;
	file_close(h->file, time_ns);
	STAILQ_INSERT_TAIL(&record->ending, h, next_ending);
	return record_end_handles(record, time_ns);
}

int record_release(struct record *record, struct work *w, struct handle *h)
{
	int r, closed;

	if (!w->image)
		w->image = h->last;
	w->process = w->image ? w->image->process : NULL;
	if (w->ev->aside)
		r = 0;
	else
		r = h->recorded ? record_put_handle_op(record, w, h, h->file->version)
				: record_put_excluded(record);
	closed = end_handle(record, h, w->ev->time_ns + w->op->latency_ns);
	return r < 0 ? r : closed;
}
