/* SPDX-License-Identifier: MIT */
#ifndef FTRAC_FS_H
#define FTRAC_FS_H

/*
 * The mirror: the operations that the kernel asks for, done on the source.  One file for each
 * family of operations (fs_name.c, fs_open.c, fs_file.c, fs_seek.c, fs_dir.c, fs_attr.c, fs_lock.c); fs.c puts them
 * together.
 *
 * A handler decodes, does one system call (or the few that POSIX's one means here), says how it
 * went to trace.h and replies, exactly once.  What is not done is in left-out.txt, with the
 * reason.
 */

#include <errno.h>
#include <fuse_lowlevel.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/fd_path.h"
#include "base/trace_file.h"
#include "db/event.h"
#include "ftrac/creds.h"
#include "ftrac/inode.h"
#include "ftrac/trace.h"

struct defer;
struct lock_table;
struct paths_options;
struct shares;

/* The files of the trace itself, which nobody may open through the mount: a second SQLite on this
 * side would not see the locks of the one on the other, and destroy the database. */
#define FS_OWN_FILES TRACE_FILE_USED
struct fs_own {
	struct {
		dev_t dev;
		ino_t ino;
	} files[FS_OWN_FILES];
	dev_t dir_dev; /* the directory they are in */
	ino_t dir_ino;
	char names[FS_OWN_FILES][272];
};

struct fs {
	struct inode_table *inodes;
	const struct trace *trace; /* NULL: nothing is recorded */
	enum fidelity fidelity;
	bool fidelity_fixed;                /* asked for: do not take another one */
	double attr_timeout, entry_timeout; /* seconds */
	struct lock_table *locks;           /* NULL: the kernel keeps locks by itself */
	struct shares *shares;              /* what one user may take */
	struct defer *defer;                /* requests that wait */
	/* What is recorded, if not everything: the rest is passed through by the kernel where that
	 * can be.  May be NULL. */
	const struct paths_options *choice;
	bool can_pass;   /* the kernel can */
	bool uring;      /* requests come by io_uring: see transport.h for what no handler may do then */
	bool keep_atime; /* the mount is such that reading moves no time of access */
	struct fuse_session *session;
	struct fs_own own;
	/* Called once when the kernel has answered and all of the above is final; error is 0, or
	 * the -errno for which this mount cannot do what was asked for. */
	void (*ready)(void *arg, int error);
	void *arg;
	_Atomic uint64_t last_handle;
};

/* An open file or directory; fi->fh is a pointer to it. */
struct open_file {
	struct open_link link; /* of a file: in its inode's list */
	int fd;
	uint64_t id;
	struct inode *inode;
	uid_t user; /* whose share of descriptors it is of */
	bool exec, direct;
	bool stream;       /* of a pseudo file system, and cannot be sought */
	bool append;       /* the source has it open for appending, and for nothing else */
	bool opened_append;
	_Atomic int flags; /* those of fcntl(F_SETFL) that the source has */
	_Atomic bool used; /* it has been read or written since its open */
	struct pages *pages;   /* its inode's; NULL: the kernel passes data through, or the file system is a pseudo one */
	struct open_dir *dir;
};

extern const struct fuse_lowlevel_ops fs_ops;

/* A file that is open at the end of all. */
void fs_left_open(struct open_link *link);

/* ---- between the fs_*.c files ---- */

/* A request on its way. */
struct call {
	fuse_req_t req;
	struct fs *fs;
	const struct fuse_ctx *ctx;
	struct event ev;
};

static inline void call_begin(struct call *c, fuse_req_t req, enum op op, enum trace_who who)
{
	c->req = req;
	c->fs = fuse_req_userdata(req);
	c->ctx = fuse_req_ctx(req);
	trace_begin(c->fs->trace, &c->ev, op, c->ctx->pid, who);
}

static inline struct open_file *file_of(const struct fuse_file_info *fi)
{
	return fi && fi->fh ? (struct open_file *)(uintptr_t)fi->fh : NULL;
}

/* What a system call returned, or -errno. */
#define RESULT(call)                          \
	({                                    \
		__auto_type result = (call);  \
		result < 0 ? -errno : result; \
	})

