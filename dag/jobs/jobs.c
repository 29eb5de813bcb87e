/* SPDX-License-Identifier: MIT */
#include "dag/jobs/jobs_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/failure.h"
#include "dag/trace/compose.h"
#include "dag/trace/traces.h"
#include "db/query.h"

/* ---- jobs ---- */

static void free_jobs(struct jobs *jobs)
{
	for (int32_t i = 0; i < jobs->n_jobs && jobs->jobs; i++) {
		free(jobs->jobs[i].name);
		free(jobs->jobs[i].script);
		free(jobs->jobs[i].deps);
		free(jobs->jobs[i].inputs);
		free(jobs->jobs[i].outputs);
		free(jobs->jobs[i].targets);
		free(jobs->jobs[i].seen);
		free(jobs->jobs[i].listed);
	}
	free(jobs->jobs);
	free(jobs->files);
	jobs->jobs = NULL;
	jobs->files = NULL;
	jobs->n_files = 0;
}

static int create_jobs(struct jobs *jobs)
{
	jobs->jobs = calloc((size_t)jobs->n_jobs + 1, sizeof(*jobs->jobs));
	for (int32_t i = 0; i < jobs->n_jobs && jobs->jobs; i++)
		jobs->jobs[i] = (struct job){ .command = JOBS_NONE,
			.start_ns = GRAPH_NEVER,
			.rss_bytes = WORKFLOW_UNKNOWN,
			.status = -1 };
	return jobs->jobs ? 0 : -ENOMEM;
}

/* What each waits for; those that wait for each other become one, and then it is looked at once more. */
static int make_jobs(struct jobs *jobs)
{
	int32_t *into = NULL;
	int r = create_jobs(jobs);

	if (r == 0)
		r = jobs_flow(jobs, &into);
	while (r == 0 && into) {
		int32_t n = jobs->n_jobs;

		free_jobs(jobs);
		jobs_merge(jobs, into);
		free(into);
		into = NULL;
		r = jobs->n_jobs < n ? create_jobs(jobs) : -EINVAL;
		if (r == 0)
			r = jobs_flow(jobs, &into);
	}
	free(into);
	return r;
}

/* ---- the whole ---- */

static int part(struct load *load, const char *root)
{
	int r = jobs_part(load);

	if (r == 0)
		r = jobs_find_root(load->db, load->jobs, root);
	return r == 0 ? jobs_merge_pipelines(load) : r;
}

static int count_operation(void *arg, const struct query *query)
{
	*(bool *)arg |= query_int(query, 0);
	return 0;
}

static int read_names(struct load *load)
{
	const struct choice all = { .step_ns = 1 };
	struct jobs *jobs = load->jobs;
	bool has_ops = false;
	int r = traces_each(load->db, "any-op", "has_ops", &all, count_operation, &has_ops,
		load->failure);

	if (r == 0 && has_ops)
		r = jobs_read_names(load);
	else if (r == 0)
		r = failure_of_memory(load->failure, jobs_guess_names(jobs));
	if (r < 0 || !has_ops) {
		jobs->n_gaps = -1;
		return r;
	}
	jobs->names->by_process = load->level == JOBS_PROCESS;
	return load->level == JOBS_JOB ? failure_of_memory(load->failure, jobs_again(load)) : 0;
}

static int make_all(struct jobs *jobs)
{
	int r = make_jobs(jobs);

	if (r == 0)
		r = jobs_describe(jobs);
	return r == 0 ? jobs_scripts(jobs) : r;
}

int jobs_load(struct query_db *db, const struct workflow *workflow, const struct choice *choice,
	enum jobs_level level, const char *root, struct jobs **ret_jobs, struct failure *failure)
{
	struct jobs *jobs = calloc(1, sizeof(*jobs));
	struct load load = {
		.jobs = jobs, .db = db, .failure = failure, .level = level, .choice = choice
	};
	int r;

	*ret_jobs = jobs;
	if (!jobs)
		return failure_memory(failure);
	jobs->workflow = workflow;
	r = jobs_read(&load);
	if (r == 0)
		r = failure_of_memory(failure, part(&load, root));
	if (r == 0)
		r = read_names(&load);
	if (r == 0)
		r = failure_of_memory(failure, make_all(jobs));
	jobs_free_names(&load.appends);
	free(load.images);
	free(load.commands);
	free(load.opened);
	free(load.uses);
	return r;
}

void jobs_destroy(struct jobs *jobs)
{
	if (!jobs)
		return;
	free_jobs(jobs);
	arena_free(&jobs->texts);
	jobs_forget_names(jobs);
	free(jobs->commands);
	free(jobs->root);
	free(jobs->of);
	free(jobs);
}
