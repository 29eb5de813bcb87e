/* SPDX-License-Identifier: MIT */

/* What is known of jobs: time, memory, bytes, names, directories. */

#include "dag/jobs/jobs_internal.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/saturate.h"
#include "db/query.h"

#define JOB_NAME_MAX 200

int64_t job_sum(int64_t sum, int64_t more)
{
	return sum == WORKFLOW_UNKNOWN || more < 0 ? WORKFLOW_UNKNOWN : saturate_add(sum, more);
}

static void add_process(struct job *job, const struct graph_process *process,
	const struct task *task)
{
	if (process->start_ns < job->start_ns) {
		job->start_ns = process->start_ns;
		job->xform = task->xform;
	}
	if (process->end_ns > job->end_ns)
		job->end_ns = process->end_ns;
	job->cpu_ns = job_sum(job->cpu_ns, task->cpu_ns);
}

struct change {
	int32_t job;
	int64_t time_ns, bytes;
};

static int compare_changes(const void *x, const void *y)
{
	const struct change *a = x, *b = y;

	if (a->job != b->job)
		return a->job < b->job ? -1 : 1;
	if (a->time_ns != b->time_ns)
		return a->time_ns < b->time_ns ? -1 : 1;
	return (a->bytes > b->bytes) - (a->bytes < b->bytes);
}

/* The most memory at one time, if each process had its peak during its whole life. */
static int add_memory(struct jobs *jobs)
{
	const struct graph *g = jobs->workflow->graph;
	cleanup_free struct change *changes =
		malloc((2 * (size_t)g->n_processes + 1) * sizeof(*changes));
	int64_t now = 0;
	size_t n = 0;

	if (!changes)
		return -ENOMEM;
	for (int32_t i = 0; i < g->n_processes; i++) {
		int64_t rss = workflow_task(jobs->workflow, i)->rss_bytes;

		if (jobs->of[i] == JOBS_NONE || rss == WORKFLOW_UNKNOWN)
			continue;
		changes[n++] = (struct change){ jobs->of[i], g->processes[i].start_ns, rss };
		changes[n++] = (struct change){ jobs->of[i], g->processes[i].end_ns, -rss };
	}
	qsort(changes, n, sizeof(*changes), compare_changes);
	for (size_t i = 0; i < n; i++) {
		struct job *job = &jobs->jobs[changes[i].job];

		now = i && changes[i - 1].job == changes[i].job
			      ? saturate_add(now, changes[i].bytes)
			      : changes[i].bytes;
		if (job->rss_bytes == WORKFLOW_UNKNOWN || now > job->rss_bytes)
			job->rss_bytes = now;
	}
	for (int32_t i = 0; i < g->n_processes; i++)
		if (jobs->of[i] != JOBS_NONE &&
			workflow_task(jobs->workflow, i)->rss_bytes == WORKFLOW_UNKNOWN)
			jobs->jobs[jobs->of[i]].rss_bytes = WORKFLOW_UNKNOWN;
	return 0;
}

int64_t job_cores(const struct job *job)
{
	int64_t wall_ns = job->end_ns == GRAPH_NEVER ? 0 : job->end_ns - job->start_ns;

	if (wall_ns <= 0 || job->cpu_ns == WORKFLOW_UNKNOWN)
		return 0;
	/* A tenth above a whole number is what is measured beside it. */
	return job->cpu_ns <= wall_ns ? 1
				      : saturate_add(job->cpu_ns, wall_ns - wall_ns / 10) / wall_ns;
}

void job_each_use(const struct job *job,
	void (*use)(void *arg, int32_t file, bool input, bool output), void *arg)
{
	int32_t i = 0, o = 0;

	while (i < job->n_inputs || o < job->n_outputs) {
		bool input = i < job->n_inputs &&
			     (o == job->n_outputs || job->inputs[i] <= job->outputs[o]);
		bool output = o < job->n_outputs &&
			      (i == job->n_inputs || job->outputs[o] <= job->inputs[i]);

		use(arg, input ? job->inputs[i] : job->outputs[o], input, output);
		i += input;
		o += output;
	}
}

static void add_figures(struct jobs *jobs)
{
	const struct graph *g = jobs->workflow->graph;

	for (int32_t i = 0; i < g->n_processes; i++)
		if (jobs->of[i] != JOBS_NONE)
			add_process(&jobs->jobs[jobs->of[i]], &g->processes[i],
				workflow_task(jobs->workflow, i));
	/* A trace without files does not say how much was read and written. */
	for (int32_t i = 0; i < jobs->n_jobs && g->n_accesses == 0; i++)
		jobs->jobs[i].read_bytes = jobs->jobs[i].written_bytes = WORKFLOW_UNKNOWN;
	for (int32_t i = 0; i < g->n_accesses; i++) {
		int32_t index = jobs->of[g->accesses[i].process];
		struct job *job;

		if (index == JOBS_NONE || !jobs->workflow->chosen[i])
			continue;
		job = &jobs->jobs[index];
		job->read_bytes = job_sum(job->read_bytes, g->accesses[i].bread);
		job->written_bytes = job_sum(job->written_bytes, g->accesses[i].bwrite);
	}
}

