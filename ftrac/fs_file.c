/* SPDX-License-Identifier: MIT */

/* Operations on open files; fs_open.c opens them. */

#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <poll.h>
#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/saturate.h"
#include "ftrac/fs.h"
#include "ftrac/locks.h"
#include "ftrac/pages.h"

/*
 * Requests of at least this size may be pieces of a larger call: the kernel sends at most 256
 * pages, and 64 buffers of a vector have at least as much. Smaller requests count as whole calls.
 */
#define PIECE_LEAST (512u << 10)
#define COPY_MOST (16u << 20) /* bytes per request, with io_uring: other requests wait meanwhile */

static pthread_key_t buffer_key;
static pthread_once_t buffer_once = PTHREAD_ONCE_INIT;

static void make_buffer_key(void)
{
	pthread_key_create(&buffer_key, free); /* libfuse ends threads that are idle */
}

/*
 * The buffer for a read: the payload area of the ring, or a buffer of this thread that grows to the
 * largest request. NULL: out of memory.
 */
static char *read_buffer(const struct call *c, size_t size)
{
	static _Thread_local char *buffer;
	static _Thread_local size_t room;
	long page = sysconf(_SC_PAGESIZE);

#if FUSE_VERSION >= FUSE_MAKE_VERSION(3, 18)
	char *payload;
	size_t payload_size;

	if (c->fs->uring && fuse_req_get_payload(c->req, &payload, &payload_size, NULL) == 0 &&
		payload_size >= size)
		return payload;
#endif
	if (size > room) {
		pthread_once(&buffer_once, make_buffer_key);
		free(buffer);
		room = (size + page - 1) / page * page;
		buffer = aligned_alloc(page, room);
		if (!buffer)
			room = 0;
		pthread_setspecific(buffer_key, buffer);
	}
	return buffer;
}

/* At the first use after the open, another program may run in the thread that opened. */
static enum trace_lookup lookup_of(struct open_file *file)
{
	if (atomic_load_explicit(&file->used, memory_order_relaxed))
		return TRACE_DISCOVER;
	atomic_store_explicit(&file->used, true, memory_order_relaxed);
	return TRACE_CHECK;
}

#define DIOALIGN 0x2000U /* STATX_DIOALIGN, in headers of 2022 */

/* Whether direct I/O of that file requires aligned offsets; some file systems accept any. */
static bool has_sectors(int fd)
{
	struct {
		struct statx sx;
		char more[256]; /* for newer kernels */
	} room = { 0 };
	/* stx_dio_mem_align and stx_dio_offset_align follow the mount id. */
	const uint32_t *align =
		(const uint32_t *)((const char *)&room.sx + offsetof(struct statx, stx_mnt_id) +
				   sizeof(room.sx.stx_mnt_id));

	return statx(fd, "", AT_EMPTY_PATH, DIOALIGN, &room.sx) == 0 &&
	       (room.sx.stx_mask & DIOALIGN) && align[1] >= 512;
}

/*
 * Whether the source would refuse it: direct I/O of part of a sector. Larger units cannot be
 * checked: the kernel cuts an aligned request into pieces at the pages of its buffer.
 */
static bool is_odd(const struct open_file *file, const struct fuse_file_info *fi, size_t size,
	off_t off)
{
	return (fi->flags & O_DIRECT) && !fi->writepage && ((size | off) & 511) &&
	       has_sectors(file->fd);
}

/* Applies flags that fcntl(2) has changed. */
static void follow_flags(const struct call *c, struct open_file *file,
	const struct fuse_file_info *fi)
{
	int flags = fi->flags & O_NOATIME;

	if (flags == file->flags)
		return;
	file->flags = flags;
	if (c->fs->keep_atime)
		return;
	AS_REQUESTER(c, ON(file->fd), RESULT(fcntl(file->fd, F_SETFL,
		(fcntl(file->fd, F_GETFL) & ~O_NOATIME) | flags)));
}

/*
 * Waits for data. False if the requester was interrupted. With io_uring, where all requests of a
 * ring would wait, it waits for 10 ms at most: then the requester gets EINTR and retries.
 */
