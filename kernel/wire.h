/* SPDX-License-Identifier: MIT */
#ifndef KERNEL_WIRE_H
#define KERNEL_WIRE_H

/*
 * The records that the programs in the kernel send to us through the ring buffer.  Both sides are compiled from this
 * header, and the numbers are in the machine's byte order.  Times are CLOCK_MONOTONIC in nanoseconds.
 *
 * A name is one component of a path, at one place of one mount; a handle is one open file description.  Both have ids
 * that count from 1; 0 is "none".  A name is sent before any record that uses it, and after its parent.
 */

#include <stdint.h>

enum wire_type {
	WIRE_NONE,
	WIRE_NAME,    /* struct wire_name */
	WIRE_HANDLE,  /* struct wire_handle: a description that was open before we saw it opened */
	WIRE_RELEASE, /* struct wire_handle: its last descriptor was closed, not by a call of its own */
	WIRE_EXPIRE,  /* struct wire_handle: ends if the execve() that this thread is inside of succeeds */
	WIRE_CALL,    /* struct wire_call: a call by descriptor */
	WIRE_PATH,    /* struct wire_path: a call by path */
	WIRE_PENDING, /* struct wire_call: asynchronous I/O was submitted; result: its key, other: the process; with WIRE_LAST,
		       * its end is that of the handle */
	WIRE_REAPED,  /* struct wire_reaped: its result */
	WIRE_FORK,    /* struct wire_fork */
	WIRE_TEXT,    /* struct wire_text: a piece of what an exec is about to say */
	WIRE_EXEC,    /* struct wire_exec */
	WIRE_EXIT,    /* struct wire_exit */
	WIRE_DEAD,    /* struct wire_exit: all that an ended thread has used */
	WIRE_SAMPLE,  /* struct wire_sample */
	WIRE_SOCKET,  /* struct wire_socket: the ends of a socket, as far as they are known now */
	WIRE_DEVICE,  /* struct wire_device_record: what devices did for a file; not sent, but read from a table at the end */
	WIRE_MAX
};

/* .flags of calls */
#define WIRE_LAST 1	/* close, dup2: the last descriptor of the handle (of the replaced one) is closed */
#define WIRE_COMPAT 2	/* a 32-bit call */
#define WIRE_FAULT 4	/* a string of the program could not be read */
#define WIRE_URING 8	/* a request of io_uring; PATH: as PENDING */
#define WIRE_KNOWN 16	/* STAT: the identity of the file is there */
#define WIRE_EMPTY 32	/* the path is empty: the call is about the descriptor */
#define WIRE_ATTACHED 1 /* EXEC: of a process that ran before it was traced */
#define WIRE_SHARES 64	/* fork: parent and child share their memory */
#define WIRE_SILENT 128 /* PENDING, and PATH as PENDING: success is not reported */

struct wire_head {
	uint8_t type;
	uint8_t flags;
	uint16_t call; /* enum call */
	int32_t tid;
	int64_t time_ns; /* of the event; of calls: the start */
};

/* .flags of names */
#define WIRE_TOP 1	 /* the root of a mount namespace, or of a mount that is in none */
#define WIRE_APART 2	 /* without a place in a tree: a pipe, a socket, memory */
#define WIRE_UNLINKED 4 /* the name is no more, or never was */

struct wire_name {
	struct wire_head head;
	uint64_t id;
	uint64_t parent;
	uint64_t ino;
	int64_t size;
	uint32_t dev; /* with the kernel's bits: 20 of them are the minor number */
	uint32_t generation;
	uint32_t mode;
	uint32_t nlink;
	uint32_t magic; /* of the file system */
	int32_t mount;	/* its id */
	uint32_t len;
	char text[260]; /* len bytes are sent */
};

struct wire_handle {
	struct wire_head head;
	uint64_t handle;
	uint64_t name;
	uint32_t open_flags;
	uint32_t file_mode; /* f_mode */
};

struct wire_call {
	struct wire_head head;
	int64_t latency_ns;
	int64_t result;
	uint64_t handle;
	uint64_t other; /* a second handle */
	int64_t offset; /* -1: not known */
	uint64_t length;
	union {
		struct {
			uint32_t flags;
			uint32_t mode; /* OPEN: of a file to create; GETATTR: of the file; LOCK: its type; vmsplice: it reads */
		};
		int64_t from; /* TRANSFER: the offset that was read from; offset is that of the destination */
	};
};

struct wire_path {
	struct wire_call call;
	uint64_t base, base2; /* names of the directories where the paths begin */
	uint64_t name;	      /* of what was opened */
	uint64_t ino;	      /* of what stat(2) showed */
	int64_t size;
	uint32_t dev; /* as user space has it */
	uint32_t file_mode;
	uint32_t nlink; /* also of what was opened */
	uint16_t len, len2; /* of the paths, with NUL */
	char text[8192];    /* len + len2 bytes are sent */
};

struct wire_reaped {
	struct wire_head head;
	uint64_t pid;
	uint64_t key;
	int64_t result;
	uint64_t handle, name; /* of what was opened */
	uint32_t file_mode;
	uint32_t nlink;
};

