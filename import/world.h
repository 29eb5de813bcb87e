/* SPDX-License-Identifier: MIT */
#ifndef IMPORT_WORLD_H
#define IMPORT_WORLD_H

/*
 * What others have seen of a run -> events (db/event.h), as if we had seen it: processes and threads, what each has open and where it
 * works.  The readers of formats tell it the calls, in the order of their ends; times are nanoseconds since the epoch.
 *
 * Descriptors are followed through open, dup, fork, exec and close.  What a reader says of a descriptor (its path) is used where
 * the world does not know it: it was open before, or was handed over.  Paths are made absolute by the directory of the process.
 * The events have paths and no nodes, because the inode numbers are not known; the type of a file follows from what was done with it.
 *
 * Whether an open with O_CREAT has made the file is rarely said.  It has if the name was missing before, or if the directory was made in
 * the run and the name was not seen in it (presence.h).  Else it counts as an open.
 *
 * One thread.  Nothing that the readers say is trusted.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "db/event.h"

struct ring;
struct world;

struct world_options {
	struct ring *ring;
	uint8_t tier;	 /* of process events */
	const char *cwd; /* of processes without a parent; NULL: not known */
};

/* 0 or -ENOMEM. */
int world_create(const struct world_options *options, struct world **ret_world);
void world_destroy(struct world *world); /* NULL is fine */

/* ---- processes ---- */

/* Whether the thread lives, as far as is known. */
bool world_has(const struct world *world, int32_t tid);

/* A process that ran before; ppid 0: not known. */
int world_introduce(struct world *world, int32_t pid, int32_t ppid, int64_t time_ns);

enum { WORLD_SHARES_FILES = 1, WORLD_SHARES_CWD = 2, WORLD_IS_THREAD = 4 };
/* by: the thread that called fork(2), which lives; child: the new one; shares: a set of the above. */
int world_fork(struct world *world, int32_t by, int32_t child, unsigned shares, int64_t time_ns);

#define WORLD_NO_FD (-1)

/* A descriptor, and what the source shows of it. */
struct world_fd {
	int32_t number;	  /* AT_FDCWD; WORLD_NO_FD: none */
	const char *path; /* absolute, or as /proc shows it ("pipe:[7]"); NULL: nothing */
	uint32_t type;	  /* S_IFCHR ...; 0: nothing */
};

/* Memory is the caller's. */
struct world_program {
	const char *exe; /* as it was given */
	const char *argv; /* each ended by NUL; NULL: not known */
	size_t argv_len;
	struct world_fd dir; /* where it begins */
};
/* tid executes a program; then it is the only thread of its process, with its number. */
int world_exec(struct world *world, int32_t tid, const struct world_program *program, int64_t time_ns);

/* The end of a thread, or of a process if it is its first one.  status: as from wait(2); -1: not known. */
void world_exit(struct world *world, int32_t tid, int status, int64_t time_ns);

/* Ends what is left, at the end of the record: what became of it is not known. */
void world_end(struct world *world, int64_t time_ns);

/* ---- calls ---- */

/* What a call is beside its operation. */
enum world_act {
	WORLD_PLAIN,	  /* about a descriptor, or a path */
	WORLD_OPEN,	  /* made fd of path */
	WORLD_NEW,	  /* made fd of something without a path */
	WORLD_PAIR,	  /* made fd and other: a pipe, or a pair of sockets */
	WORLD_CLOSE,	  /* fd; WORLD_CLOSE_RANGE: and all until other */
	WORLD_CLOSE_RANGE,
	WORLD_DUP,	  /* fd to other */
	WORLD_SET_EXPIRY, /* fd ends at an exec, or not: expires */
	WORLD_DATA,	  /* reads or writes fd */
	WORLD_TRANSFER,	  /* from other to fd */
	WORLD_SEEK,	  /* fd is at the result now */
	WORLD_MAP,	  /* maps fd at the address 'result' */
	WORLD_UNMAP,	  /* length bytes from the address 'offset' on */
	WORLD_CHDIR,	  /* to path, or fd */
	WORLD_PROGRAM	  /* an exec that failed */
};

/* One finished call.  Fields that it has not are 0, descriptors WORLD_NO_FD. */
struct world_call {
	enum world_act act;
	enum op op; /* OP_MAX: no operation, but it may change the world */
	int32_t tid;
	int64_t start_ns, latency_ns;
	int64_t result; /* >= 0 or -errno */
	struct world_fd fd, other;
	struct world_fd dir, dir2; /* where the paths begin */
	const char *path, *path2;  /* as the program gave them; NULL: none */
	int64_t offset, from; /* of the call, and of the other side of a transfer; -1: those of the descriptors */
	uint64_t length;
	uint32_t flags, mode, type; /* type: of the file, as the call has shown it; 0: it has not */
	bool expires; /* at an exec */
};

/* A call without anything. */
struct world_call world_no_call(void);

/* 0 or -ENOMEM. */
int world_take(struct world *world, const struct world_call *call);

/* Relative paths that could not be placed, because the directory of the process is not known. */
uint64_t world_unplaced(const struct world *world);

#endif
