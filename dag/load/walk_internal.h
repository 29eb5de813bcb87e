/* SPDX-License-Identifier: MIT */
#ifndef DAG_LOAD_WALK_INTERNAL_H
#define DAG_LOAD_WALK_INTERNAL_H

#include <pthread.h>
#include <stdatomic.h>

#include "dag/load/walk.h"

#define WALK_BLOCK ((size_t)2 << 20) /* of memory that one call moves; longer calls name it several times */

/* How far a thread is: a futex. */
struct walk_progress {
	_Atomic uint32_t steps, waiters;
};

/* What all processes share. */
struct walk_shared {
	_Atomic uint32_t stop;	  /* a futex: all end as soon as they can */
	_Atomic uint32_t resting; /* threads that think */
	_Atomic int32_t group;	  /* of processes; 0: none yet */
	_Atomic uint64_t moves;	  /* grows with each step */
	pthread_mutex_t mutex;	  /* of the counts */
	struct walk_counts counts;
	struct walk_progress progress[];
};

struct walk_mapping {
	int32_t handle, file;
	int64_t offset;
	size_t length;
	void *address;
};

/* A further descriptor of a handle. */
struct walk_copy {
	int32_t handle;
	int fd;
};

/* One process. */
struct walk_process {
	const struct plan *plan;
	const struct walk_options *options;
	struct walk_shared *shared;
	const char *noise; /* what is written: 2 * WALK_BLOCK bytes that cannot be compressed */
	int32_t index;
	pthread_mutex_t mutex; /* of what follows, which threads share */
	int *fds;	       /* of each handle, + 1; 0: it is not open here */
	struct walk_copy *copies;
	int32_t n_copies;
	int32_t *pipes; /* handles of pipes that are open here */
	int32_t n_pipes;
	struct walk_mapping *mappings;
	int32_t n_mappings;
};

/* One thread of it. */
struct walk_thread {
	struct walk_process *process;
	int32_t index;
	int64_t clock_ns; /* when its last step would have ended, had nothing but operations and thinking taken time */
	char *buffer;	  /* what is read */
	struct walk_counts counts;
	pthread_t id;
};

/* ---- act.c ---- */

/* Does an operation.  Its result, or -errno.  *ret_skip: it could not be done at all. */
int64_t load_act(struct walk_thread *thread, const struct plan_step *step, enum plan_skip *ret_skip);
/* Closes ends of pipes that the process and those that it will start do not use after that time. */
void load_close_ends(struct walk_thread *thread, int64_t t_ns);

#endif
