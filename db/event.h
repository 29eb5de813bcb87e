/* SPDX-License-Identifier: MIT */
#ifndef DB_EVENT_H
#define DB_EVENT_H

/*
 * One observation, which a producer (a request handler, the process monitor) sends to the writer: fixed size, no
 * pointers.  Text that does not fit goes in front of its event, in pieces of kind EVENT_TEXT; ring_push() does that.
 *
 * A node is one inode of the mounted tree while the kernel remembers it; NODE_ROOT is the root.  If the kernel forgets a
 * file and looks it up again, the file has a new node id; files.h recognises it by struct event_node.  A handle is one
 * open.  Ids count from 1; 0 is "none".  Times are monotonic nanoseconds (base/clock.h).
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Operations: the closed list of ftrac-db(5), in the order of the table op_name: X(code, name, by_name, by_handle).
 *
 * The last two are the handlers with which record.c records a request.  by_handle takes a request through an open handle;
 * where it is NULL, by_name takes every request.
 */
#define EVENT_OPS(X)                                                  \
	X(LOOKUP, lookup, record_lookup, NULL)                        \
	X(GETATTR, getattr, record_node, record_handle)               \
	X(CHMOD, chmod, record_node, record_handle)                   \
	X(CHOWN, chown, record_node, record_handle)                   \
	X(TRUNCATE, truncate, record_truncate, record_handle_resize)  \
	X(UTIMENS, utimens, record_node, record_handle)               \
	X(CREATE, create, record_create_file, NULL)                   \
	X(OPEN, open, record_open, NULL)                              \
	X(READ, read, record_node, record_data)                       \
	X(WRITE, write, record_node, record_data)                     \
	X(FLUSH, flush, record_node, record_handle_only)              \
	X(RELEASE, release, record_node, record_release)              \
	X(FSYNC, fsync, record_node, record_handle_only)              \
	X(OPENDIR, opendir, record_open, NULL)                        \
	X(READDIR, readdir, record_node, record_handle)               \
	X(RELEASEDIR, releasedir, record_node, record_release)        \
	X(MKDIR, mkdir, record_make, NULL)                            \
	X(MKNOD, mknod, record_make, NULL)                            \
	X(RMDIR, rmdir, record_remove, NULL)                          \
	X(UNLINK, unlink, record_remove, NULL)                        \
	X(RENAME, rename, record_rename, NULL)                        \
	X(LINK, link, record_link, NULL)                              \
	X(SYMLINK, symlink, record_make, NULL)                        \
	X(READLINK, readlink, record_node, record_handle)             \
	X(GETXATTR, getxattr, record_node, record_handle)             \
	X(SETXATTR, setxattr, record_node, record_handle)             \
	X(LISTXATTR, listxattr, record_node, record_handle)           \
	X(REMOVEXATTR, removexattr, record_node, record_handle)       \
	X(STATFS, statfs, record_node, record_handle)                 \
	X(ACCESS, access, record_node, record_handle)                 \
	X(FALLOCATE, fallocate, record_node, record_handle_resize)    \
	X(COPY, copy, record_copied, record_copy)                     \
	X(LSEEK, lseek, record_node, record_handle_only)              \
	X(IOCTL, ioctl, record_node, record_handle)                   \
	X(LOCK, lock, record_node, record_handle)                     \
	X(TMPFILE, tmpfile, record_tmpfile, NULL)                     \
	X(CLOSE, close, record_node, record_handle_only)              \
	X(DUP, dup, record_node, record_handle_only)                  \
	X(FCNTL, fcntl, record_node, record_handle_only)              \
	X(MMAP, mmap, record_node, record_map)                        \
	X(MUNMAP, munmap, record_node, record_handle_only)            \
	X(MSYNC, msync, record_node, record_handle_only)              \
	X(SENDFILE, sendfile, record_copied, record_copy)             \
	X(SPLICE, splice, record_copied, record_copy)                 \
	X(PIPE, pipe, record_node, record_handle_only)                \
	X(SOCKET, socket, record_node, record_handle_only)            \
	X(CONNECT, connect, record_node, record_handle_only)          \
	X(ACCEPT, accept, record_node, record_handle_only)            \
	X(SEND, send, record_node, record_data)                       \
	X(RECV, recv, record_node, record_data)                       \
	X(MPROTECT, mprotect, record_node, record_map)                \
	X(MREMAP, mremap, record_node, record_map)

