/* SPDX-License-Identifier: MIT */
#ifndef DAG_GRAPH_SPENT_H
#define DAG_GRAPH_SPENT_H

/*
 * Where the time of a process went: running, or waiting for something, as the view process_time has it.  The trace has the sums of all
 * threads; of a process with several, what counts is what it did, not what each thread did: see spent_of_process().
 */

#include <stdbool.h>
#include <stdint.h>

/* X(NAME, word), in the order of the columns of process_time */
#define SPENT(X)                                                                                                  \
	X(RUNNING, running) X(QUEUE, queue) X(FILE, file) X(PIPE, pipe) X(SOCKET, socket) X(LOCK, lock)           \
	X(CHILD, child) X(SLEEP, sleep) X(EVENT, event) X(MEMORY, memory) X(STOPPED, stopped) X(OTHER, other)

enum spent_part {
#define X(name, word) SPENT_##name,
	SPENT(X)
#undef X
	SPENT_MAX
};

#define SPENT_COLUMNS "process running_ns queue_ns file_ns pipe_ns socket_ns lock_ns child_ns sleep_ns event_ns memory_ns stopped_ns other_ns"

#define SPENT_MOST (INT64_MAX / 16) /* so that sums fit */

struct spent {
	int64_t ns[SPENT_MAX]; /* 0 to SPENT_MOST */
	bool whole;	       /* it is that of the whole life, or nearly */
};

int64_t spent_sum(const struct spent *spent);

/*
 * From the sums of all threads to the time of the process, which lived for life_ns: no more than that.  What the threads lived longer is
 * taken from waits, because while one thread waits another one works: from locks, which other threads hold, then from events and the
 * like, and last from pipes and sockets.  If threads worked at the same time, what is left is work alone, each kind with its share.
 */
void spent_of_process(struct spent *spent, int64_t life_ns);

/* The part with most time, and its percentage, as "running 78 %"; NULL if no time is known.  text has room for 32 bytes. */
const char *spent_mostly(const struct spent *spent, char text[static 32]);

#endif
