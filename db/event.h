/* SPDX-License-Identifier: MIT */
#ifndef DB_EVENT_H
#define DB_EVENT_H

/*
 * One observation on its way from a producer (a request handler, the process monitor) to the
 * writer: fixed size, no pointers.  Text that does not fit travels in front of its event, in
 * pieces of kind EVENT_TEXT (see ring.h, which does that for every caller).
 *
 * Ids: a node is one inode of the mounted tree as long as the kernel remembers it; NODE_ROOT is
 * the root.  The same file gets a new node id when the kernel forgot it in between; what makes it
 * one file again is struct event_node (see files.h).  A handle is one open; ids count from 1, 0
 * is "none".  Times are monotonic nanoseconds (base/clock.h).
 */

#include <stddef.h>
#include <stdint.h>

/* Operations: the closed list of ftrac-db(5), in the order of the table op_name. */
#define EVENT_OPS(X)                                                                           \
	X(LOOKUP, lookup) X(GETATTR, getattr) X(CHMOD, chmod) X(CHOWN, chown)                  \
	X(TRUNCATE, truncate) X(UTIMENS, utimens) X(CREATE, create) X(OPEN, open)              \
	X(READ, read) X(WRITE, write) X(FLUSH, flush) X(RELEASE, release) X(FSYNC, fsync)      \
	X(OPENDIR, opendir) X(READDIR, readdir) X(RELEASEDIR, releasedir) X(MKDIR, mkdir)      \
	X(MKNOD, mknod) X(RMDIR, rmdir) X(UNLINK, unlink) X(RENAME, rename) X(LINK, link)      \
	X(SYMLINK, symlink) X(READLINK, readlink) X(GETXATTR, getxattr)                        \
	X(SETXATTR, setxattr) X(LISTXATTR, listxattr) X(REMOVEXATTR, removexattr)              \
	X(STATFS, statfs) X(ACCESS, access) X(FALLOCATE, fallocate) X(COPY, copy)              \
	X(LSEEK, lseek) X(IOCTL, ioctl) X(LOCK, lock) X(TMPFILE, tmpfile)

enum op {
#define X(upper, lower) OP_##upper,
	EVENT_OPS(X)
#undef X
	OP_MAX
};

extern const char *const event_op_names[OP_MAX];

/* How data moved: asked for by the application as it stands; as the page cache fetched it; as
 * the page cache wrote a mapping back; inside the kernel between two files. */
enum via { VIA_DIRECT, VIA_PAGECACHE, VIA_WRITEBACK, VIA_COPY, VIA_MAX };
extern const char *const event_via_names[VIA_MAX];

enum fidelity { FIDELITY_EXACT, FIDELITY_CACHED, FIDELITY_OPEN, FIDELITY_MAX };
extern const char *const event_fidelity_names[FIDELITY_MAX];
/* The fidelity with that name, or -EINVAL. */
int event_parse_fidelity(const char *text);

/* The kernel sets this open flag when execve(2) opens a program; user space has no header for it. */
#define FMODE_EXEC 040

enum event_kind {
	EVENT_NONE,
	EVENT_TEXT,    /* piece of the text of the next event; .text.* */
	EVENT_NODE,    /* a node id was given to an inode; before any event that uses it; .node.* */
	EVENT_FORGET,  /* the node id is not used any more; .node.id */
	EVENT_MOUNT,   /* a mount of the source was seen: text = fstype NUL mount point; .mount.* */
	EVENT_OP,      /* one finished request; .op.* */
	EVENT_PROCESS, /* a living process was looked at; .process.*, text = process_text */
	EVENT_FORK,    /* .process.pid was forked by .process.ppid at .time_ns */
	EVENT_THREAD,  /* thread .process.tid belongs to .process.pid from .time_ns on */
	EVENT_EXEC,    /* .process.pid began a new image at .time_ns; text = process_text */
	EVENT_EXIT,    /* thread .process.tid ended at .time_ns; the process if it is .process.pid */
	/* What thread .process.tid of .process.pid has used in its life, or, with tid 0, the process
	 * so far: text = struct figures (figures.h).  Before the EXIT of that thread. */
	EVENT_FIGURES,
	EVENT_BEFORE,  /* what .process.pid had used when it began its newest image: text as above */
	EVENT_SAMPLE,  /* a look at a living process at .time_ns; .sample.* */
	EVENT_KIND_MAX
};

#define NODE_ROOT 1
#define CALL_UNKNOWN UINT64_MAX

