/* SPDX-License-Identifier: MIT */
/* Operations that neither bind names, open files nor move data. */
#include <linux/falloc.h>

#include "db/record_internal.h"
#include "db/touches.h"

/* Without an open handle, or a failed open. */
int record_node(struct record *record, const struct work *w)
{
	struct node *node = record_node_of(record, w);
	struct row row = { .path = { .recorded = true } };
	struct file *file = node ? node_file(node) : NULL;
	int r = w->ev->aside ? 0 : record_node_path(record, w, node, &row.path);

	if (r < 0 || w->ev->aside)
		return r;
	if (!row.path.recorded)
		return record_put_excluded(record);
	if (file) {
		row.file = file;
		row.version = file->version;
		if (w->ok)
			record_touch(record, w, file, row.path.id)->nmeta++;
	}
	return record_put_name_op(record, w, &row);
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
	t = record_touch_data(record, w, file, path, true);
	t->truncated = true;
	t->emptied |= empties;
}

int record_truncate(struct record *record, const struct work *w)
{
	struct node *node = record_node_of(record, w);
	struct path path;
	int r = node ? files_path(record->files, node, NULL, 0, &path) : 0;

	if (r < 0)
		return r;
	if (node)
		resized(record, w, node_file(node), path.recorded ? path.id : 0);
	return record_node(record, w);
}

static int put_used(struct record *record, const struct work *w, struct handle *h)
{
	if (!h->recorded)
		return record_put_excluded(record);
	handles_used_by(h, w->image);
	return record_put_handle_op(record, w, h, h->file->version);
}

/* Of an open file: no metadata is read or changed. */
int record_handle_only(struct record *record, struct work *w, struct handle *h)
{
	return put_used(record, w, h);
}

/* Of an open file: metadata is read or changed. */
int record_handle(struct record *record, struct work *w, struct handle *h)
{
	if (h->recorded && w->ok)
		record_touch(record, w, h->file, h->path)->nmeta++;
	return put_used(record, w, h);
}

int record_handle_resize(struct record *record, struct work *w, struct handle *h)
{
	if (h->recorded)
		resized(record, w, h->file, h->path);
	return put_used(record, w, h);
}
