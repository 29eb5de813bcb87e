/* SPDX-License-Identifier: MIT */

/* Opening, creating and releasing files. */

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/rights.h"
#include "db/paths.h"
#include "ftrac/defer.h"
#include "ftrac/fs.h"
#include "ftrac/pages.h"
#include "ftrac/shares.h"

#define CREATE_TURNS 40
#define CREATE_FOUND 5
#define CREATE_NAP_US 1000
#define SHARE_TURNS 20
#define SHARE_NAP_US 1000

/*
 * Flags that are not passed to the source: those that the kernel has handled; O_DIRECT, because our
 * buffers would have to be aligned like the application's; O_APPEND, which fcntl(2) may remove and
 * which each write therefore passes itself.
 */
#define NOT_PASSED \
	(O_NOFOLLOW | O_DIRECT | O_CREAT | O_EXCL | O_NOCTTY | O_CLOEXEC | O_APPEND | FMODE_EXEC)

/* Whether --include and --exclude leave that file out of the trace. */
static bool is_left_out(const struct call *c, struct inode *inode)
{
	const char *source = c->fs->choice ? c->fs->choice->source : "";
	size_t n = strlen(source) > 1 ? strlen(source) : 0;
	char path[2 * PATH_MAX];

	if (!c->fs->choice)
		return false;
	memcpy(path, source, n);
	return inode_path(c->fs->inodes, inode, path + n, sizeof(path) - n) > 0 &&
	       !paths_are_recorded(c->fs->choice, path);
}

/*
 * Whether a file opened with these flags could be mapped and written. An append-only file (chattr
 * +a, which may also be set later) must not be. The kernel does not check that, and sends no
 * request when a program maps a file in passthrough.
 */
static bool appends_and_maps(int flags)
{
	return (flags & (O_ACCMODE | O_APPEND)) == (O_RDWR | O_APPEND);
}

/* No passthrough for files with suid or sgid bits: root's writes would remove the bits. */
static bool may_pass(const struct call *c, struct inode *inode, int flags)
{
	return c->fs->can_pass && !inode->mount->pseudo &&
	       !atomic_load(&inode->mount->no_backing) && !atomic_load(&inode->special) &&
	       (fs_passes_data(c->fs) || is_left_out(c, inode)) &&
	       !appends_and_maps(flags);
}

/*
 * For passthrough the kernel uses the credentials in effect here: the ids of the first requester
 * that opens the file, without capabilities that an ordinary user's write must not have.
 */
static int open_backing(const struct call *c, int fd)
{
	uint64_t before = creds_raise(RIGHT(CAP_SYS_ADMIN));
	int id = fuse_passthrough_open(c->req, fd);

	creds_drop(before);
	return id;
}

/* The kernel keeps the file open until this. */
static void close_backing(fuse_req_t req, int id)
{
	uint64_t before = creds_raise(RIGHT(CAP_SYS_ADMIN));

	fuse_passthrough_close(req, id);
	creds_drop(before);
}

/*
 * The first open decides between passthrough and requests, because the kernel wants one kind for
 * all opens of an inode. If a file must not be passed through although other opens are, it gets an
 * inode of its own: ESTALE makes the kernel look the name up again. The two inodes do not share
 * mappings, so this is only for files that must not be mapped for writing.
 */
static int join_opened(struct call *c, struct inode *inode, struct open_file *file, int flags)
{
	bool pass = may_pass(c, inode, flags);
	struct opened *opened = inode_opens_lock(c->fs->inodes, inode);
	int id;

	if (!opened)
		return -ENOMEM;
	if (!opened->is_decided) {
		opened->is_decided = true;
		opened->backing_id = pass ? open_backing(c, file->fd) : 0;
		if (pass && !opened->backing_id)
			atomic_store(&inode->mount->no_backing, true);
	} else if (opened->backing_id && appends_and_maps(flags) && fs_is_append_only(file->fd)) {
		inode_opens_unlock(c->fs->inodes, inode);
		inode_separate(c->fs->inodes, inode);
		return -ESTALE;
	}
	id = opened->backing_id;
	if (!id && !inode->mount->pseudo && !opened->pages && !(opened->pages = pages_create())) {
		inode_opens_unlock(c->fs->inodes, inode);
		return -ENOMEM;
	}
	file->pages = opened->pages;
	opened->executions += file->exec;
	inode_opened(inode, &file->link);
	inode_opens_unlock(c->fs->inodes, inode);
	return id;
}