/*
 * An operation.  Which fields mean something depends on op; the others are 0.
 *   node     the file; the directory of op's name for LOOKUP CREATE MKDIR MKNOD RMDIR UNLINK
 *            RENAME SYMLINK TMPFILE
 *   other    what a name led to (LOOKUP, CREATE, MKDIR, MKNOD, SYMLINK, TMPFILE: the new node),
 *            the directory of the new name (RENAME, LINK), the handle copied from (COPY)
 *   call     READ and WRITE: bytes that the system call asks for of which this request is all, or a piece;
 *            0: a request that is all of it, as far as that is looked at; or CALL_UNKNOWN
 *   result   >= 0 or -errno; bytes for READ and WRITE
 *   text     name; name NUL new name (RENAME); new name (LINK); name NUL target (SYMLINK);
 *            attribute name (xattr operations)
 */
#define EVENT_UNSURE 1 /* the write-back of pages may have undone a direct write */

struct event_op {
	int64_t latency_ns;
	int64_t result;
	uint64_t node;
	union {
		uint64_t other;
		uint64_t call;
	};
	uint64_t handle;
	int64_t offset; /* -1: not known */
	uint64_t length;
	uint32_t flags; /* open flags as the kernel passed them; RENAME: renameat2 flags; WRITE: EVENT_UNSURE or 0 */
	union {
		uint32_t mode;	 /* before the umask; of what was created */
		uint32_t pieces; /* filled by calls.c: requests that the call was; 0 unknown */
	};
};

#define EVENT_TEXT_INLINE 40

struct event_node {
	uint64_t id;
	uint64_t dev;
	uint64_t ino;
	int64_t birth_ns; /* with dev and ino: tells a reused inode number; 0 unknown */
	int64_t size;
	uint64_t mount; /* mount id, see EVENT_MOUNT */
	uint32_t mode;  /* st_mode */
	uint32_t nlink;
};

/* How a figure of a process came to be known; a set. */
enum tier { TIER_INBAND = 1, TIER_CONNECTOR = 2, TIER_TASKSTATS = 4, TIER_PTRACE = 8 };

struct event_process {
	int32_t pid;
	int32_t ppid;
	int32_t tid;
	int32_t status; /* EXIT: as wait(2) has it */
	int64_t start_ns; /* PROCESS: its start as /proc has it (grain: a clock tick) */
	uint32_t uid; /* PROCESS and EXEC */
	uint32_t gid;
	uint8_t tier;
	uint8_t new_image; /* PROCESS: it runs another program than when last looked at */
	uint8_t known; /* PROCESS and EXEC: the text is there (the process still lived) */
};

struct event {
	uint8_t kind;
	uint8_t op;
	uint8_t via;
	uint8_t aside; /* OP: not of what is traced; names that it shows are known from then on */
	uint32_t fidelity; /* OPEN, CREATE, TMPFILE */
	int32_t tid;       /* OP: who asked; 0 unknown */
	uint32_t text_len; /* of the whole text */
	int64_t time_ns;   /* start of the operation; when it happened */
	union {
		struct event_op op;
		struct event_node node;
		struct event_process process;
		struct { uint64_t id; } mount;
		struct { int64_t rss_bytes, cpu_ns; int32_t pid; } sample;
		/* offset of this piece; its length is text_len */
		struct { uint32_t offset; } text;
	} u;
	char text[EVENT_TEXT_INLINE];
};

_Static_assert(sizeof(struct event) == 128, "an event is two cache lines");

/* A piece of EVENT_TEXT uses everything behind its offset. */
#define EVENT_TEXT_PIECE (sizeof(struct event) - offsetof(struct event, u) - 8)

static inline char *event_piece(struct event *piece)
{
	return (char *)piece + sizeof(*piece) - EVENT_TEXT_PIECE;
}

/*
 * The text of EVENT_PROCESS and EVENT_EXEC: these parts in this order, each a 32-bit length in
 * the machine's byte order and as many bytes; a length of PROCESS_PART_UNKNOWN has no bytes and
 * means "not known".  Paths are as /proc shows them.
 */
enum process_part {
	PROCESS_EXE,
	PROCESS_CWD,
	PROCESS_COMM,
	PROCESS_ARGV,    /* arguments, each with its NUL */
	PROCESS_ENVIRON, /* NAME=VALUE, each with its NUL; only what the allow-list lets through */
	PROCESS_STDIN,
	PROCESS_STDOUT,
	PROCESS_STDERR,
	PROCESS_CGROUP,
	PROCESS_PART_MAX
};

#define PROCESS_PART_UNKNOWN UINT32_MAX

#endif
