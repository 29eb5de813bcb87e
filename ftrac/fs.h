/* SPDX-License-Identifier: MIT */
#ifndef FTRAC_FS_H
#define FTRAC_FS_H

/*
 * The mirror: carries out the kernel's requests on the source. One file for each family of
 * operations (fs_name.c, fs_open.c, fs_file.c, fs_seek.c, fs_dir.c, fs_attr.c, fs_lock.c); fs.c has
 * the table.
 *
 * A handler decodes the request, makes one system call (or the few that one POSIX call means here),
 * passes the result to trace.h and replies exactly once. FS_OPS_LEFT_OUT lists the operations that are
 * not supported, each with the reason.
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
struct kernel;
struct lock_table;
struct paths_options;
struct shares;

/*
 * The files of the trace itself. No program may open them through the mount: a second SQLite inside
 * would not see the locks of the one outside, and would destroy the database.
 */
#define FS_OWN_FILES TRACE_FILE_USED
struct fs_own {
	struct {
		dev_t dev;
		ino_t ino;
	} files[FS_OWN_FILES];
	dev_t dir_dev; /* their directory */
	ino_t dir_ino;
	char names[FS_OWN_FILES][272];
};

/* An attribute of the root that names the trace, for ftrac umount. */
#define FS_TRACE_XATTR "user.ftrac.trace"

struct fs {
	struct inode_table *inodes;
	const struct trace *trace; /* NULL: no recording */
	enum fidelity fidelity;
	bool fidelity_fixed;                /* the user named it: no fallback */
	double attr_timeout, entry_timeout; /* seconds */
	struct lock_table *locks;           /* NULL: the kernel keeps locks */
	struct shares *shares;              /* limits per user */
	struct defer *defer;                /* deferred requests */
	/* The paths to record, if not all; the kernel passes the others through where possible. May
	 * be NULL. */
	const struct paths_options *choice;
	bool can_pass;   /* the kernel supports passthrough */
	bool uring;      /* requests come by io_uring: transport.h says what handlers may not do then */
	bool keep_atime; /* flags of the mount keep reads from changing the time of access */
	struct fuse_session *session;
	struct fs_own own;
	char *trace_path; /* where it lies, for FS_TRACE_XATTR; allocated; NULL: not known */
	uid_t owner;      /* the user of the mount, that may ask for this, as root may */
	/*
	 * Called once, when the mount is negotiated and all of the above is final. error: 0, or the
	 * -errno for which the mount cannot do what the options require.
	 */
	void (*ready)(void *arg, int error);
	void *arg;
	_Atomic uint64_t last_handle;
	/* Records the calls on files of the mount, with fidelity call; else NULL. */
	struct kernel *kernel;
};

/* Whether the kernel passes the data of files through. */
static inline bool fs_passes_data(const struct fs *fs)
{
	return fs->fidelity == FIDELITY_OPEN || fs->fidelity == FIDELITY_CALL;
}

/* An open file or directory; fi->fh is a pointer to it. */
struct open_file {
	struct open_link link; /* of a file: link in its inode's list */
	int fd;
	uint64_t id;
	struct inode *inode;
	uid_t user; /* the user whose share of descriptors it counts for */
	bool exec, direct;
	bool by_call; /* programs in the kernel record the calls on it: what is a part of them is no event */
	bool stream;       /* of a pseudo file system, without seeking */
	bool append;       /* open in the source for appending only */
	bool opened_append;
	_Atomic int flags; /* flags of fcntl(F_SETFL) in the source */
	_Atomic bool used; /* read or written since its open */
	struct pages *pages;   /* those of its inode; NULL: passthrough or a pseudo file system */
	struct open_dir *dir;
};

extern const struct fuse_lowlevel_ops fs_ops;

/* Called at the end for a file that is still open. */
void fs_left_open(struct open_link *link);

/* ---- between the fs_*.c files ---- */

/* A request that is being handled. */
struct call {
	fuse_req_t req;
	struct fs *fs;
	const struct fuse_ctx *ctx;
	struct event ev;
};

