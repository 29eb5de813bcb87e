/* SPDX-License-Identifier: MIT */
#ifndef DAG_LOAD_PLAN_H
#define DAG_LOAD_PLAN_H

/*
 * What is to be done: for each thread its steps in order.  Made once by load_plan_read(), then only read, by all processes.
 *
 * Steps and waits lie in files without a name, which are mapped: memory grows with processes, paths and opens, not with operations.
 *
 * A step waits for steps of other threads that used the same thing, if one of both changed it and the other one had ended before
 * this one began.  Things are names, contents of files, pipes, and children that had ended.  Reads of pipes and receiving wait for what
 * had ended before they ended.  So all waits are for steps that had ended earlier: there is no circle.
 *
 * Times are nanoseconds, differences of those of the trace.  Unknown numbers are PLAN_UNKNOWN.
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "db/event.h"

#define PLAN_UNKNOWN INT64_MIN
#define PLAN_NONE (-1)

struct failure;
struct query_db;

/* Steps that are no operations. */
enum plan_step_kind { STEP_FORK = OP_MAX, STEP_EXEC, STEP_EXIT };

/* Why an operation is not done: X(name, what is counted, in words). */
#define PLAN_SKIPS(X)                                                                            \
	X(SOCKET, "operations on sockets; only their order was kept")                            \
	X(DEVICE, "operations on devices and terminals")                                         \
	X(OBJECT, "operations on other objects of the kernel, such as those of epoll")           \
	X(FIFO, "operations on named pipes")                                                     \
	X(AGAIN, "calls that failed because of what a descriptor was doing (EAGAIN, EINTR)")     \
	X(NAME, "operations on names that no file can have, or that are not known")              \
	X(CLOSED, "operations on pipes that were open before the record, or came in messages")                 \
	X(IOCTL, "ioctl calls that succeeded")                                                   \
	X(LOCK, "locks; only their order was kept")                                              \
	X(KERNEL, "reads and writes by the kernel: of programs that it executes, of mapped pages") \
	X(OTHER, "other calls: mprotect, mremap, msync, and those whose arguments are not in the trace")

enum plan_skip {
	SKIP_NONE,
#define X(name, text) SKIP_##name,
	PLAN_SKIPS(X)
#undef X
	SKIP_MAX
};

struct plan_step {
	uint32_t next; /* of the same thread; 0: this is the last one */
	uint8_t kind;  /* enum op or enum plan_step_kind */
	uint8_t skip;
	bool by_handle;
	uint32_t n_waits;
	uint64_t waits; /* the first one */
	int64_t think_ns; /* from the end of the step before, or of the last that it waits for, to its begin */
	int64_t latency_ns, result, offset, length;
	int32_t handle;	     /* index; FORK: the process */
	int32_t path, path2; /* index */
	uint32_t flags;	     /* of mmap: enum plan_map */
};

enum plan_map { MAP_MAY_WRITE = 2, MAP_MAY_EXECUTE = 4, MAP_IS_SHARED = 8 };

/* Until that many steps of the thread are done. */
struct plan_wait {
	uint32_t thread, steps;
};

struct plan_thread {
	int32_t process;
	uint32_t first, last; /* steps; 0: none */
	uint32_t n_steps;
	int32_t next; /* thread of the same process, or PLAN_NONE */
};

/* Process 0 is the program that replays; it starts those that have no parent. */
struct plan_process {
	int32_t thread; /* the first one: it forks */
	int64_t id;	/* in the trace */
	char comm[16];
};

enum plan_file_kind { KIND_FILE, KIND_DIRECTORY, KIND_LINK, KIND_PIPE, KIND_FIFO, KIND_SOCKET, KIND_DEVICE, KIND_OBJECT };

struct plan_file {
	uint8_t kind;
	int64_t size;	/* with which it is prepared */
	int32_t emptied; /* what truncate() leaves: 1 nothing; 0: size_last */
	int64_t size_last;
};

struct plan_handle {
	int32_t file, path; /* index of the path by which it was opened; PLAN_NONE: it has none in the directory */
	uint32_t flags, mode;
	int32_t other_end; /* of the reading end of a pipe, the handle of the other one */
	int32_t last_use;  /* unused until the plan is made */
};

enum plan_state { STATE_UNKNOWN, STATE_THERE, STATE_ABSENT };

/* A name: its text is relative to the directory. */
struct plan_path {
	const char *text; /* "." is the directory itself; NULL: no file can have it */
	int32_t parent;
	int32_t file;	  /* that is there at the begin; PLAN_NONE: not known */
	bool is_there;	  /* at the begin */
	bool is_directory; /* something is below it */
};

struct plan {
	struct plan_step *steps;
	struct plan_wait *waits;
	uint64_t n_steps, n_waits, room_steps, room_waits;
	int steps_fd, waits_fd;
	struct plan_thread *threads;
	int32_t n_threads;
	struct plan_process *processes;
	int32_t n_processes;
	struct plan_file *files;
	int32_t n_files;
	struct plan_handle *handles;
	int32_t n_handles;
	struct plan_path *paths;
	int32_t n_paths;
	int32_t most_threads; /* at once */
	uint64_t counts[OP_MAX], skips[SKIP_MAX];
	uint64_t stored; /* mappings into which programs could store, which is not in the trace */
	struct plan_needs *needs;
	struct arena texts;
};

/* Whether the trace has what a plan needs; else the failure. */
bool load_plan_is_possible(struct query_db *db, struct failure *failure);
/* dir: where the files lie.  0, or a negative errno and the failure.  load_plan_finish() also after errors. */
int load_plan_read(struct query_db *db, int dir, struct plan *plan, struct failure *failure);
void load_plan_finish(struct plan *plan);

/* Until when, by the times of the trace, the process or one that it will start uses the handle; PLAN_UNKNOWN: it does not. */
int64_t load_plan_needed_until(const struct plan *plan, int32_t process, int32_t handle);

#endif
