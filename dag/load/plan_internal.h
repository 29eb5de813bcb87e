/* SPDX-License-Identifier: MIT */
#ifndef DAG_LOAD_PLAN_INTERNAL_H
#define DAG_LOAD_PLAN_INTERNAL_H

/* How a plan is made: rows of the trace in the order of time (read.c) become steps (plan.c), which wait for others (order.c) and find
 * names as they were (names.c). */

#include <uthash.h>

#include "dag/load/plan.h"

/* The use of a pipe's end by a process. */
struct plan_needs {
	uint64_t key; /* process << 32 | handle */
	int64_t until_ns;
	UT_hash_handle hh;
};

/* 0 or -errno; the thread's last step is the new one. */
int load_plan_append(struct plan *plan, int dir, int32_t thread, const struct plan_step *step, uint32_t *ret_step);
int load_plan_append_wait(struct plan *plan, int dir, struct plan_wait wait);
/* The process uses the handle at that time.  0 or -ENOMEM. */
int load_plan_need(struct plan *plan, int32_t process, int32_t handle, int64_t until_ns);

/* ---- order.c ---- */

/* A step that was done: until then the thread had done so many. */
struct order_ref {
	int32_t thread;
	uint32_t steps;
	int64_t end_ns;
};

/* What one step may change while others use it. */
struct order_thing {
	struct order_ref changed; /* steps 0: it was not */
	struct order_ref *users;  /* since then: the last one of each thread */
	int32_t n_users;
	bool changes; /* at any time; others have no users */
};

struct order_wait_key {
	uint64_t key; /* thread << 32 | other thread */
	uint32_t steps;
	UT_hash_handle hh;
};

/* Collects what a step waits for. */
struct order {
	struct plan *plan;
	int dir;
	struct order_wait_key *known; /* what each thread has waited for already */
	struct arena memory;
};

/* The step waits for ref.  *latest_ns grows to the end of that.  0 or -errno. */
int load_order_wait(struct order *order, int32_t thread, uint32_t step, struct order_ref ref, int64_t *latest_ns);
/* The same for all that a step waits for which uses, or changes, the thing. */
int load_order_after(struct order *order, int32_t thread, uint32_t step, const struct order_thing *thing, bool change, int64_t *latest_ns);
/* The step has used, or changed, the thing. */
int load_order_done(struct order_thing *thing, struct order_ref ref, int64_t start_ns, bool change);
void load_order_finish(struct order *order);

/* ---- names.c ---- */

struct names_entry;
struct names {
	struct plan *plan;
	struct names_entry *by_text;
	struct order_thing *things; /* of each path */
	uint8_t *states;	    /* enum plan_state, as it is now */
	int32_t *moved_from;	    /* the path that a directory had before; PLAN_NONE: it was not moved */
	size_t room_things, room_states, room_moved;
};

/* The index of an absolute path; PLAN_NONE: no file can have it; -ENOMEM. */
int load_names_find(struct names *names, const char *text, size_t len, int32_t *ret_path);
/* An operation found it: a file, or no file.  What is not known yet was so at the begin. */
void load_names_found(struct names *names, int32_t path, int32_t file, bool is_there);
/* An operation has made it, or taken it away. */
void load_names_made(struct names *names, int32_t path, int32_t file);
void load_names_removed(struct names *names, int32_t path);
void load_names_moved(struct names *names, int32_t from, int32_t to, int32_t file);
void load_names_finish(struct names *names);

/* ---- flags.c ---- */

/* The open flags that ftrac-db(5) has as a text.  Names that are not known count as none. */
uint32_t load_flags_parse(const char *text, size_t len);

#endif