static bool await_data(const struct call *c, const struct open_file *file)
{
	struct pollfd pollfd = { .fd = file->fd, .events = POLLIN };

	if (c->fs->uring)
		return poll(&pollfd, 1, 10) != 0;
	do {
		if (fuse_req_interrupted(c->req) || fuse_session_exited(c->fs->session))
			return false;
	} while (poll(&pollfd, 1, 100) == 0);
	return true;
}

/* Some files of pseudo file systems have data only when something happens (/proc/kmsg). */
static ssize_t read_pseudo(const struct call *c, struct open_file *file, char *buffer, size_t size,
	off_t off, int flags)
{
	ssize_t n;

	do
		n = AS_REQUESTER(c, ON(file->fd), RESULT(file->stream
			? read(file->fd, buffer, size) : pread(file->fd, buffer, size, off)));
	while (n == -EAGAIN && !(flags & O_NONBLOCK) && await_data(c, file));
	return n == -EAGAIN && !(flags & O_NONBLOCK) ? -EINTR : n;
}

/*
 * Records the size of the call of which this request may be a piece. Not if the requester may be in
 * a page fault. The requester does not go on before the reply.
 */
static void see_call(struct call *c)
{
	struct event_op *op = &c->ev.u.op;
	uint64_t before;
	int64_t bytes;

	if (!c->fs->trace || c->ev.via != VIA_DIRECT || op->length < PIECE_LEAST || c->ev.aside)
		return;
	before = creds_raise(RIGHT(CAP_SYS_PTRACE));
	bytes = c->ctx->pid > 0 ? monitor_call_bytes(c->ctx->pid, c->ev.op == OP_WRITE, !c->fs->uring) : -ESRCH;
	creds_drop(before);
	op->call = bytes < (int64_t)op->length ? CALL_UNKNOWN : (uint64_t)bytes;
}

/* Bytes or -errno. */
static ssize_t read_source(const struct call *c, struct open_file *file, char *buffer, size_t size, off_t off,
	int flags)
{
	if (file->inode->mount->pseudo)
		return read_pseudo(c, file, buffer, size, off, flags);
	if (file->inode->mount->remote)
		return AS_REQUESTER(c, ON(file->fd), RESULT(pread(file->fd, buffer, size, off)));
	return RESULT(pread(file->fd, buffer, size, off)); /* the descriptor decides alone */
}

static ssize_t read_for_cache(const struct call *c, struct open_file *file, char *buffer, size_t size, off_t off,
	int flags)
{
	ssize_t n;

	if (!file->pages)
		return read_source(c, file, buffer, size, off, flags);
	pages_read_begin(file->pages, off, size);
	n = read_source(c, file, buffer, size, off, flags);
	pages_read_end(file->pages);
	return n;
}

void fs_read(fuse_req_t req, fuse_ino_t ino, size_t size, off_t off, struct fuse_file_info *fi)
{
	struct call c;
	struct open_file *file = file_of(fi);
	/*
	 * Reads by an application have a lock owner; reads of the page cache, which may be page
	 * faults, and reads of a program by execve(2) do not.
	 */
	bool cache = fi->lock_owner == 0 || file->exec;
	char *buffer;
	ssize_t n;

	call_begin(&c, req, OP_READ, cache ? TRACE_BLIND : lookup_of(file));
	c.ev.u.op.node = inode_of(c.fs->inodes, ino)->id;
	c.ev.u.op.handle = file->id;
	c.ev.u.op.offset = off;
	c.ev.u.op.length = size;
	c.ev.via = cache ? VIA_PAGECACHE : VIA_DIRECT;
	buffer = read_buffer(&c, size);
	follow_flags(&c, file, fi);
	if (!buffer)
		n = -ENOMEM;
	else
		n = (cache ? read_for_cache : read_source)(&c, file, buffer, size, off, fi->flags);
	if (n > 0 && !cache &&
		is_odd(file, fi, size, off)) /* at the end of the file it is accepted */
		n = -EINVAL;
	if (!file->by_call)
		see_call(&c);
	call_end_part(&c, file, n);
	if (n < 0)
		fuse_reply_err(req, -n);
	else
		fuse_reply_buf(req, buffer, n);
}

