/* SPDX-License-Identifier: MIT */
/* Moves of data: READ, WRITE, COPY. */
#include "db/procs.h"
#include "db/record_internal.h"
#include "db/touches.h"

/* The kernel does not name the requester when it writes a mapping back.  With one open for writing it is the last user
 * of the handle; with several it stays unknown. */
static void find_mapper(struct work *w, struct handle *h)
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

	/* The touch of an executed program has 'executed' instead. */
	if (!mapped || h->mapped > 0 || (h->flags & FMODE_EXEC))
		return;
	h->mapped = 1;
	if (h->recorded)
		record_touch_data(record, w, h->file, h->path, false)->mapped = true;
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

int record_data(struct record *record, struct work *w, struct handle *h)
{
	int64_t version = h->file->version;
	int r = 0;

	if (w->ev->via == VIA_WRITEBACK)
		find_mapper(w, h);
	if (w->ok) {
		r = count_data(record, w, h, w->ev->op == OP_WRITE, w->op->offset, &version);
		mark_mapped(record, w, h);
		if (w->ev->op == OP_WRITE)
			note_mixture(record, w, h);
		if (h->recorded)
			record->counts.bytes += w->op->result;
	}
	if (r < 0 || !h->recorded)
		return r < 0 ? r : record_put_excluded(record);
	return record_put_handle_op(record, w, h, version);
}

/* Into the handle h, from the handle 'other'; offset and length are those of the write. */
int record_copy(struct record *record, struct work *w, struct handle *h)
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
		return r < 0 ? r : record_put_excluded(record);
	return record_put_handle_op(record, w, h, version);
}