/* A local that holds an inode until it goes out of scope. */
struct held {
	struct inode_table *inodes;
	struct inode *inode;
	int fd; /* or -errno */
};

#define cleanup_held __attribute__((cleanup(held_release)))

static inline struct held call_hold(const struct call *c, struct inode *inode)
{
	return (struct held){
		.inodes = c->fs->inodes, .inode = inode, .fd = inode_hold(c->fs->inodes, inode)
	};
}

static inline void held_release(struct held *held)
{
	if (held->fd >= 0)
		inode_release(held->inodes, held->inode);
}

/* What call gave, bytes or a descriptor or 0, or -errno; tried again while space is about to be free
 * that something removed has taken. */
#define WITH_SPACE(c, call)                                                    \
	({                                                                     \
		unsigned space_turn = 0;                                       \
		__auto_type space_result = (call);                             \
		while ((space_result == -ENOSPC || space_result == -EDQUOT) && \
			inode_awaits_space((c)->fs->inodes, space_turn++))     \
			space_result = (call);                                 \
		space_result;                                                  \
	})

/* RESULT() of a call that uses held.fd, or the reason why that could not be had. */
#define WITH(held, call) ((held).fd < 0 ? (held).fd : RESULT(call))

/* The inode of a request's node id; noted in the event. */
struct inode *call_inode(struct call *c, fuse_ino_t nodeid);
/* As call_inode, and the open file if the request has one. */
struct open_file *call_file(struct call *c, const struct fuse_file_info *fi);

/* Ends a request that returns nothing but success or -errno. */
void call_reply(struct call *c, int result);

/* How long entries and attributes may be kept. */
void call_fill_entry(const struct call *c, struct inode *inode, const struct stat *attr,
	struct fuse_entry_param *ret_entry);

/* How long attributes of that inode may be kept. */
double call_attr_timeout(const struct call *c, const struct inode *inode);

/*
 * Result, bytes or a descriptor or 0, or -errno: what expression gives while the thread acts as the requester on
 * object (creds.h).  Evaluated a second time if the credentials that were remembered were too old.
 */
#define AS_REQUESTER(c, object, expression)                                                   \
	({                                                                                    \
		const struct creds_object as_object = (object);                               \
		__typeof__(expression) as_result = call_become((c), &as_object);              \
		if (as_result == 0)                                                           \
			as_result = (expression);                                             \
		if ((as_result == -EACCES || as_result == -EPERM) && call_again((c), &as_object)) \
			as_result = (expression);                                             \
		as_result;                                                                    \
	})

/* The object of a request: what a descriptor is open on, or its content; that and a second one; directories whose
 * names are moved or removed (newdir may be -1); nothing that capabilities would have to be judged for. */
#define ON(descriptor) ((struct creds_object){ .fd = (descriptor), .other = -1 })
#define ON_CONTENT(descriptor) \
	((struct creds_object){ .fd = (descriptor), .other = -1, .content = true })
#define ON_BOTH(descriptor, second) ((struct creds_object){ .fd = (descriptor), .other = (second) })
#define ON_NAMES(dir, newdir) \
	((struct creds_object){ .fd = (dir), .other = (newdir), .names = true })
#define ON_NOTHING ON(-1)

/* creds_become() and creds_again() for the sender of the request. */
int call_become(const struct call *c, const struct creds_object *object);
bool call_again(const struct call *c, const struct creds_object *object);

/* After a change of content or owner: suid and sgid bits that the source took away must not be believed by the
 * kernel any longer. */
void call_changed(const struct call *c, struct inode *inode);

/* The kernel is to ask for the attributes anew. */
void call_forget_attributes(const struct call *c, const struct inode *inode);

/*
 * Whether it is what /proc says of us and keeps from others.  The threads of a process may see all of it,
 * whomever they act as, so here the kernel does not judge: it is ours to refuse it (EACCES) to who asks.
 */
bool call_is_hidden(const struct call *c, struct inode *inode);

struct requester call_requester(const struct call *c);

/* Whether this is one of the trace's own files. */
bool fs_is_own(const struct fs *fs, const struct inode *inode);
bool fs_is_own_name(const struct fs *fs, const struct inode *dir, const char *name);

/* Replies with attributes, which the kernel then believes for some time. */
void call_reply_attr(const struct call *c, struct inode *inode, const struct stat *attr);