static void set_data_path(struct call *c, struct open_file *file, int backing_id,
	struct fuse_file_info *fi)
{
	/* The size of a file in /proc is meaningless, but the page cache would rely on it. */
	bool direct = c->fs->fidelity != FIDELITY_CACHED || file->inode->mount->pseudo;

	fi->backing_id = backing_id;
	fi->direct_io = file->direct = direct && !backing_id;
	if (backing_id && file->link.writes)
		atomic_store(&file->inode->is_backed, true);
	c->ev.fidelity = file->by_call ? FIDELITY_CALL : backing_id ? FIDELITY_OPEN : direct ? FIDELITY_EXACT : FIDELITY_CACHED;
}

/* Whether this is the thread's first attempt: ESTALE makes the kernel retry once. */
static bool may_retry(const struct call *c, struct inode *inode)
{
	struct opened *opened = inode_opens_lock(c->fs->inodes, inode);
	bool first;

	if (!opened)
		return false;
	first = opened->asked_again != c->ctx->pid;
	opened->asked_again = first ? c->ctx->pid : 0;
	inode_opens_unlock(c->fs->inodes, inode);
	return first;
}

/*
 * Takes a descriptor from the requester's share. A close returns its descriptor by a request of its
 * own, which may be queued behind this one: wait for it, or with io_uring have the kernel retry.
 */
static int take_share(const struct call *c, struct inode *inode)
{
	for (int i = 0; i < SHARE_TURNS; i++) {
		if (shares_take(c->fs->shares, SHARE_FILES, c->ctx->uid))
			return 0;
		if (c->fs->uring)
			return may_retry(c, inode) ? -ESTALE : -EMFILE;
		usleep(SHARE_NAP_US);
	}
	return -EMFILE;
}

/* Makes the open file of inode for fi; it counts for the requester's share. */
static int make_file(struct call *c, struct inode *inode, int fd, struct fuse_file_info *fi)
{
	struct open_file *file;
	int backing_id, r = take_share(c, inode);

	if (r < 0)
		return r;
	file = calloc(1, sizeof(*file));
	if (!file) {
		shares_give(c->fs->shares, SHARE_FILES, c->ctx->uid);
		return -ENOMEM;
	}
	file->user = c->ctx->uid;
	file->fd = file->link.fd = fd;
	file->link.writes = (fi->flags & O_ACCMODE) != O_RDONLY;
	file->link.stores = (fi->flags & O_ACCMODE) == O_RDWR;
	file->inode = inode;
	file->append = (fi->flags & O_APPEND) && (fcntl(fd, F_GETFL) & O_APPEND);
	file->opened_append = fi->flags & O_APPEND;
	file->flags = fi->flags & O_NOATIME;
	file->exec = fi->flags & FMODE_EXEC;
	file->id = atomic_fetch_add(&c->fs->last_handle, 1) + 1;
	file->stream = inode->mount->pseudo && lseek(fd, 0, SEEK_CUR) < 0 && errno == ESPIPE;
	fi->nonseekable = file->stream;
	backing_id = join_opened(c, inode, file, fi->flags);
	if (backing_id < 0) {
		shares_give(c->fs->shares, SHARE_FILES, file->user);
		free(file);
		return backing_id;
	}
	if (!is_left_out(c, inode))
		call_watch(c, file);
	set_data_path(c, file, backing_id, fi);
	fi->fh = (uintptr_t)file;
	c->ev.u.op.handle = file->id;
	c->ev.u.op.flags = fi->flags;
	return 0;
}

