/* SPDX-License-Identifier: MIT */

/* Files are opened, created, and let go. */

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

#define CREATE_TURNS 20
#define CREATE_FOUND 5
#define SHARE_TURNS 20
#define SHARE_NAP_US 1000

/*
 * Not passed on to the source: what the kernel has dealt with; O_DIRECT, for which our buffers
 * would have to be aligned as the application's are; O_APPEND, which fcntl(2) may take away, and so
 * is said with each write.
 */
#define NOT_PASSED \
	(O_NOFOLLOW | O_DIRECT | O_CREAT | O_EXCL | O_NOCTTY | O_CLOEXEC | O_APPEND | FMODE_EXEC)

/* Whether the trace has nothing to do with that file. */
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
 * Whether what is opened so might be mapped and written: a file that may only be appended to (chattr +a, which may
 * come later, too) must not be.  The kernel does not know of that, and sends no request when it maps what is passed
 * through.
 */
static bool appends_and_maps(int flags)
{
	return (flags & (O_ACCMODE | O_APPEND)) == (O_RDWR | O_APPEND);
}

/* Files of suid and sgid programs are written by us: passed through, root's writes would take
 * these bits away. */
static bool may_pass(const struct call *c, struct inode *inode, int flags)
{
	return c->fs->can_pass && !inode->mount->pseudo &&
	       !atomic_load(&inode->mount->no_backing) && !atomic_load(&inode->special) &&
	       (c->fs->fidelity == FIDELITY_OPEN || is_left_out(c, inode)) &&
	       !appends_and_maps(flags);
}

/* The kernel reads and writes with the credentials that are in effect here: the ids of the requester that opens
 * first, and no capability that an ordinary user's write must not have. */
static int open_backing(const struct call *c, int fd)
{
	uint64_t before = creds_raise(RIGHT(CAP_SYS_ADMIN));
	int id = fuse_passthrough_open(c->req, fd);

	creds_drop(before);
	return id;
}

/* The kernel keeps the file open until then. */
static void close_backing(fuse_req_t req, int id)
{
	uint64_t before = creds_raise(RIGHT(CAP_SYS_ADMIN));

	fuse_passthrough_close(req, id);
	creds_drop(before);
}

/*
 * Decided by the first that has the file open: the kernel wants all to be of one kind.  What must not be passed
 * through though others are gets an inode of its own, by asking the kernel to look the name up anew (ESTALE); the two
 * do not see each other's mappings, so this is for files alone that may not be mapped for writing.
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
		inode_part(c->fs->inodes, inode);
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
	/* The size of a file of /proc says nothing, and the page cache would believe it. */
	bool direct = c->fs->fidelity != FIDELITY_CACHED || file->inode->mount->pseudo;

	fi->backing_id = backing_id;
	fi->direct_io = file->direct = direct && !backing_id;
	if (backing_id && file->link.writes)
		atomic_store(&file->inode->is_backed, true);
	c->ev.fidelity = backing_id ? FIDELITY_OPEN : direct ? FIDELITY_EXACT : FIDELITY_CACHED;
}

/* Whether the thread asks for the first time: ESTALE makes the kernel ask once more. */
static bool may_ask_again(const struct call *c, struct inode *inode)
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
 * A descriptor of the requester's share.  What was closed is given back by a request of its own, which may stand
 * behind this one: it is waited for, on a ring by having the kernel ask once more.
 */
static int take_share(const struct call *c, struct inode *inode)
{
	for (int i = 0; i < SHARE_TURNS; i++) {
		if (shares_take(c->fs->shares, SHARE_FILES, c->ctx->uid))
			return 0;
		if (c->fs->uring)
			return may_ask_again(c, inode) ? -ESTALE : -EMFILE;
		usleep(SHARE_NAP_US);
	}
	return -EMFILE;
}

/* An open file of inode, for fi; a descriptor of the requester's share. */
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
	free(file);
}

void fs_left_open(struct open_link *link)
{
	struct open_file *file = (struct open_file *)((char *)link - offsetof(struct open_file, link));

	close(file->fd);
	free(file);
}

/*
 * A program that runs must not be emptied.  The kernel sees to that before it asks us, unless the
 * file is opened for reading only: then it looks afterwards.
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

	/* That it has ended we hear a moment later than who has waited for it. */
	for (int i = 0; busy && i < 20; i++) {
		usleep(5000);
		busy = runs(c, inode);
	}
	if (!busy)
		return 0;
	/* It may stand behind this request in the ring. */
	return c->fs->uring && may_ask_again(c, inode) ? -ESTALE : -ETXTBSY;
}

/* A file that may only be appended to (chattr +a) is opened for that or not at all.  -EAGAIN: the holder of a
 * lease is being asked to give it up. */
static int open_source(const struct call *c, struct inode *inode, int flags)
{
	int fd = fs_reopen(c, inode, (flags & ~NOT_PASSED) | O_NONBLOCK);

	if (fd == -EPERM && (flags & O_APPEND))
		fd = fs_reopen(c, inode, (flags & ~NOT_PASSED) | O_NONBLOCK | O_APPEND);
	return fd;
}

/* A program may be run without being readable: whether it may is judged by its descriptor. */
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
 * execve(2) takes suid and sgid bits and owner as the kernel was told.  If they are others by now it has to ask
 * first (ESTALE), and may then not find what it was told before.
 */
static int check_program(const struct call *c, struct inode *inode)
{
	if (!creds_privileged() || inode_is_as_told(c->fs->inodes, inode))
		return 0;
	call_forget_attributes(c, inode);
	return may_ask_again(c, inode) ? -ESTALE : -EACCES;
}

/* Attributes that the kernel was told before may become wrong by a store through a mapping, which it does not
 * see any more. */
static void forget_attributes(const struct call *c, const struct inode *inode, bool was_backed)
{
	if (!was_backed && atomic_load(&inode->is_backed))
		call_forget_attributes(c, inode);
}

static int open_inode(struct call *c, struct inode *inode, struct fuse_file_info *fi)
{
	bool was_backed = atomic_load(&inode->is_backed), executes = fi->flags & FMODE_EXEC;
	int fd, r;

	if (inode->type != S_IFREG) /* a device or FIFO is opened by the kernel, never by us */
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
	/* What has no data yet is waited for where the wait can be ended: read_pseudo(). */
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
	} else if (fuse_reply_open(c->req, fi) < 0) { /* interrupted: there will be no RELEASE */
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

/* The file just created, by its descriptor: its name may lead elsewhere by now. */
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

/* Only what is not there: for what is, the kernel has judged nothing yet. */
static int create_new(const struct call *c, const struct held *dir, const char *name, mode_t mode,
	int flags)
{
	struct stat st;
	int fd, found = 0;

	for (int i = 0; i < CREATE_TURNS; i++) {
		fd = create_as_caller(c, dir, name, (flags & ~NOT_PASSED) | O_CREAT | O_EXCL, mode);
		if (fd != -EEXIST || (flags & O_EXCL))
			return fd;
		/* Somebody may have made and removed it, or go on doing so: to look again would find
		 * nothing.  What stays is found each time. */
		if (fstatat(dir->fd, name, &st, AT_SYMLINK_NOFOLLOW) == 0 && ++found == CREATE_FOUND)
			break;
	}
	return -ESTALE; /* the kernel looks again, once */
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
