/* SPDX-License-Identifier: MIT */
#ifndef DAG_LIVE_ESTIMATE_H
#define DAG_LIVE_ESTIMATE_H

/*
 * When a run will end, and how many jobs are still to come, by an earlier run of the same workflow.
 *
 * What the run has done is expressed by the times of the earlier one.  A job that has ended counts with the life of its namesake
 * there: the jobs with the same step and task, else those of the same phase, on average.  A job that runs counts with its age, at the speed
 * of the jobs that have ended, and with no more than its namesake.  The earlier run had done as much at some time t.  It took
 * T - t from there, and so this run will take (T - t) * elapsed / t: parts of the workflow that do not run in parallel are taken
 * into account, and that this machine is slower, or more loaded.
 *
 *   create; learn for each job of the earlier run; learned.  Then for each look: begin; add for each job; left
 *
 * Times are ns since the start of the run that they belong to.  One thread.  Memory: some 200 bytes for each job of the earlier run.
 */

#include <stdint.h>

struct estimate;

struct estimate_job {
	const char *phase;	 /* NULL: not known */
	const char *step, *task; /* task NULL: it has none */
	int64_t start_ns, end_ns; /* end_ns < 0: it runs */
};

/* 0 or -ENOMEM. */
int estimate_create(struct estimate **ret_estimate);
void estimate_destroy(struct estimate *estimate); /* NULL is fine */

/* In the order in which they began.  Jobs that have not ended are left out.  0 or -ENOMEM. */
int estimate_learn(struct estimate *estimate, const struct estimate_job *job);
/* No more jobs: the earlier run took run_ns. */
void estimate_learned(struct estimate *estimate, int64_t run_ns);

/* Each phase of the earlier run, in the order in which they began there.  The first result that is not 0, which ends it. */
typedef int estimate_phase(void *arg, const char *phase, int64_t jobs);
int estimate_each_phase(const struct estimate *estimate, estimate_phase *each, void *arg);

void estimate_begin(struct estimate *estimate);
void estimate_add(struct estimate *estimate, const struct estimate_job *job, int64_t now_ns);
/* Until the end of the run; -1: not known, as long as no namesake has run. */
int64_t estimate_left_ns(const struct estimate *estimate, int64_t elapsed_ns);

#endif