void fs_close_file(fuse_req_t req, struct fs *fs, struct open_file *file)
{
	int backing_id;

	if (file->exec && inode_opens_lock(fs->inodes, file->inode)) {
		inode_opens(file->inode)->executions--;
		inode_opens_unlock(fs->inodes, file->inode);
	}
	backing_id = inode_closed(fs->inodes, file->inode, &file->link);
	if (backing_id)
		close_backing(req, backing_id);
	close(file->fd);
	shares_give(fs->shares, SHARE_FILES, file->user);
	fs_unwatch(fs, file);
	free(file);
}

void fs_left_open(struct open_link *link)
{
	struct open_file *file = (struct open_file *)((char *)link - offsetof(struct open_file, link));

	close(file->fd);
	free(file);
}

/*
 * A running program must not be truncated. The kernel checks that before the request, unless the
 * file is opened for reading only; then it checks afterwards.
 */
static bool runs(const struct call *c, struct inode *inode)
{
	unsigned executions;

	if (!inode_opens_lock(c->fs->inodes, inode))
		return false;
	executions = inode_opens(inode)->executions;
	inode_opens_unlock(c->fs->inodes, inode);
	return executions;
}

static int check_busy(const struct call *c, struct inode *inode, int flags)
{
	bool busy = (flags & O_TRUNC) && (flags & O_ACCMODE) == O_RDONLY && runs(c, inode);

	/* The daemon learns of the end of a program a moment later than a process that waits for
	 * it. */
	for (int i = 0; busy && i < 20; i++) {
		usleep(5000);
		busy = runs(c, inode);
	}
	if (!busy)
		return 0;
	/* The RELEASE may be queued behind this request in the ring. */
	return c->fs->uring && may_retry(c, inode) ? -ESTALE : -ETXTBSY;
}

/*
 * An append-only file (chattr +a) can be opened for appending only. -EAGAIN: the kernel has asked
 * the holder of a lease to release it.
 */
static int open_source(const struct call *c, struct inode *inode, int flags)
{
	int fd = fs_reopen(c, inode, (flags & ~NOT_PASSED) | O_NONBLOCK);

	if (fd == -EPERM && (flags & O_APPEND))
		fd = fs_reopen(c, inode, (flags & ~NOT_PASSED) | O_NONBLOCK | O_APPEND);
	return fd;
}

/* A program may be executable but not readable; the check uses its descriptor. */
static int open_program(const struct call *c, struct inode *inode, int flags)
{
	cleanup_held struct held held = call_hold(c, inode);
	uint64_t before;
	int r, fd;

	r = AS_REQUESTER(c, ON(held.fd), WITH(held, (int)syscall(SYS_faccessat2, held.fd, "", X_OK,
		AT_EMPTY_PATH | AT_EACCESS)));
	if (r < 0)
		return r;
	fd = open_source(c, inode, flags);
	if (fd != -EACCES)
		return fd;
	before = creds_raise(RIGHT(CAP_DAC_READ_SEARCH));
	fd = WITH_ROOM(c->fs->inodes, open(fd_path(held.fd).text, O_RDONLY | O_NONBLOCK | O_CLOEXEC));
	creds_drop(before);
	return fd;
}

/*
 * execve(2) uses the suid and sgid bits and the owner from the last reply to the kernel. If they
 * have changed, ESTALE makes the kernel look the file up again.
 */
static int check_program(const struct call *c, struct inode *inode)
{
	if (!creds_privileged() || inode_attributes_match(c->fs->inodes, inode))
		return 0;
	call_forget_attributes(c, inode);
	return may_retry(c, inode) ? -ESTALE : -EACCES;
}

/* With passthrough, stores through a mapping change attributes, and the kernel does not update its
 * copy. */