/*
 * The offset at which an append was written: the kernel sends the end as it knows it, but a native
 * writer may have appended meanwhile.
 */
static int64_t append_offset(const struct open_file *file, off_t asked, ssize_t n)
{
	struct stat st;

	if (n < 0 || fstat(file->fd, &st) < 0 || st.st_size != asked + n)
		return -1;
	return asked;
}

/*
 * Writes a page of a mapping to its offset, also if the file was opened for appending. Natively an
 * append-only file cannot be mapped for writing (EACCES). The kernel does not check that here, so
 * the store is refused. The kernel names no process and removes no bits: the daemon writes. Bytes
 * or -errno, as write_as().
 */
static ssize_t write_page(const struct call *c, const struct open_file *file, const char *buf,
	size_t size, off_t off)
{
	cleanup_fd int fd = -1;

	if (fs_is_append_only(file->fd))
		return -EPERM;
	creds_become_daemon();
	if (file->append) {
		fd = WITH_ROOM(c->fs->inodes, open(fd_path(file->fd).text, O_WRONLY | O_CLOEXEC));
		if (fd < 0)
			return fd;
	}
	return WITH_SPACE(c, RESULT(pwrite(fd >= 0 ? fd : file->fd, buf, size, off)));
}

/* NULL: writes go through the page cache, or the kernel passes data through; there is nothing to
 * merge. */
static struct pages *merging_pages(const struct open_file *file)
{
	return file->direct ? file->pages : NULL;
}

/* Writes only stored bytes: where a direct write is newer than the page, its bytes stay. */
static ssize_t write_back(struct call *c, const struct open_file *file, const char *buf, size_t size, off_t off)
{
	cleanup_fd int source = -1;
	cleanup_free char *merged = NULL;
	struct pages *pages = merging_pages(file);
	ssize_t n;

	if (!pages)
		return write_page(c, file, buf, size, off);
	source = inode_open_stores(c->fs->inodes, file->inode);
	pages_change_begin(pages);
	if (!pages_merge(pages, source, buf, size, off, &merged))
		c->ev.u.op.flags |= EVENT_UNSURE;
	n = write_page(c, file, merged ? merged : buf, size, off);
	pages_change_end(pages);
	return n;
}

/* Writes all bytes, and retries what there was no space for. */
static ssize_t write_all(const struct call *c, const struct open_file *file, const char *buf,
	size_t size, off_t off, int flags)
{
	size_t done = 0;
	ssize_t n;

	do {
		struct iovec rest = { .iov_base = (char *)buf + done, .iov_len = size - done };

		n = WITH_SPACE(c, RESULT(file->stream ? writev(file->fd, &rest, 1)
			: pwritev2(file->fd, &rest, 1, off + done, flags)));
		done += n > 0 ? n : 0;
	} while (n > 0 && done < size && !file->inode->mount->pseudo &&
		 inode_wait_for_space(c->fs->inodes, 0));
	return done ? (ssize_t)done : n;
}

static off_t end_of(int fd)
{
	struct stat st;

	return fstat(fd, &st) < 0 ? 0 : st.st_size;
}

/* Remembers what the source has in that range: a page may write it back, see pages.h. */
static void keep_replaced(const struct call *c, const struct open_file *file, off_t off, size_t size)
{
	cleanup_fd int source = -1;

	if (!pages_may_hold(file->pages, off, size))
		return;
	source = inode_open_stores(c->fs->inodes, file->inode);
	if (source != -ENOENT)
		pages_keep(file->pages, source, off, size);
}

static ssize_t write_as(const struct call *c, const struct open_file *file, const char *buf,
	size_t size, off_t off, bool append)
{
	ssize_t n;

	/* fcntl(2) has removed O_APPEND, which the source would have refused. */
	if (!append && file->opened_append && fs_is_append_only(file->fd))
		return -EPERM;
	n = AS_REQUESTER(c, ON_CONTENT(file->fd), write_all(c, file, buf, size, off, append ? RWF_APPEND : 0));
	call_changed(c, file->inode);
	return n;
}

