/* SPDX-License-Identifier: MIT */
/* Operations by name: LOOKUP; MKDIR, MKNOD, SYMLINK; UNLINK, RMDIR; RENAME; LINK. */
#include <errno.h>
#include <linux/fs.h>
#include <sys/stat.h>

#include "db/missing_names.h"
#include "db/procs.h"
#include "db/record_internal.h"
#include "db/touches.h"

int record_lookup(struct record *record, const struct work *w)
{
	struct row row = { 0 };
	struct file *file = NULL;
	int r = record_name_path(record, w, &row.path);

	if (r == 0 && w->ok)
		r = record_bind(record, w, &row, &file);
	if (r == 0 && w->op->result == -ENOENT && record_node_of(record, w))
		files_unbind(record->files, record_node_of(record, w), w->name, w->name_len, false,
			w->ev->time_ns);
	if (r < 0 || w->ev->aside)
		return r;
	if (!row.path.recorded)
		return record_put_excluded(record);
	if (file)
		record_touch(record, w, file, row.path.id)->nmeta++;
	else if (w->op->result == -ENOENT && row.path.id)
		r = missing_names_add(record->missing_names, w->process ? w->process->id : 0, row.path.id,
			w->ev->time_ns);
	return r < 0 ? r : record_put_name_op(record, w, &row);
}

/* MKDIR, MKNOD, SYMLINK */
int record_make(struct record *record, const struct work *w)
{
	struct row row = { 0 };
	struct file *file = NULL;
	struct path target;
	int r = record_name_path(record, w, &row.path);

	if (r == 0 && w->ok)
		r = record_bind(record, w, &row, &file);
	if (r < 0)
		return r;
	if (!row.path.recorded)
		return record_put_excluded(record);
	if (file)
		record_mark_created(record, w, file, &row.path);
	if (w->ev->op == OP_SYMLINK && w->name2) {
		r = paths_intern(record->paths, w->name2, w->name2_len, &target);
		row.path2 = target.id;
	}
	return r < 0 ? r : record_put_name_op(record, w, &row);
}

/* UNLINK, RMDIR */
int record_remove(struct record *record, const struct work *w)
{
	struct node *dir = record_node_of(record, w), *node;
	struct row row = { 0 };
	struct file *file = NULL;
	int r = record_name_path(record, w, &row.path);

	if (r < 0)
		return r;
	node = dir ? files_resolve(record->files, dir, w->name, w->name_len) : NULL;
	if (node) {
		file = node_file(node);
		row.file = file;
		row.version = file->version;
	}
	if (node && w->ok) {
		files_unbind(record->files, dir, w->name, w->name_len, true, w->ev->time_ns);
		file->removed_ns = w->ev->time_ns + w->op->latency_ns;
	}
	if (!row.path.recorded)
		return record_put_excluded(record);
	if (file && w->ok)
		record_touch(record, w, file, row.path.id)->unlinked = true;
	return record_put_name_op(record, w, &row);
}

/* The directories of the two names of a rename, and the nodes that the names led to; NULL: not known. */
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
	else if (e->node2)
		node_file(e->node2)->removed_ns = now + w->op->latency_ns;
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
		record_touch_data(record, w, file, row->path2, true)->renamed = true;
	if (other && (w->op->flags & RENAME_EXCHANGE))
		record_touch_data(record, w, other, row->path.id, true)->renamed = true;
	else if (other)
		record_touch(record, w, other, row->path2)->unlinked = true;
}

int record_rename(struct record *record, const struct work *w)
{
	struct ends e = { .dir = record_node_of(record, w), .dir2 = record_other_of(record, w) };
	struct row row = { 0 };
	struct path path2 = { .recorded = true };
	int r = record_name_path(record, w, &row.path);

	if (r == 0 && e.dir2)
		r = files_path(record->files, e.dir2, w->name2, w->name2_len, &path2);
	if (r < 0)
		return r;
	row.path2 = path2.id;
	if (w->places && w->places->moved) {
		e.node = w->places->moved;
	} else if (e.dir && e.dir2) {
		e.node = files_resolve(record->files, e.dir, w->name, w->name_len);
		e.node2 = files_resolve(record->files, e.dir2, w->name2, w->name2_len);
	}
	if (e.node) {
		row.file = node_file(e.node);
		row.version = node_file(e.node)->version;
	}
	if (e.node2 && e.node2 != e.node)
		row.file2 = node_file(e.node2)->id;
	if (w->ok && e.dir && e.dir2) {
		if (!w->places || !w->places->moved)
			r = move(record, w, &e);
		if (row.path.recorded || path2.recorded)
			touch_moved(record, w, &e, &row);
	}
	if (r < 0 || (!row.path.recorded && !path2.recorded))
		return r < 0 ? r : record_put_excluded(record);
	return record_put_name_op(record, w, &row);
}

int record_link(struct record *record, const struct work *w)
{
	struct node *node = record_node_of(record, w), *dir = record_other_of(record, w);
	struct row row = { .path = { .recorded = true } };
	struct path path2 = { .recorded = true };
	int r = record_node_path(record, w, node, &row.path);

	if (r == 0 && dir)
		r = files_path(record->files, dir, w->name, w->name_len, &path2);
	if (r < 0)
		return r;
	row.path2 = path2.id;
	if (node)
		row.file = node_file(node);
	if (node)
		row.version = node_file(node)->version;
	if (node && dir && w->ok) {
		node_file(node)->nlink++;
		node_file(node)->deleted = false;
		r = files_bind(record->files, dir, w->name, w->name_len, node, w->ev->time_ns);
	}
	if (r < 0 || (!row.path.recorded && !path2.recorded))
		return r < 0 ? r : record_put_excluded(record);
	if (node && w->ok)
		record_touch(record, w, node_file(node), path2.id)->nmeta++;
	return record_put_name_op(record, w, &row);
}
