/* SPDX-License-Identifier: MIT */
/* Moves of data: READ, WRITE, SEND, RECV; COPY, SENDFILE, SPLICE; MMAP, MPROTECT, MREMAP. */
#include <sys/mman.h>
#include <sys/stat.h>

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

/* Read or written by the page cache, for a mapping. */
static bool is_mapped(const struct work *w, const struct handle *h)
{
	return w->ev->via == VIA_WRITEBACK || (w->ev->via == VIA_PAGECACHE && h->fidelity == FIDELITY_EXACT);
}

static void mark_mapped(struct record *record, const struct work *w, struct handle *h)
{
	/* The touch of an executed program has 'executed' instead. */
	if (!is_mapped(w, h) || h->mapped > 0 || (h->flags & FMODE_EXEC))
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

static bool reads_with(const struct work *w, uint32_t flag)
{
	return w->op->flags & flag && (w->ev->op == OP_RECV || w->ev->op == OP_SPLICE);
}

static int64_t moved_bytes(const struct work *w)
{
	int64_t asked = (int64_t)w->op->length;

	return reads_with(w, EVENT_CUTS) && w->op->result > asked ? asked : w->op->result;
}

static int count_data(struct record *record, const struct work *w, struct handle *h, bool is_write,
	int64_t offset, int64_t *ret_version)
{
	struct data data = { .time_ns = w->ev->time_ns,
		.latency_ns = w->op->latency_ns,
		.offset = offset,
		.bytes = moved_bytes(w),
		.is_write = is_write };
	struct file *file = h->file;

	*ret_version = file->version;
	if (!is_write && reads_with(w, EVENT_KEEPS))
		return 0;
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

static void count_bytes(struct record *record, const struct work *w, const struct handle *h)
{
	if (!h->recorded || (w->ev->op == OP_RECV && reads_with(w, EVENT_KEEPS)))
		return;
	record->counts.bytes += moved_bytes(w);
	if (h->by_call)
		return;
	record->counts.mount_bytes += moved_bytes(w);
	if (is_mapped(w, h) || h->flags & FMODE_EXEC)
		record->counts.paged_bytes += moved_bytes(w);
}

int record_data(struct record *record, struct work *w, struct handle *h)
{
	bool is_write = w->ev->op == OP_WRITE || w->ev->op == OP_SEND;
	int64_t version = h->file->version;
	int r = 0;

	if (w->ev->via == VIA_WRITEBACK)
		find_mapper(w, h);
	/* A write of nothing changes nothing. */
	if (w->ok && (!is_write || w->op->result > 0)) {
		r = count_data(record, w, h, is_write, w->op->offset, &version);
		mark_mapped(record, w, h);
		if (is_write)
			note_mixture(record, w, h);
		count_bytes(record, w, h);
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
	if (r == 0 && w->ok && w->op->result > 0) {
		r = count_data(record, w, h, true, w->op->offset, &version);
		count_bytes(record, w, h);
	}
	if (r < 0 || !h->recorded)
		return r < 0 ? r : record_put_excluded(record);
	return record_put_handle_op(record, w, h, version);
}

/* Only the side that was read is known: a mount's file, copied elsewhere.  The offset is that of the read. */
int record_copied(struct record *record, const struct work *w)
{
	struct handle *from = handles_find(record->handles, w->op->other);
	struct event ev = *w->ev;
	struct work read = *w;
	int64_t version;
	int r = 0;

	if (!from)
		return record_node(record, w);
	read.ev = &ev;
	read.op = &ev.u.op;
	ev.u.op.handle = w->op->other;
	version = from->file->version;
	if (w->ok) {
		r = count_data(record, w, from, false, w->op->offset, &version);
		count_bytes(record, w, from);
	}
	if (r < 0 || !from->recorded)
		return r < 0 ? r : record_put_excluded(record);
	return record_put_handle_op(record, &read, from, version);
}

/* Stores into a shared mapping are not seen. */
static void assume_stores(struct record *record, const struct work *w, struct handle *h)
{
	struct touch *t;

	h->mapped_version = file_write(h->file, w->process);
	procs_ref(w->image);
	procs_unref(h->mapper);
	h->mapper = w->image;
	files_dirty(record->files, h->file);
	t = record_touch(record, w, h->file, h->path);
	t->assumed |= ASSUMED_WRITE;
	/* One later than the mapping: the data that it shows were there before. */
	touch_out(t, w->ev->time_ns + w->op->latency_ns + 1);
}

/* Of the file: what a mapping has beyond its end does not count. */
static uint64_t bytes_until(const struct file *file, int64_t offset, uint64_t length)
{
	int64_t left = file->size_last - offset;

	if (file->size_last < 0 || offset < 0)
		return length;
	return left <= 0 ? 0 : (uint64_t)left < length ? (uint64_t)left : length;
}

static void count_mapped(struct record *record, const struct work *w, const struct handle *h)
{
	const struct event_op *op = w->op;

	if (w->ev->op == OP_MMAP && (op->flags & 0xff) != PROT_NONE)
		record->counts.mapped_bytes += bytes_until(h->file, op->offset, op->length);
	else if (w->ev->op == OP_MREMAP && op->length > op->other)
		record->counts.mapped_bytes += bytes_until(h->file, op->offset, op->length) -
					       bytes_until(h->file, op->offset, op->other);
}

static void mapped(struct record *record, const struct work *w, struct handle *h)
{
	unsigned prot = w->op->flags & 0xff, how = w->op->flags >> 8;

	if (h->mapped != 1) {
		h->mapped = 1;
		handles_dirty(record->handles, h);
	}
	count_mapped(record, w, h);
	if (w->ev->op == OP_MREMAP) /* the protection stays */
		return;
	if (prot & (PROT_READ | PROT_EXEC)) {
		file_read(h->file, w->process);
		record_touch_data(record, w, h->file, h->path, false)->mapped = true;
	}
	if ((prot & PROT_WRITE) && (how & MAP_SHARED) && record_is_writable(h->flags))
		assume_stores(record, w, h);
}

int record_map(struct record *record, struct work *w, struct handle *h)
{
	if (!h->recorded)
		return record_put_excluded(record);
	handles_used_by(h, w->image);
	if (w->ok && S_ISREG(h->file->mode))
		mapped(record, w, h);
	return record_put_handle_op(record, w, h, h->file->version);
}