enum op {
#define X(op, name, by_name, by_handle) OP_##op,
	EVENT_OPS(X)
#undef X
	OP_MAX
};

extern const char *const event_op_names[OP_MAX];

/* How data moved: by a request as the application made it; read by the page cache; written back from a mapping; copied
 * by the kernel between two files. */
enum via { VIA_DIRECT, VIA_PAGECACHE, VIA_WRITEBACK, VIA_COPY, VIA_MAX };
extern const char *const event_via_names[VIA_MAX];

/* CALL: the system calls of the programs, as the kernel saw them. */
enum fidelity { FIDELITY_EXACT, FIDELITY_CACHED, FIDELITY_OPEN, FIDELITY_CALL, FIDELITY_MAX };
extern const char *const event_fidelity_names[FIDELITY_MAX];
/* The fidelity with that name, or -EINVAL. */
int event_parse_fidelity(const char *text);

/* The kernel sets this open flag when execve(2) opens a program; user space has no header for it. */
#define FMODE_EXEC 040

enum event_kind {
	EVENT_NONE,
	EVENT_TEXT,    /* a piece of the text of the next event; .text.* */
	EVENT_NODE,    /* an inode got a node id; comes before any event that uses the id; .node.* */
	EVENT_FORGET,  /* the kernel has forgotten the node; .node.id */
	EVENT_MOUNT,   /* the source has a mount: text = mountinfo_text(), or the type alone; .mount.* */
	EVENT_OP,      /* one finished request; .op.* */
	EVENT_PROCESS, /* snapshot of a living process; .process.*, text = process_text */
	EVENT_FORK,    /* .process.ppid forked .process.pid at .time_ns */
	EVENT_THREAD,  /* thread .process.tid belongs to .process.pid from .time_ns on */
	EVENT_EXEC,    /* .process.pid began a new image at .time_ns; text = process_text */
	EVENT_EXIT,    /* thread .process.tid ended at .time_ns; the process if it is .process.pid */
	/* Resources that thread .process.tid of .process.pid has used, or, with tid 0, the process so far: text = struct
	 * figures (figures.h).  Comes before the EXIT of that thread. */
	EVENT_FIGURES,
	EVENT_BEFORE,  /* resources that .process.pid had used when its newest image began: text as above */
	EVENT_SAMPLE,  /* sample of a living process at .time_ns; .sample.* */
	EVENT_SOCKET,  /* the ends of a socket at .time_ns; .socket.*, text = its address NUL that of the other end, or empty */
	EVENT_DEVICE,  /* what block devices did for a file until .time_ns; .device.* */
	EVENT_CALLER,  /* a thread that makes calls of layers (layers.h), from .time_ns on; .caller.*, tid 0: not known */
	EVENT_CALL,    /* one finished call of a layer; .call.*, text = struct layer_mpi if has_mpi, struct layer_sum if has_sum, then the path that it names, as the program gave it, or nothing */
	EVENT_KIND_MAX
};