static ssize_t write_direct(const struct call *c, const struct open_file *file, const char *buf, size_t size,
	off_t off, bool append)
{
	struct pages *pages = merging_pages(file);
	ssize_t n;

	if (!pages)
		return write_as(c, file, buf, size, off, append);
	pages_change_begin(pages);
	keep_replaced(c, file, append ? end_of(file->fd) : off, size);
	n = write_as(c, file, buf, size, off, append);
	pages_change_end(pages);
	return n;
}

void fs_write(fuse_req_t req, fuse_ino_t ino, const char *buf, size_t size, off_t off,
	struct fuse_file_info *fi)
{
	struct call c;
	struct open_file *file = file_of(fi);
	bool append = (fi->flags & O_APPEND) && !fi->writepage;
	ssize_t n;

	call_begin(&c, req, OP_WRITE, fi->writepage ? TRACE_BLIND : lookup_of(file));
	c.ev.u.op.node = inode_of(c.fs->inodes, ino)->id;
	c.ev.u.op.handle = file->id;
	c.ev.u.op.offset = off;
	c.ev.u.op.length = size;
	c.ev.via = fi->writepage ? VIA_WRITEBACK : file->direct ? VIA_DIRECT : VIA_PAGECACHE;
	if (fi->writepage)
		n = write_back(&c, file, buf, size, off);
	else
		n = is_odd(file, fi, size, off) ? -EINVAL
						: write_direct(&c, file, buf, size, off, append);
	if (append && c.fs->trace)
		c.ev.u.op.offset = append_offset(file, off, n);
	if (!file->by_call)
		see_call(&c);
	call_end_part(&c, file, n);
	if (n < 0)
		fuse_reply_err(req, -n);
	else
		fuse_reply_write(req, n);
}

/* This may come from the middle of an exec, which closes descriptors: do not read /proc of the
 * thread. */
void fs_flush(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi)
{
	struct call c;
	struct inode *inode;
	struct open_file *file;
	int copy, r;

	call_begin(&c, req, OP_FLUSH, TRACE_BLIND);
	inode = call_inode(&c, ino);
	if (c.fs->locks)
		locks_close(c.fs->locks, inode, fi->lock_owner);
	file = call_file(&c, fi);
	/* Gets the error that close(2) would report, without closing the file; local file systems
	 * report none. */
	copy = inode->mount->remote || inode->mount->stacked ? dup(file->fd) : -1;
	/* If there is no descriptor left for the test, that is not an error of the file. */
	r = copy >= 0 && close(copy) < 0 ? -errno : 0;
	call_end_part(&c, file, r);
	fuse_reply_err(req, -r);
}

void fs_release(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi)
{
	struct call c;
	struct open_file *file;

	call_begin(&c, req, OP_RELEASE, TRACE_BLIND);
	call_inode(&c, ino);
	file = call_file(&c, fi);
	if (c.fs->locks) {
		locks_release(c.fs->locks, file);
		flock(file->fd, LOCK_UN); /* for passthrough the kernel may keep it open */
	}
	fs_close_file(req, c.fs, file);
	call_reply(&c, 0);
}

/* Also of directories. */
void fs_fsync(fuse_req_t req, fuse_ino_t ino, int datasync, struct fuse_file_info *fi)
{
	struct call c;
	int fd;

	call_begin(&c, req, OP_FSYNC, TRACE_DISCOVER);
	call_inode(&c, ino);
	fd = call_file(&c, fi)->fd;
	call_reply(&c, (datasync ? fdatasync(fd) : fsync(fd)) < 0 ? -errno : 0);
}

void fs_fallocate(fuse_req_t req, fuse_ino_t ino, int mode, off_t offset, off_t length,
	struct fuse_file_info *fi)
{
	struct call c;
	struct inode *inode;
	struct open_file *file;
	int r;

