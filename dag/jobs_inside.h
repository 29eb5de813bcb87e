/* SPDX-License-Identifier: MIT */
#ifndef DAG_JOBS_INSIDE_H
#define DAG_JOBS_INSIDE_H

/* How jobs are found: for jobs*.c alone. */

#include <stddef.h>
#include <uthash.h>

#include "dag/jobs.h"

/* Memory that lives as long as the jobs. */
struct jobs_text {
	struct jobs_text *next;
	_Alignas(max_align_t) char bytes[];
};

/* A number by a text: jobs, commands by their pipes, files that are appended to. */
struct name {
	UT_hash_handle hh;
	int32_t number;
	char text[];
};

struct load {
	struct jobs *jobs;
	enum jobs_level level;
	int32_t *images;              /* of each process: its command, or JOBS_NONE */
	struct job_command *commands; /* of all processes */
	struct name *appends;
};

/* jobs_read.c: texts, what was started, who appended to what. */
struct name *jobs_find_name(struct name *names, const char *text);
struct name *jobs_get_name(struct name **names, const char *text,
	int32_t number); /* NULL: no memory */
void jobs_free_names(struct name **names);
/* An exit status; what is wrong was printed. */
int jobs_read(struct query_db *db, struct load *load);
/* jobs_part.c: which process and which command belongs to which job.  -ENOMEM. */
int jobs_part(struct load *load);
/* into[]: of each job, with which earlier one it becomes one. */
void jobs_merge(struct jobs *jobs, int32_t *into);
int jobs_merge_pipelines(struct load *load);
/* jobs_about.c: figures, names and directories of jobs that are there. */
int jobs_describe(struct jobs *jobs);
/* As it is seen from the root, if it is that (".") or below. */
const char *jobs_short_path(const struct jobs *jobs, const char *path);
int jobs_find_root(struct query_db *db, struct jobs *jobs, const char *root);
/* jobs_circles.c: *ret_into as in jobs_flow().  -ENOMEM. */
int jobs_find_circles(const struct jobs *jobs, int32_t **ret_into);

#endif