/*
 * The form of an EVENT_OP.
 *   REQUEST  a request of a mount: node and one name in it, as below;
 *   CALL     a system call.  Through a descriptor: handle, as in a request.  By path: text has the path as the program
 *            gave it, which starts at the directory node unless it is absolute (RENAME, LINK: path NUL new path, which
 *            starts at the directory other; SYMLINK: path NUL target).  other is the node that the path led to, where
 *            the kernel told it (OPEN, CREATE, TMPFILE, OPENDIR, and GETATTR by its result), else 0.
 *
 * Of a CALL:
 *   LOOKUP aside    the kernel names a component: node, other and text as in a request.  node 0: text is the whole path of
 *                   other ("pipe:[7]").
 *   OPEN aside      a handle that was open before, or (FMODE_EXEC) a program that the kernel executes: no row.
 *   RELEASE aside   the end of the handle: no row.  CLOSE: one descriptor is closed, and the handle may stay open.
 *   OPEN CREATE OPENDIR GETATTR  by path: length: the links that the file has; 0: none, or not known.  mode: also the type of
 *                   the file, if that is known and other is 0
 *   READLINK        text: path NUL target, where the target is known
 *   LINK            handle: the file of linkat(2) with AT_EMPTY_PATH, or by /proc/self/fd; then the first path is not used
 *   MMAP MUNMAP MSYNC MPROTECT MREMAP  offset, length; flags: of MMAP and MPROTECT, protection | flags of the mapping << 8;
 *                   handle 0: not known; MREMAP other: the length before
 *   LOCK            offset, length (0: to the end); flags: enum lock_flags
 *   SENDFILE SPLICE COPY  handle: written; other: the handle that was read.  handle 0: only the latter is known, and has
 *                   the offset
 *   PIPE SOCKET ACCEPT CONNECT  handle: the first new one, or that of the descriptor that was used
 *   offset          -1 for pipes, sockets and character devices
 */
enum event_form { FORM_REQUEST, FORM_CALL };

/*
 * Of a LOCK of the form CALL: F_RDLCK, F_WRLCK or F_UNLCK, and which lock it is: that of a process (fcntl(2)), of a
 * description (fcntl(2), F_OFD_*), or of a whole file (flock(2)).
 */
enum lock_flags { LOCK_TYPE = 3, LOCK_PROCESS = 4, LOCK_DESCRIPTION = 8, LOCK_FILE = 16, LOCK_WAITS = 32, LOCK_ASKS = 64 };

/* .flags of a LOOKUP aside: the name was removed before, or is one that the kernel made up (O_TMPFILE). */
#define LOOKUP_REMOVED 1

/* .flags of a CALL by path of an operation that has no other flags: a symbolic link at the end is not followed. */
#define EVENT_NOFOLLOW 1

#define NODE_ROOT 1
#define CALL_UNKNOWN UINT64_MAX

/*
 * An operation.  Fields that op does not use are 0.
 *   node     the file; the directory of op's name for LOOKUP CREATE MKDIR MKNOD RMDIR UNLINK
 *            RENAME SYMLINK TMPFILE
 *   other    the node that the name leads to (LOOKUP, CREATE, MKDIR, MKNOD, SYMLINK, TMPFILE: the new node),
 *            the directory of the new name (RENAME, LINK), the handle copied from (COPY)
 *   call     READ and WRITE: the length of the system call of which this request is a piece; 0: the request is small and
 *            counts as a whole call; or CALL_UNKNOWN
 *   result   >= 0 or -errno; bytes for READ and WRITE
 *   text     name; name NUL new name (RENAME); new name (LINK); name NUL target (SYMLINK);
 *            attribute name (xattr operations)
 */
#define EVENT_UNSURE 1 /* the write-back of pages may have undone a direct write */
#define EVENT_KEEPS 2  /* what was read is still there to be read: recv() with MSG_PEEK, tee() */
#define EVENT_CUTS 4   /* the result is the length of a datagram of which no more came than was asked for: MSG_TRUNC */

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
	uint32_t flags; /* open flags as the kernel passed them; RENAME: renameat2 flags; WRITE: EVENT_UNSURE; RECV, SPLICE: EVENT_KEEPS, EVENT_CUTS; or 0 */
	union {
		uint32_t mode;	 /* before the umask; of what was created */
		uint32_t pieces; /* set by calls.c: the number of requests of the call; 0 unknown */
	};
};

#define EVENT_TEXT_INLINE 40

struct event_node {
	uint64_t id;
	uint64_t dev;
	uint64_t ino; /* 0: not known; then the node is a file of its own */
	int64_t birth_ns; /* distinguishes files with the same dev and ino; 0 unknown */
	int64_t size;
	uint64_t mount; /* mount id, see EVENT_MOUNT */
	uint32_t mode;  /* st_mode */
	uint32_t nlink;
	uint32_t generation; /* of the inode number, where birth_ns is not known; 0: not known either */
};

