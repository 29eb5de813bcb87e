/* SPDX-License-Identifier: MIT */
#ifndef DAG_LIVE_COLLECT_H
#define DAG_LIVE_COLLECT_H

/*
 * Looks at a trace now and then, and reads what is new since the last look.  The trace is opened for each look and closed after
 * it: its writer could not complete it while a watcher has it open, and it may write over its log as soon as no watcher needs it.
 *
 * One thread.  Memory: some 2,000 bytes for each process that runs and has operations, and 150 for each handle that is open.
 */

#include <stdint.h>

#include "dag/live/live.h"

struct collect;
struct failure;
struct live_one;
struct live_state;

/* path, how: see query_open(); they live as long as collect.  0 or -ENOMEM. */
int collect_create(const char *path, unsigned how, live_waits *waits, struct collect **ret_collect);
void collect_destroy(struct collect *collect); /* NULL is fine */

/*
 * One look.  0, and the caller frees *ret_state; or -errno, with the failure: -ENOENT and such when the trace is gone,
 * -ESTALE: another one has taken its place; -EAGAIN: its writer has begun just now.
 */
int collect_look(struct collect *collect, struct live_state **ret_state, struct failure *failure);

/* After a look: the open files and the last operations of a process.  0, and the caller frees *ret_one; or -errno, with the failure. */
int collect_one(struct collect *collect, int64_t process, struct live_one **ret_one, struct failure *failure);

/* ---- jobs: dear, so they are looked at by themselves ---- */

struct estimate;
struct live_phases;
struct query_db;

/* Is given the trace that is being read, for query_interrupt(), and NULL before that is closed. */
typedef void collect_reads(void *arg, struct query_db *db);

/* All phases; the caller frees them.  like: an earlier run, by which the end is estimated; NULL: none.  0 or -errno. */
int collect_phases(const char *path, unsigned how, struct estimate *like, collect_reads *reads, void *arg,
	struct live_phases **ret_phases, struct failure *failure);

/* What an earlier run tells, for collect_phases(); the caller destroys it.  0 or -errno. */
int collect_like(const char *path, unsigned how, struct estimate **ret_like, struct failure *failure);

#endif
