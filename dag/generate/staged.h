/* SPDX-License-Identifier: MIT */
#ifndef DAG_GENERATE_STAGED_H
#define DAG_GENERATE_STAGED_H

/*
 * Jobs (jobs.h) that run each in a directory of its own: which files must be there when a job begins and where each comes from, what
 * the job makes, and which jobs must have ended though no file comes of them.
 *
 * A file that several jobs write is several: each job has the one of the last that wrote it before.  Files outside of the folder of the
 * workflow, which commands reach by their absolute paths, and directories are not staged.  Jobs that use no file have nothing.
 */

#include <stdbool.h>
#include <stdint.h>

#include "dag/jobs/jobs.h"

struct staged_file {
	int32_t file; /* index */
	int32_t from; /* the job that makes it; JOBS_NONE: it was there before */
	bool changes; /* the job changes it in place, or replaces it; it has a copy of its own */
};

struct staged_job {
	struct staged_file *finds;
	int32_t *makes; /* files */
	int32_t *after; /* jobs */
	int32_t n_finds, n_makes, n_after;
	bool runs; /* it uses files */
};

struct staged {
	struct staged_job *jobs; /* of each job, then one more: what jobs made and is there in the end */
	int32_t n_jobs;
	int32_t *sources; /* files that are to be there before, each once */
	int32_t n_sources;
};

/* -ENOMEM; to be destroyed in any case. */
int staged_create(const struct jobs *jobs, struct staged **ret_staged);
void staged_destroy(struct staged *staged);

static inline const struct staged_job *staged_end(const struct staged *staged)
{
	return &staged->jobs[staged->n_jobs];
}

#endif