	call_begin(&c, req, OP_FALLOCATE, TRACE_DISCOVER);
	inode = call_inode(&c, ino);
	c.ev.u.op.mode = mode;
	c.ev.u.op.offset = offset;
	c.ev.u.op.length = length;
	file = call_file(&c, fi);
	r = WITH_SPACE(&c, AS_REQUESTER(&c, ON_CONTENT(file->fd),
		RESULT(fallocate(file->fd, mode, offset, length))));
	if (r == 0 && mode & (FALLOC_FL_PUNCH_HOLE | FALLOC_FL_ZERO_RANGE))
		inode_zeroed(c.fs->inodes, inode, offset, saturate_add(offset, length));
	call_changed(&c, inode);
	call_reply(&c, r);
}

/* Bytes or -errno. */
static ssize_t copy_data(const struct call *c, const struct open_file *from, off_t off_in, const struct open_file *to,
	off_t off_out, size_t len, int flags)
{
	struct pages *pages = merging_pages(to);
	ssize_t n;

	if (pages) {
		pages_change_begin(pages);
		keep_replaced(c, to, off_out, len);
	}
	n = WITH_SPACE(c, AS_REQUESTER(c, ON_CONTENT(to->fd),
		RESULT(copy_file_range(from->fd, &off_in, to->fd, &off_out, len, flags))));
	if (pages)
		pages_change_end(pages);
	return n;
}

void fs_copy_file_range(fuse_req_t req, fuse_ino_t ino_in, off_t off_in,
	struct fuse_file_info *fi_in, fuse_ino_t ino_out, off_t off_out,
	struct fuse_file_info *fi_out, size_t len, int flags)
{
	struct call c;
	struct inode *inode;
	ssize_t n;

	call_begin(&c, req, OP_COPY, TRACE_DISCOVER);
	inode = call_inode(&c, ino_out);
	call_file(&c, fi_out);
	c.ev.u.op.other = file_of(fi_in)->id;
	c.ev.u.op.offset = off_out;
	c.ev.u.op.length = len;
	c.ev.via = VIA_COPY;
	if (c.fs->uring && len > COPY_MOST)
		len = COPY_MOST;
	n = copy_data(&c, file_of(fi_in), off_in, file_of(fi_out), off_out, len, flags);
	call_changed(&c, inode);
	if (n > 0) /* its time of access has changed */
		fuse_lowlevel_notify_inval_inode(c.fs->session, ino_in, -1, 0);
	call_end_part(&c, file_of(fi_out), n);
	if (n < 0)
		fuse_reply_err(req, -n);
	else
		fuse_reply_write(req, n);
}

/* Only requests about the file, whose arguments the kernel has checked. */
static bool is_allowed(unsigned int cmd)
{
	return cmd == FS_IOC_GETFLAGS || cmd == FS_IOC_SETFLAGS || cmd == FS_IOC_FSGETXATTR ||
	       cmd == FS_IOC_FSSETXATTR || cmd == FS_IOC_GETVERSION;
}

void fs_ioctl(fuse_req_t req, fuse_ino_t ino, unsigned int cmd, void *arg,
	struct fuse_file_info *fi, unsigned flags, const void *in_buf, size_t in_bufsz,
	size_t out_bufsz)
{
	_Alignas(8) char data[64] = { 0 };
	struct call c;
	struct inode *inode;
	struct open_file *file;
	int r;

	(void)arg;
	call_begin(&c, req, OP_IOCTL, TRACE_DISCOVER);
	inode = call_inode(&c, ino);
	file = call_file(&c, fi);
	if (!is_allowed(cmd) || !file || (flags & (FUSE_IOCTL_UNRESTRICTED | FUSE_IOCTL_COMPAT)) ||
		in_bufsz > sizeof(data) || out_bufsz > sizeof(data)) {
		call_reply(&c, -ENOTTY);
		return;
	}
	if (in_bufsz)
		memcpy(data, in_buf, in_bufsz);
	r = AS_REQUESTER(&c, ON(file->fd), RESULT(ioctl(file->fd, cmd, data)));
	/* It has changed the ctime; the kernel's copy is outdated. */
	if (r == 0 && (cmd == FS_IOC_SETFLAGS || cmd == FS_IOC_FSSETXATTR))
		call_forget_attributes(&c, inode);
	trace_end(c.fs->trace, &c.ev, r);
	if (r < 0)
		fuse_reply_err(req, -r);
	else
		fuse_reply_ioctl(req, 0, data, out_bufsz);
}