static void forget_attributes(const struct call *c, const struct inode *inode, bool was_backed)
{
	if (!was_backed && atomic_load(&inode->is_backed))
		call_forget_attributes(c, inode);
}

static int open_inode(struct call *c, struct inode *inode, struct fuse_file_info *fi)
{
	bool was_backed = atomic_load(&inode->is_backed), executes = fi->flags & FMODE_EXEC;
	int fd, r;

	if (inode->type != S_IFREG) /* the kernel opens devices and FIFOs itself */
		return -ENXIO;
	if (fs_is_own(c->fs, inode))
		return -EBUSY;
	if (call_is_hidden(c, inode))
		return -EACCES;
	r = check_busy(c, inode, fi->flags);
	if (r < 0)
		return r;
	r = executes ? check_program(c, inode) : 0;
	if (r < 0)
		return r;
	/* read_pseudo() waits for data, because that wait can be interrupted. */
	fd = executes ? open_program(c, inode, fi->flags) : open_source(c, inode, fi->flags);
	if (fi->flags & O_TRUNC)
		call_changed(c, inode);
	if (fd < 0)
		return fd;
	fd = inode_keep(c->fs->inodes, fd);
	r = fd < 0 ? fd : make_file(c, inode, fd, fi);
	if (r < 0 && fd >= 0)
		close(fd);
	if (fi->flags & O_TRUNC)
		inode_zeroed(c->fs->inodes, inode, 0, INT64_MAX);
	if (r == 0)
		forget_attributes(c, inode, was_backed);
	return r;
}

static void finish_open(struct call *c, struct fuse_file_info *fi, int r)
{
	c->ev.u.op.flags = fi->flags;
	trace_end(c->fs->trace, &c->ev, r);
	if (r < 0) {
		fuse_reply_err(c->req, -r);
	} else if (fuse_reply_open(c->req, fi) < 0) { /* interrupted: no RELEASE follows */
		fs_close_file(c->req, c->fs, file_of(fi));
	}
}

/* An open that waits for the holder of a lease. */
struct opening {
	struct call call;
	struct inode *inode;
	struct fuse_file_info fi;
};

static void open_again(void *arg)
{
	struct opening *o = arg;

	finish_open(&o->call, &o->fi, open_inode(&o->call, o->inode, &o->fi));
	free(o);
}

static int wait_to_open(const struct call *c, struct inode *inode, const struct fuse_file_info *fi)
{
	struct opening *o = malloc(sizeof(*o));
	int r;

	if (!o)
		return -ENOMEM;
	*o = (struct opening){ .call = *c, .inode = inode, .fi = *fi };
	r = defer_open(c->fs->defer, c, inode, fi->flags, open_again, o);
	if (r < 0)
		free(o);
	return r;
}

void fs_open(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi)
{
	struct call c;
	struct inode *inode;
	int r;

	call_begin(&c, req, OP_OPEN, TRACE_CHECK);
	inode = call_inode(&c, ino);
	r = open_inode(&c, inode, fi);
	if (r != -EAGAIN || (fi->flags & O_NONBLOCK) || wait_to_open(&c, inode, fi) < 0)
		finish_open(&c, fi, r);
}

/* Uses the descriptor of the new file: its name may lead elsewhere by now. */
static int finish_create(struct call *c, struct inode *dir, const char *name, int fd,
	struct fuse_file_info *fi, struct fuse_entry_param *ret_entry)
{
	struct inode *inode;
	struct stat attr;
	int r = fd;

	if (fd >= 0)
		r = inode_from_fd(c->fs->inodes, dir, name, fd, &inode, &attr);
	if (r == 0) {
		r = make_file(c, inode, fd, fi);
		if (r < 0)
			inode_forget(c->fs->inodes, inode, 1);
	}
	if (r < 0) {
		if (fd >= 0)
			close(fd);
		return r;
	}
	c->ev.u.op.other = inode->id;
	call_fill_entry(c, inode, &attr, ret_entry);
	return 0;
}

