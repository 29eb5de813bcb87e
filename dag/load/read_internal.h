/* SPDX-License-Identifier: MIT */
#ifndef DAG_LOAD_READ_INTERNAL_H
#define DAG_LOAD_READ_INTERNAL_H

/* What is known while a trace becomes a plan: read.c reads its rows, events.c makes steps of them. */

#include "dag/load/plan_internal.h"

struct read_id {
	int64_t id;
	int32_t index;
	UT_hash_handle hh;
};

struct read_file {
	struct order_thing thing;
	int32_t peer;	  /* of a socket: where arrives what is sent to it */
	int32_t read_end; /* of a pipe */
	bool is_written;  /* so far */
	struct order_ref closed; /* a pipe: the last step that closed a descriptor to read from it, or ended a process with one */
};

struct read_open {
	int32_t thread; /* that opened it, by an operation that is a step; PLAN_NONE */
	uint32_t steps;
	int64_t end_ns;
};

struct read_process {
	int64_t parent_id, pid;
	int32_t parent; /* that forks it */
	int64_t start_ns;
	bool started, is_over;
	struct order_ref *ended; /* its children, in the order in which they ended */
	int32_t n_ended;
	int32_t *reads; /* handles of pipes that it has used to read, or a child */
	int32_t n_reads;
};

struct read_thread {
	int64_t end_ns; /* of its last step */
	int32_t n_ended; /* children that it knows */
	struct order_ref done;
};

/* A row of the view op. */
struct read_row {
	uint8_t op;
	bool by_kernel;
	int64_t t_ns, tid, latency_ns, result, offset, length, bytes;
	int32_t process, file, path, path2, handle;
	uint32_t flags;
};

/* An operation that goes on. */
struct read_flight {
	struct read_row row;
	int32_t thread;
	uint32_t step, steps;
	bool is_late; /* what it waits for is known when it ends */
	int64_t before_ns; /* the end of the step before */
};

enum { READ_FORK, READ_EXEC, READ_OP, READ_EXIT };

struct reading {
	struct query_db *db;
	struct plan *plan;
	int dir;
	struct failure *failure;
	struct names names;
	struct order order;
	struct read_id *files, *handles, *processes, *threads;
	struct read_file *file_state;
	int32_t n_file_state;
	struct read_process *process_state;
	int32_t n_process_state;
	struct read_thread *thread_state;
	int32_t n_thread_state;
	struct read_open *opener;
	int32_t n_opener;
	struct read_flight *flights; /* those in the heap, and free ones */
	int32_t n_flights, *heap, n_heap;
	size_t room_heap;
	int32_t living; /* threads */
	struct arena memory;
};

/* The index; PLAN_NONE: there is none. */
int32_t load_read_find(const struct read_id *ids, int64_t id);
int load_read_add(struct reading *in, struct read_id **ids, int64_t id, int32_t index);

/* ---- events.c: in the order of time ---- */

int load_read_begin(struct reading *in);
int load_read_life(struct reading *in, int what, int32_t process, int64_t t_ns);
int load_read_operation(struct reading *in, const struct read_row *row);
int load_read_end(struct reading *in);

#endif