/* What a thread waits for. */
enum wire_wait {
	WAIT_OTHER,
	WAIT_FILE,
	WAIT_PIPE,
	WAIT_SOCKET,
	WAIT_LOCK,
	WAIT_CHILD,
	WAIT_SLEEP,
	WAIT_EVENT,
	WAIT_MEMORY,
	WAIT_STOP,
	WAIT_PROCESSOR,
	WAIT_MAX
};

struct wire_figures {
	uint64_t run_ns; /* exact */
	uint64_t utime_ns, stime_ns; /* by ticks: their proportion counts */
	uint64_t read_char, write_char, read_bytes, write_bytes;
	uint64_t minflt, majflt, nvcsw, nivcsw;
	uint64_t maxrss_pages, peak_vm_pages; /* of the process */
	uint64_t life_ns, waits_ns[WAIT_MAX]; /* since the thread is traced; the rest it ran */
};

struct wire_fork {
	struct wire_head head; /* tid: of the child */
	int32_t pid;	       /* the child's process */
	int32_t parent;	       /* the process that forked */
};

enum wire_text_part { WIRE_ARGV, WIRE_ENVIRON };
#define WIRE_TEXT_MOST 4096
#define WIRE_ARGV_MOST (256 << 10)
#define WIRE_ENVIRON_MOST (128 << 10)

struct wire_text {
	struct wire_head head; /* call: enum wire_text_part */
	uint32_t len;
	uint32_t offset;
	char text[WIRE_TEXT_MOST]; /* len bytes are sent */
};

#define WIRE_CGROUPS 10
#define WIRE_CGROUP_NAME 128

struct wire_exec {
	struct wire_head head;
	int32_t pid;
	int32_t old_tid; /* of the thread that called execve() */
	int32_t parent;	 /* ATTACHED: the process's parent, */
	int64_t start_ns; /* and its start */
	uint32_t uid, gid; /* effective */
	uint64_t exe, loader; /* names: the program; the program that loads it (ld.so), 0: none */
	uint64_t cwd;
	uint64_t standard[3]; /* names of descriptors 0, 1, 2 */
	uint32_t argv_len, environ_len; /* what the process has; pieces may be missing */
	uint64_t handles;     /* the first of three ids for the programs that the kernel has opened */
	uint64_t script_base; /* not 0: text is the path of a script, which begins here */
	struct wire_figures before; /* of the thread, until here */
	uint64_t loaded;      /* bytes that the kernel has read of the program and its loader */
	char comm[16];
	/* from the innermost one to below the root; longer ones are not known: 0 */
	char cgroups[WIRE_CGROUPS][WIRE_CGROUP_NAME];
	uint32_t n_cgroups;
	uint32_t len;
	char text[4100]; /* len bytes are sent */
};

struct wire_exit {
	struct wire_head head;
	int32_t pid;
	int32_t status;
	int32_t process_status; /* if it is the last thread */
	uint32_t last;		/* the last thread of the process */
	struct wire_figures figures;
};

/* Of a living process; -1: not known. */
struct wire_sample {
	struct wire_head head; /* tid: the process */
	int64_t rss_pages;
	int64_t run_ns; /* of all its threads, also of those that have ended */
};

#define WIRE_ADDRESS_MOST 128 /* struct sockaddr_storage */

/* Addresses are in the order of the network, ports are numbers. */
struct wire_socket {
	struct wire_head head; /* call: what had the address; CALL_none: nothing */
	uint64_t handle;
	uint64_t peer_ino; /* of the other end of a Unix socket; 0: not known */
	uint32_t dev;	   /* of sockets, with the kernel's bits */
	uint16_t family;
	uint16_t kind; /* SOCK_STREAM ... */
	uint16_t local_port, remote_port;
	uint8_t local[16], remote[16];
	uint32_t length;
	uint8_t address[WIRE_ADDRESS_MOST]; /* that the program passed, or got: length bytes */
};

/* Of a mount: what its daemon tells the programs of an open file. */
struct wire_opened {
	uint64_t handle, node; /* ids of its events */
};

/* Which processes are traced beside those that were added. */
/* The key of the table of what devices did; all of it is set. */
struct wire_device {
	uint64_t dev, ino;
	uint32_t generation;
	int32_t pid;	 /* the process for which; 0: not known */
	uint32_t writes; /* 0: reads */
	uint32_t zero;
};

struct wire_device_io {
	uint64_t operations, bytes;
	uint64_t completed, latency_ns; /* of those that have ended, the sum */
	uint64_t first_ns, last_ns;
};

struct wire_device_record {
	struct wire_head head;
	struct wire_device of;
	struct wire_device_io io;
};

/* Which processes that run already: those that are chosen so far only choose what they start. */
enum wire_attach { ATTACH_NONE, ATTACH_CHOOSING, ATTACH_CHOSEN, ATTACH_ALL, ATTACH_CGROUP };

/* Counters, one for each processor. */
struct wire_counters {
	uint64_t submitted; /* records that were to be sent */
	uint64_t dropped;   /* those that found no room */
	uint64_t spared;    /* programs with further rights that were executed, of which nothing more was to be sent */
	uint64_t padding[5];
};

#endif