/* Opens what an inode stands for, as the requester; fd or -errno. */
int fs_reopen(const struct call *c, struct inode *inode, int flags);

/* Whether it may only be appended to (chattr +a). */
bool fs_is_append_only(int fd);

/* Ends an open file: the kernel has released it, or has not got it. */
void fs_close_file(fuse_req_t req, struct fs *fs, struct open_file *file);

void fs_lookup(fuse_req_t req, fuse_ino_t parent, const char *name);
void fs_forget(fuse_req_t req, fuse_ino_t ino, uint64_t nlookup);
void fs_forget_multi(fuse_req_t req, size_t count, struct fuse_forget_data *forgets);
void fs_mknod(fuse_req_t req, fuse_ino_t parent, const char *name, mode_t mode, dev_t rdev);
void fs_mkdir(fuse_req_t req, fuse_ino_t parent, const char *name, mode_t mode);
void fs_symlink(fuse_req_t req, const char *target, fuse_ino_t parent, const char *name);
void fs_link(fuse_req_t req, fuse_ino_t ino, fuse_ino_t newparent, const char *newname);
void fs_unlink(fuse_req_t req, fuse_ino_t parent, const char *name);
void fs_rmdir(fuse_req_t req, fuse_ino_t parent, const char *name);
void fs_rename(fuse_req_t req, fuse_ino_t parent, const char *name, fuse_ino_t newparent,
	const char *newname, unsigned int flags);
void fs_readlink(fuse_req_t req, fuse_ino_t ino);

void fs_create(fuse_req_t req, fuse_ino_t parent, const char *name, mode_t mode,
	struct fuse_file_info *fi);
void fs_tmpfile(fuse_req_t req, fuse_ino_t parent, mode_t mode, struct fuse_file_info *fi);
void fs_open(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi);
void fs_read(fuse_req_t req, fuse_ino_t ino, size_t size, off_t off, struct fuse_file_info *fi);
void fs_write(fuse_req_t req, fuse_ino_t ino, const char *buf, size_t size, off_t off,
	struct fuse_file_info *fi);
void fs_flush(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi);
void fs_release(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi);
void fs_fsync(fuse_req_t req, fuse_ino_t ino, int datasync, struct fuse_file_info *fi);
void fs_fallocate(fuse_req_t req, fuse_ino_t ino, int mode, off_t offset, off_t length,
	struct fuse_file_info *fi);
void fs_lseek(fuse_req_t req, fuse_ino_t ino, off_t off, int whence, struct fuse_file_info *fi);
void fs_copy_file_range(fuse_req_t req, fuse_ino_t ino_in, off_t off_in,
	struct fuse_file_info *fi_in, fuse_ino_t ino_out, off_t off_out,
	struct fuse_file_info *fi_out, size_t len, int flags);
void fs_ioctl(fuse_req_t req, fuse_ino_t ino, unsigned int cmd, void *arg,
	struct fuse_file_info *fi, unsigned flags, const void *in_buf, size_t in_bufsz,
	size_t out_bufsz);

void fs_getlk(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi, struct flock *lock);
void fs_setlk(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi, struct flock *lock,
	int sleep);
void fs_flock(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi, int op);

void fs_opendir(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi);
void fs_readdir(fuse_req_t req, fuse_ino_t ino, size_t size, off_t off, struct fuse_file_info *fi);
void fs_releasedir(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi);

void fs_getattr(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi);
void fs_setattr(fuse_req_t req, fuse_ino_t ino, struct stat *attr, int to_set,
	struct fuse_file_info *fi);
void fs_statx(fuse_req_t req, fuse_ino_t ino, int flags, int mask, struct fuse_file_info *fi);
void fs_statfs(fuse_req_t req, fuse_ino_t ino);
void fs_setxattr(fuse_req_t req, fuse_ino_t ino, const char *name, const char *value, size_t size,
	int flags);
void fs_getxattr(fuse_req_t req, fuse_ino_t ino, const char *name, size_t size);
void fs_listxattr(fuse_req_t req, fuse_ino_t ino, size_t size);
void fs_removexattr(fuse_req_t req, fuse_ino_t ino, const char *name);

#endif
