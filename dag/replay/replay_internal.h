/* SPDX-License-Identifier: MIT */
#ifndef DAG_REPLAY_REPLAY_INTERNAL_H
#define DAG_REPLAY_REPLAY_INTERNAL_H

/* What is to be replayed: made of the trace by replay_plan.c, replay_work.c and replay_data.c, for replay.c
 * alone. */

#include <stdbool.h>
#include <stdint.h>

#include "dag/replay/replay.h"

/*
 * In the life of a process, in this order if the times are the same: the end of a child; it has come as far
 * as its parent waits for; a child has come so far; a fork; the end of a child of no length.
 */
enum { EVENT_END, EVENT_MARK, EVENT_AWAIT, EVENT_FORK, EVENT_END_AT_ONCE };

struct event {
	int64_t time_ns;
	int32_t child; /* of a mark: whose it is */
	uint8_t kind;
};

/* What is between two of them. */
struct piece {
	double cpu_ns; /* of all its threads */
	double wait_ns;
	double width; /* cores that its threads want at once; at least 1 */
};

/* A process, as in the trace. */
struct part {
	int64_t start_ns, end_ns;
	int32_t parent; /* REPLAY_NONE: not in the trace */
	int32_t depth;
	bool driver; /* that has children */
	bool marked; /* its parent waits until it has come somewhere */
	bool waited; /* for its end, by its parent */
	int32_t n_children;
	int32_t first_event, n_events;    /* pieces: one more, from first_event + own index on */
	int64_t own_ns;                   /* while no child lived */
	double cpu_ns, delay_ns, wait_ns; /* measured; the last of its own time */
	double faster;                    /* by the options; 1: as it was */
	double pipe_ns, pipe_rest;        /* of .wait_ns: for the other end of a pipe (pipes.c), and the part of it that remains */
	double request_ns;                /* of that: of the requests that needed a core */
	int64_t requests;
	double few;       /* the part of its life in which there were too few cores */
	double stretch;   /* how much longer its requests took for that */
	int32_t slots_of; /* the driver that owns the slots with which it starts children */
	int32_t slots;
};

/* The processes that wait for the end of a process. */
struct link {
	int32_t to, next;
};

struct plan {
	const struct workflow *workflow;
	int32_t n;
	int64_t begin_ns, end_ns;
	struct part *parts;
	struct event *events;
	struct piece *pieces;
	int32_t room; /* of events */
	double cores; /* that the workflow had when it wanted more */
	/* Children of drivers: those that wait for the end of a process, and for how many one waits. */
	struct link *links;
	int32_t n_links, *first_link, *n_before;
};

/* -ENOMEM.  All of it but links. */
int plan_make(struct plan *plan, const struct workflow *workflow,
	const struct replay_options *options);
int plan_link_data(struct plan *plan);
void plan_finish(struct plan *plan);

/* Parts of plan_make(): work of all pieces; how long no child of a process lived. */
int plan_work(struct plan *plan, const struct replay_options *options);
/* Sets .pipe_ns and .pipe_rest, after .cpu_ns, .wait_ns and .faster. */
int plan_press(struct plan *plan);
void plan_measure_own(struct plan *plan, int32_t process);

/* Calls for each piece of a process: how long it was, and whether a child lived. */
void plan_each_piece(struct plan *plan, int32_t process,
	void (*call)(struct part *, struct piece *, int64_t length_ns, bool covered));

static inline double part_life(const struct part *part)
{
	return (double)(part->end_ns - part->start_ns);
}

static inline struct piece *plan_piece(const struct plan *plan, int32_t process, int32_t i)
{
	return &plan->pieces[plan->parts[process].first_event + process + i];
}

#endif