static int status_of(const struct task *task)
{
	if (task->exit_signal != WORKFLOW_UNKNOWN)
		return 128 + (int)task->exit_signal;
	return task->exit_code == WORKFLOW_UNKNOWN ? -1 : (int)task->exit_code;
}

const char *jobs_short_path(const struct jobs *jobs, const char *path)
{
	size_t len = strlen(jobs->root);

	if (strncmp(path, jobs->root, len) != 0 || (path[len] != '/' && path[len]))
		return path;
	return path[len] ? path + len + 1 : ".";
}

static int add_commands(struct jobs *jobs)
{
	cleanup_free int64_t *last_ns = calloc((size_t)jobs->n_jobs + 1, sizeof(*last_ns));

	if (!last_ns)
		return -ENOMEM;
	for (int32_t i = 0; i < jobs->n_commands; i++) {
		struct job_command *command = &jobs->commands[i];
		struct job *job = &jobs->jobs[command->job];

		command->status = command->by_driver ? 0
						     : status_of(workflow_task(jobs->workflow, command->process));
		if (command->by_driver) {
			job->xform = job_program(jobs, &(struct job){ .command = i });
			job->start_ns = job->end_ns = command->start_ns;
		}
		if (job->command == JOBS_NONE) {
			job->command = i;
			job->cwd = command->cwd ? jobs_short_path(jobs, command->cwd) : NULL;
		}
		if (command->reader == JOBS_NONE && command->start_ns >= last_ns[command->job]) {
			last_ns[command->job] = command->start_ns;
			job->status = command->status;
		}
	}
	return 0;
}

/* Names serve as file names, which have a limit, and as rule names of Snakemake, which begin with no digit. */
static int name_jobs(struct jobs *jobs)
{
	for (int32_t i = 0; i < jobs->n_jobs; i++) {
		struct job *job = &jobs->jobs[i];
		const char *xform = job->xform ? job->xform : "job";

		if (asprintf(&job->name, "%s%.*s_%d", *xform >= '0' && *xform <= '9' ? "_" : "",
			    JOB_NAME_MAX, xform, i + 1) < 0) {
			job->name = NULL;
			return -ENOMEM;
		}
		for (char *at = job->name; *at; at++)
			if (!strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
				    "_",
				    *at))
				*at = '_';
	}
	return 0;
}

const char *job_program(const struct jobs *jobs, const struct job *job)
{
	char **argv = job->command == JOBS_NONE ? NULL : jobs->commands[job->command].argv;
	const char *slash = argv && argv[0] ? strrchr(argv[0], '/') : NULL;
	const char *name = slash ? slash + 1 : argv && argv[0] ? argv[0] : "";

	return *name ? name : "unknown";
}

int jobs_describe(struct jobs *jobs)
{
	int r;

	add_figures(jobs);
	r = add_commands(jobs);
	if (r == 0)
		r = add_memory(jobs);
	return r == 0 ? name_jobs(jobs) : r;
}

/* ---- the root ---- */

/* The directory above both. */
static void shorten(char *root, const char *path)
{
	size_t len = 0, slash = 0;

	while (root[len] && root[len] == path[len]) {
		slash = root[len] == '/' ? len : slash;
		len++;
	}
	if (root[len] || (path[len] && path[len] != '/'))
		root[path[len] == '\0' && root[len] == '/' ? len : slash] = '\0';
}

static char *common_root(const struct jobs *jobs)
{
	char *root = NULL;

	for (int32_t i = 0; i < jobs->n_commands; i++) {
		const char *cwd = jobs->commands[i].cwd;

		if (!cwd || cwd[0] != '/')
			continue;
		if (root)
			shorten(root, cwd);
		else if (!(root = strdup(cwd)))
			return NULL;
	}
	return root ? root : strdup("");
}

int jobs_find_root(struct query_db *db, struct jobs *jobs, const char *root)
{
	const char *cwd = root ? NULL : query_fact_text(db, "cwd"),
		   *command = root ? NULL : query_fact_text(db, "command");
	size_t len;

	/* A mount has a directory, too, but it says nothing. */
	jobs->root = root                                 ? strdup(root)
		     : command && *command && cwd && *cwd ? strdup(cwd)
							  : common_root(jobs);
	if (!jobs->root)
		return -ENOMEM;
	for (len = strlen(jobs->root); len && jobs->root[len - 1] == '/'; len--)
		jobs->root[len - 1] = '\0';
	return 0;
}