static void reply_create(struct call *c, int result, struct fuse_file_info *fi,
	const struct fuse_entry_param *entry)
{
	struct inode *inode;

	if (result < 0) {
		fuse_reply_err(c->req, -result);
	} else if (fuse_reply_create(c->req, entry, fi) < 0) {
		inode = file_of(fi)->inode;
		fs_close_file(c->req, c->fs, file_of(fi));
		inode_forget(c->fs->inodes, inode, 1);
	}
}

static int create_as_caller(const struct call *c, const struct held *dir, const char *name,
	int flags, mode_t mode)
{
	int fd;

	if (dir->fd < 0)
		return dir->fd;
	creds_umask(c->ctx->umask);
	fd = WITH_SPACE(c, AS_REQUESTER(c, ON(dir->fd), WITH_ROOM(c->fs->inodes,
		openat(dir->fd, name, flags | O_NOFOLLOW | O_CLOEXEC, mode))));
	return fd < 0 ? fd : inode_keep(c->fs->inodes, fd);
}

/*
 * Creates only new files: the kernel has not checked access to an existing one. A file that stays is
 * found each time, and the kernel finds it, too, when it looks the name up again, once. Another program
 * may create and remove the file repeatedly; the second attempt therefore waits for a moment without it.
 */
static int create_new(const struct call *c, const struct held *dir, const char *name, mode_t mode,
	int flags)
{
	struct stat st;
	int fd, found = 0;

	for (int i = 0; i < CREATE_TURNS; i++) {
		fd = create_as_caller(c, dir, name, (flags & ~NOT_PASSED) | O_CREAT | O_EXCL, mode);
		if (fd != -EEXIST || (flags & O_EXCL))
			return fd;
		if (fstatat(dir->fd, name, &st, AT_SYMLINK_NOFOLLOW) < 0 || ++found < CREATE_FOUND)
			continue;
		if (found == CREATE_FOUND && may_retry(c, dir->inode))
			break;
		usleep(CREATE_NAP_US);
	}
	return -ESTALE;
}

void fs_create(fuse_req_t req, fuse_ino_t parent, const char *name, mode_t mode,
	struct fuse_file_info *fi)
{
	struct call c;
	struct fuse_entry_param entry;
	int fd = -EBUSY, r;

	call_begin(&c, req, OP_CREATE, TRACE_CHECK);
	cleanup_held struct held dir = call_hold(&c, call_inode(&c, parent));
	c.ev.u.op.mode = mode & ~S_IFMT;
	fi->fh = 0;
	if (!fs_is_own_name(c.fs, dir.inode, name))
		fd = create_new(&c, &dir, name, mode, fi->flags);
	r = finish_create(&c, dir.inode, name, fd, fi, &entry);
	if (r < 0 && fd >= 0)
		unlinkat(dir.fd, name, 0);
	c.ev.u.op.flags = fi->flags;
	trace_end_name(c.fs->trace, &c.ev, r, name);
	reply_create(&c, r, fi, &entry);
}

void fs_tmpfile(fuse_req_t req, fuse_ino_t parent, mode_t mode, struct fuse_file_info *fi)
{
	struct call c;
	struct fuse_entry_param entry;
	int r;

	call_begin(&c, req, OP_TMPFILE, TRACE_CHECK);
	cleanup_held struct held dir = call_hold(&c, call_inode(&c, parent));
	c.ev.u.op.mode = mode & ~S_IFMT;
	fi->fh = 0;
	r = create_as_caller(&c, &dir, ".", (fi->flags & ~NOT_PASSED) | O_TMPFILE, mode);
	r = finish_create(&c, dir.inode, NULL, r, fi, &entry);
	c.ev.u.op.flags = fi->flags;
	trace_end(c.fs->trace, &c.ev, r);
	reply_create(&c, r, fi, &entry);
}
