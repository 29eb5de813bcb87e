/* SPDX-License-Identifier: MIT */
#ifndef DAG_LIVE_COLLECT_INTERNAL_H
#define DAG_LIVE_COLLECT_INTERNAL_H

/* What the files collect*.c share: what is kept between two looks. */

#include <stdbool.h>
#include <uthash.h>

#include "base/failure.h"
#include "dag/live/collect.h"
#include "dag/live/latencies.h"
#include "dag/live/state.h"
#include "db/query.h"

#define ERRORS_KEPT 200
#define ENDED_KEPT 200 /* processes */
#define FILES_SHOWN 200

/* An operation of a process.  Unknown numbers are negative, except the result. */
struct recent {
	int64_t id, handle; /* handle: 0: none */
	int64_t start_ns, latency_ns, bytes, offset, result;
	const char *name; /* of struct kind */
};

#define RECENT 20

struct task {
	int64_t id, pid, parent, image, start_ns, end_ns;
	int64_t exit_code, exit_signal;
	bool is_told;  /* its end was looked at */
	int64_t named; /* the image that program and command are of */
	char *program, *command, *cwd;
	/* Of samples, the last two. */
	int64_t sample_ns, cpu_ns, before_ns, cpu_before_ns, rss_bytes;
	/* In this interval. */
	int64_t operations, read, written;
	struct recent *recent; /* the last RECENT ones in any order; NULL: none */
	int n_recent;
	UT_hash_handle hh;
};

struct kind {
	char name[16];
	int64_t count, failed, bytes, total;
	bool moves;
	struct latencies latencies;
};

struct used_file {
	int64_t id, operations, read, written;
	UT_hash_handle hh;
};

struct open_handle {
	int64_t id, process; /* process: that opened it; 0: not known */
	UT_hash_handle hh;
};

/* What was read and written through a handle that is not known to be closed. */
struct handle_sum {
	int64_t handle, read, written, at; /* at: the end of the last of these; < 0: not known */
	int64_t op;			   /* the last one */
	UT_hash_handle hh;
};

struct wait {
	struct {
		int64_t process;
		int64_t tid;
	} of;
	uint64_t call[3];
	int64_t since_ns, seen_ns; /* monotonic */
	UT_hash_handle hh;
};

struct error {
	struct live_error is; /* with texts of their own */
	int64_t process, op; /* op: 0: it is an end */
};

struct collect {
	const char *path;
	unsigned how;
	int64_t start_ns; /* of the run; 0: there was no look */
	int64_t last_ns;  /* the clock at the last look */
	int64_t first_op_ns; /* the first operation that was read, if the oldest were not */
	int64_t last_op, last_handle, last_process, recorded;
	int64_t new_op, new_handle; /* the last ones of this look */
	bool is_whole; /* each operation since the start was read */
	unsigned parts; /* which views of operations in rows of handles the trace has */
	struct task *tasks;
	int64_t n_all, n_ended;
	struct kind kinds[64];
	int n_kinds;
	struct used_file *files;
	struct open_handle *open;
	struct handle_sum *sums;
	int64_t late_handle; /* up to it, handles were open before the first operation that was read */
	struct error *errors[ERRORS_KEPT]; /* a ring, the next one at n_errors */
	size_t n_errors;
	int64_t read, written; /* in this interval */
	live_waits *waits_of;
	struct wait *waits;
	bool failed;	       /* out of memory */
};

/* New and ended processes, their names and samples. */
int collect_tasks(struct collect *collect, struct query_db *db, struct failure *failure);
/* New operations. */
int collect_operations(struct collect *collect, struct query_db *db, struct failure *failure);
/* Before a look: the sums of the interval begin at 0. */
void collect_begin(struct collect *collect);
/* The state of what was collected.  db: for names of files. */
int collect_state(struct collect *collect, struct query_db *db, double interval_s, struct live_state *state, struct failure *failure);

/* What goes on for a second and more, where that can be seen.  Needs the processes of the state. */
int collect_waits(struct collect *collect, struct live_state *state, struct failure *failure);
void collect_drop_waits(struct collect *collect, int64_t before_ns);

/* The name of a file, in memory; format: a query, with %lld in the place of the id.  NULL: not known. */
const char *collect_path(struct collect *collect, struct query_db *db, const char *format, int64_t id, struct arena *memory);

/* Keeps what one process did: collect_one.c. */
void collect_keep_operation(struct collect *collect, struct task *task, const struct recent *operation);
void collect_add_to_handle(struct collect *collect, const struct recent *operation, bool writes);
void collect_drop_sum(struct collect *collect, int64_t handle);
void collect_drop_sums(struct collect *collect);

struct task *collect_find(const struct collect *collect, int64_t process);
void collect_error(struct collect *collect, const struct error *error);
void collect_drop_task(struct collect *collect, struct task *task);

/* A copy of a text of the row; NULL where it is not known. */
char *collect_text(struct collect *collect, const struct query *row, int column);

/* Runs a query, printed from format; each row is handed to add().  0 or -errno. */
typedef void collect_row(struct collect *collect, const struct query *row);
int collect_each(struct collect *collect, struct query_db *db, collect_row *add, struct failure *failure, const char *sql);

/* "A (id, id, ...) B" for ids in turns, so that no query becomes too long. */
struct ids {
	char *text;
	size_t len, room;
	int n;
};
void ids_add(struct ids *ids, int64_t id, bool *failed);

#endif