/* Sources of facts about a process; a set. */
enum tier { TIER_INBAND = 1, TIER_CONNECTOR = 2, TIER_TASKSTATS = 4, TIER_PTRACE = 8, TIER_KERNEL = 16 };

struct event_process {
	int32_t pid;
	int32_t ppid;
	int32_t tid;
	int32_t status; /* EXIT: as from wait(2) */
	int64_t start_ns; /* PROCESS: its start, from /proc (resolution: a clock tick) */
	int64_t loaded;	  /* EXEC: bytes that the kernel has read of the program and its loader; 0: not known */
	uint32_t uid; /* PROCESS and EXEC; UINT32_MAX: not known, and the group neither */
	uint32_t gid;
	uint8_t tier;
	uint8_t new_image; /* PROCESS: it runs another program than in the last snapshot */
	uint8_t known; /* PROCESS and EXEC: there is a text (the process was still alive) */
};

struct event {
	uint8_t kind;
	uint8_t op;
	uint8_t via;
	uint8_t aside; /* OP: not from a traced process; recorded only for the names that it shows */
	uint16_t fidelity; /* OPEN, CREATE, TMPFILE */
	uint16_t form;	   /* OP: enum event_form */
	int32_t tid;       /* OP: the requesting thread; 0 unknown */
	uint32_t text_len; /* of the whole text */
	int64_t time_ns;   /* start of the operation, or time of the event */
	union {
		struct event_op op;
		struct event_node node;
		struct event_process process;
		struct { uint64_t id; } mount;
		struct { int64_t rss_bytes, cpu_ns; int32_t pid; } sample;
		/* peer: the other end, 0 not known; family: AF_*; kind: SOCK_*; received, if not 0: the remote address is where data came from */
		struct { uint64_t node, peer; uint16_t family, kind; uint8_t received; } socket;
		/* pid 0: for an unknown process; latency_ns: the sum of the completed ones */
		struct {
			uint64_t node, operations, bytes, completed;
			int64_t latency_ns, first_ns;
			int32_t pid;
			uint32_t writes;
		} device;
		/* a thread in one program: after an exec it is another one; pid 0: not known */
		struct { uint32_t id; int32_t pid; } caller;
		/* number: of the call in its caller, from 1 on; parent: of the call inside of which it was made, 0: none; code: enum
		 * layer_call; result: -errno of calls that failed */
		struct {
			int64_t latency_ns, offset, length, result;
			uint32_t caller, number, parent;
			int32_t fd;
			uint16_t code;
			uint8_t has_fd, has_offset, has_length, has_result, has_mpi, has_sum; /* 0: no */
		} call;
		/* the offset of this piece; text_len is its length */
		struct { uint32_t offset; } text;
	} u;
	char text[EVENT_TEXT_INLINE];
};

_Static_assert(sizeof(struct event) == 128, "an event is two cache lines");

/* A piece of EVENT_TEXT uses the rest of the event after its offset. */
#define EVENT_TEXT_PIECE (sizeof(struct event) - offsetof(struct event, u) - 8)

static inline char *event_piece(struct event *piece)
{
	return (char *)piece + sizeof(*piece) - EVENT_TEXT_PIECE;
}

/*
 * The text of EVENT_PROCESS and EVENT_EXEC: these parts in this order.  A part is a 32-bit length in the machine's byte
 * order, then that many bytes; the length PROCESS_PART_UNKNOWN has no bytes and means "not known".  Paths are as in
 * /proc.
 */
enum process_part {
	PROCESS_EXE,
	PROCESS_CWD,
	PROCESS_COMM,
	PROCESS_ARGV,    /* arguments, each ended by NUL */
	PROCESS_ENVIRON, /* NAME=VALUE, each ended by NUL; only names on the allow-list */
	PROCESS_STDIN,
	PROCESS_STDOUT,
	PROCESS_STDERR,
	PROCESS_CGROUP,
	PROCESS_PART_MAX
};

#define PROCESS_PART_UNKNOWN UINT32_MAX

#endif