static inline void call_begin(struct call *c, fuse_req_t req, enum op op, enum trace_lookup lookup)
{
	c->req = req;
	c->fs = fuse_req_userdata(req);
	c->ctx = fuse_req_ctx(req);
	trace_begin(c->fs->trace, &c->ev, op, c->ctx->pid, lookup);
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

/*
 * The result of call: bytes, a descriptor, 0 or -errno. Retries after ENOSPC while the kernel still
 * holds the space of a removed file.
 */
#define WITH_SPACE(c, call)                                                    \
	({                                                                     \
		unsigned space_turn = 0;                                       \
		__auto_type space_result = (call);                             \
		while ((space_result == -ENOSPC || space_result == -EDQUOT) && \
			inode_wait_for_space((c)->fs->inodes, space_turn++))     \
			space_result = (call);                                 \
		space_result;                                                  \
	})

/* RESULT() of a call that uses held.fd; if there is no descriptor, the -errno of that. */
#define WITH(held, call) ((held).fd < 0 ? (held).fd : RESULT(call))

/* The inode of a node id; sets it in the event. */
struct inode *call_inode(struct call *c, fuse_ino_t nodeid);
/* Like call_inode(); also returns the open file, if the request has one. */
struct open_file *call_file(struct call *c, const struct fuse_file_info *fi);

/* Has the calls on the file that the request opens recorded, if that is so in this mount. */
void call_watch(struct call *c, struct open_file *file);
/* Before the memory of the file is used again. */
void fs_unwatch(const struct fs *fs, const struct open_file *file);

/* Records a request that is a part of a call on an open file, unless the call is recorded. */
void call_end_part(struct call *c, const struct open_file *file, int64_t result);

/* Records and replies to a request without data: success or -errno. */
void call_reply(struct call *c, int result);

/* Fills an entry, with the times for which the kernel may cache it and its attributes. */
void call_fill_entry(const struct call *c, struct inode *inode, const struct stat *attr,
	struct fuse_entry_param *ret_entry);

/* For how long the kernel may cache the attributes of that inode, in seconds. */
double call_attr_timeout(const struct call *c, const struct inode *inode);

/*
 * The result of expression - bytes, a descriptor, 0 or -errno - while the thread acts as the
 * requester on object (creds.h). Evaluated again if the cached credentials were outdated.
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

/*
 * The object of a request: the file of a descriptor; its content; two files; directories in which
 * names are moved or removed (newdir may be -1); none, if capabilities do not matter.
 */
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

/*
 * After a change of content or owner: invalidates the kernel's copy of the attributes, because the
 * source may have removed suid and sgid bits.
 */
void call_changed(const struct call *c, struct inode *inode);

/* Invalidates the kernel's copy of the attributes. */
void call_forget_attributes(const struct call *c, const struct inode *inode);

/*
 * Whether the file is one in which /proc shows the daemon itself and that other processes may not
 * read. The daemon's own threads may read all of it, whatever credentials they have, so the kernel
 * does not refuse the access. The caller refuses it with EACCES.
 */
bool call_is_hidden(const struct call *c, struct inode *inode);

struct requester call_requester(const struct call *c);

/* Whether this is one of the trace's own files. */
bool fs_is_own(const struct fs *fs, const struct inode *inode);
bool fs_is_own_name(const struct fs *fs, const struct inode *dir, const char *name);

/* Replies with attributes, which the kernel then caches for some time. */
void call_reply_attr(const struct call *c, struct inode *inode, const struct stat *attr);

/* Opens the file of an inode, with the requester's credentials; fd or -errno. */
int fs_reopen(const struct call *c, struct inode *inode, int flags);

/* Whether the file is append-only (chattr +a). */
bool fs_is_append_only(int fd);

/* Closes an open file, after its RELEASE or because the kernel did not receive the open. */
void fs_close_file(fuse_req_t req, struct fs *fs, struct open_file *file);

/*
 * The operations: members of struct fuse_lowlevel_ops, each with its handler fs_NAME().  fs.c has the
 * two members that are not of this list: init, and fsyncdir, which fs_fsync() handles.
 */
#if FUSE_VERSION >= FUSE_MAKE_VERSION(3, 18)
#define FS_OPS_NEW(X) X(statx)
#else
#define FS_OPS_NEW(X)
#endif
#define FS_OPS(X)                                                                       \
	X(lookup) X(forget) X(forget_multi) X(getattr) X(setattr) X(readlink) X(mknod)  \
	X(mkdir) X(unlink) X(rmdir) X(symlink) X(rename) X(link) X(open) X(read) X(write) \
	X(flush) X(release) X(fsync) X(opendir) X(readdir) X(releasedir) X(statfs)      \
	X(setxattr) X(getxattr) X(listxattr) X(removexattr) X(create) X(ioctl) X(fallocate) \
	X(copy_file_range) X(lseek) X(getlk) X(setlk) X(flock) X(tmpfile)               \
	FS_OPS_NEW(X)

/* Members that ftrac does not have, each with the reason.  tests/left-out.sh reads this list. */
#define FS_OPS_LEFT_OUT(X)                                                                                          \
	X(destroy, "the end of the run is in main, where its errors can be reported")                               \
	X(access, "the kernel checks access itself (default_permissions) and never sends it")                       \
	X(readdirplus, "it looks up entries that no application requested, and hides the lookups of applications")  \
	X(bmap, "there is no block device under this file system")                                                  \
	X(poll, "the kernel answers it for regular files; ftrac opens no others")                                   \
	X(write_buf, "ftrac needs the data in memory; write does the same")                                         \
	X(retrieve_reply, "the answer to a notification that ftrac does not send")

#define FS_DECLARE(name) __typeof__(*((struct fuse_lowlevel_ops *)0)->name) fs_##name;
FS_OPS(FS_DECLARE)
#undef FS_DECLARE

#endif
