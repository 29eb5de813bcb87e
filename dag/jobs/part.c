/* SPDX-License-Identifier: MIT */

/* Which process and which command belongs to which job. */

#include "dag/jobs/jobs_internal.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "db/drivers.h"

/* Processes that did nothing are no steps. */
static void number_processes(struct load *load)
{
	struct jobs *jobs = load->jobs;
	const struct workflow *w = jobs->workflow;
	const struct graph *g = w->graph;

	for (int32_t i = 0; i < g->n_processes; i++)
		jobs->of[i] = load->images[i] == JOBS_NONE ? JOBS_NONE : 0;
	for (int32_t i = 0; i < g->n_accesses; i++)
		if (w->chosen[i] && g->accesses[i].kinds)
			jobs->of[g->accesses[i].process] = 0;
	for (int32_t i = 0; i < g->n_processes; i++)
		if (jobs->of[i] != JOBS_NONE)
			jobs->of[i] = jobs->n_jobs++;
}

static int number_jobs(struct load *load)
{
	struct jobs *jobs = load->jobs;
	struct name *names = NULL, *name;
	int r = 0;

	for (int32_t i = 0; i < jobs->workflow->graph->n_processes && r == 0; i++) {
		const char *job = workflow_task(jobs->workflow, i)->job;

		jobs->of[i] = JOBS_NONE;
		if (!job)
			continue;
		name = jobs_get_name(&names, job, jobs->n_jobs);
		r = name ? 0 : -ENOMEM;
		jobs->of[i] = name ? name->number : JOBS_NONE;
		jobs->n_jobs += name && name->number == jobs->n_jobs;
	}
	jobs_free_names(&names);
	return r;
}

/* Does it run what rules say, and not what it is given on its command line or reads, as xargs? */
static bool is_builder(const struct workflow *w, int32_t process)
{
	const struct task *task = workflow_task(w, process);
	const struct driver *driver =
		task->program ? driver_find(task->program, strlen(task->program)) : NULL;

	return task->driver && task->program && !(driver && driver->lists);
}

/* What xargs starts inside of a job is a part of that job, because the command of the job starts it again. */
static int absorb_lists(struct jobs *jobs)
{
	const struct workflow *w = jobs->workflow;
	cleanup_free int32_t *into = malloc(((size_t)jobs->n_jobs + 1) * sizeof(*into));

	if (!into)
		return -ENOMEM;
	for (int32_t i = 0; i < jobs->n_jobs; i++)
		into[i] = i;
	for (int32_t i = 0; i < w->graph->n_processes; i++) {
		int32_t parent = graph_parent(w->graph, i);

		if (parent != GRAPH_NONE && jobs->of[i] != JOBS_NONE &&
			jobs->of[parent] != JOBS_NONE && workflow_task(w, parent)->driver &&
			!is_builder(w, parent))
			into[jobs->of[i]] = into[jobs->of[parent]];
	}
	for (int32_t i = 0; i < w->graph->n_processes; i++)
		if (jobs->of[i] != JOBS_NONE)
			jobs->of[i] = into[jobs->of[i]];
	return 0;
}

/* Marks the processes of a job above the first process of another job, or above one that make started if the
 * whole batch job is one job. */
static void mark_drivers(const struct jobs *jobs, bool *drives)
{
	const struct graph *g = jobs->workflow->graph;

	for (int32_t i = 0; i < g->n_processes; i++) {
		int32_t at = graph_parent(g, i), job = at == GRAPH_NONE ? JOBS_NONE : jobs->of[at];

		if (job == JOBS_NONE || (job == jobs->of[i] && !is_builder(jobs->workflow, at)))
			continue;
		for (; at != GRAPH_NONE && jobs->of[at] == job && !drives[at];
			at = graph_parent(g, at))
			drives[at] = true;
	}
}

/*
 * A job that started others, as a batch job in which make runs, cannot be run again beside them: what leads to
 * them is a driver, and what else it started are jobs of their own.
 */
static int split_drivers(struct jobs *jobs)
{
	const struct graph *g = jobs->workflow->graph;
	cleanup_free bool *drives = calloc((size_t)g->n_processes + 1, sizeof(*drives));
	cleanup_free int32_t *was = malloc(((size_t)g->n_processes + 1) * sizeof(*was));

	if (!drives || !was)
		return -ENOMEM;
	mark_drivers(jobs, drives);
	memcpy(was, jobs->of, (size_t)g->n_processes * sizeof(*was));
	for (int32_t i = 0; i < g->n_processes; i++) {
		int32_t parent = graph_parent(g, i);

		if (drives[i])
			jobs->of[i] = JOBS_NONE;
		else if (was[i] != JOBS_NONE && parent != GRAPH_NONE && was[parent] == was[i])
			jobs->of[i] = drives[parent] ? jobs->n_jobs++ : jobs->of[parent];
	}
	return 0;
}

/* In the order in which they began, and none that is empty. */
static int renumber_jobs(struct jobs *jobs)
{
	const struct graph *g = jobs->workflow->graph;
	cleanup_free int32_t *number = malloc(((size_t)jobs->n_jobs + 1) * sizeof(*number));
	int32_t n = 0;

	if (!number)
		return -ENOMEM;
	for (int32_t i = 0; i < jobs->n_jobs; i++)
		number[i] = JOBS_NONE;
	for (int32_t i = 0; i < g->n_processes; i++) {
		int32_t job = jobs->of[i];

		if (job == JOBS_NONE)
			continue;
		if (number[job] == JOBS_NONE)
			number[job] = n++;
		jobs->of[i] = number[job];
	}
	jobs->n_jobs = n;
	return 0;
}

enum top { TOP_NOT_ASKED, TOP_YES, TOP_NO };

/* What is known of a process without a look at what is above its parent. */
static enum top look_at(const struct load *load, int32_t process, int32_t parent)
{
	const struct jobs *jobs = load->jobs;
	int32_t image;

	if (parent == GRAPH_NONE || jobs->of[parent] != jobs->of[process])
		return TOP_YES;
	image = load->images[parent];
	return image != JOBS_NONE && load->commands[image].start_ns <=
					     jobs->workflow->graph->processes[process].start_ns
		       ? TOP_NO
		       : TOP_NOT_ASKED;
}

/*
 * Does the command of a process stand for its job: was no process above it in the job running a program when it
 * began?  Of a part of a script that was run by a copy of its shell, only what that started is known.
 * What was found is kept for all on the way, in top: there may be a million of them.
 */
static bool is_top(const struct load *load, int32_t process, uint8_t *top)
{
	const struct graph *g = load->jobs->workflow->graph;
	int32_t last = process;
	enum top found;

	if (load->level == JOBS_PROCESS)
		return true;
	for (;;) {
		int32_t parent = graph_parent(g, last);

		found = top[last] ? top[last] : look_at(load, last, parent);
		if (found != TOP_NOT_ASKED)
			break;
		last = parent;
	}
	for (; process != last; process = graph_parent(g, process))
		top[process] = found;
	top[last] = found;
	return found == TOP_YES;
}

/* Commands that are not the job's go. */
static int keep_tops(struct load *load)
{
	struct jobs *jobs = load->jobs;
	size_t n = (size_t)jobs->n_commands;
	cleanup_free uint8_t *top =
		calloc((size_t)jobs->workflow->graph->n_processes + 1, sizeof(*top));
	int32_t kept = 0;

	load->commands = malloc((n + 1) * sizeof(*load->commands));
	if (!load->commands || !top)
		return -ENOMEM;
	if (n)
		memcpy(load->commands, jobs->commands, n * sizeof(*load->commands));
	for (size_t i = 0; i < n; i++) {
		struct job_command command = load->commands[i];

		command.job = jobs->of[command.process];
		if (command.job != JOBS_NONE && is_top(load, command.process, top))
			jobs->commands[kept++] = command;
	}
	jobs->n_commands = kept;
	return 0;
}

/* Where its parent opened a path for appending, and the job did not append, nothing was written. */
static int mark_append(struct load *load, struct job_command *command, int fd)
{
	int32_t parent = graph_parent(load->jobs->workflow->graph, command->process);
	cleanup_free char *by_job = NULL, *by_parent = NULL;
	bool failed = asprintf(&by_job, "job %d %s", command->job, command->to[fd]) < 0 ||
		      asprintf(&by_parent, "%d %s", parent, command->to[fd]) < 0;

	if (!failed)
		command->append[fd] = jobs_find_name(load->appends, by_job) ||
				      jobs_find_name(load->appends, by_parent);
	return failed ? -ENOMEM : 0;
}

static int mark_appends(struct load *load)
{
	struct jobs *jobs = load->jobs;
	struct name *name, *next, *by_job = NULL;
	int r = 0;

	HASH_ITER(hh, load->appends, name, next) {
		int32_t job = name->number == GRAPH_NONE ? JOBS_NONE : jobs->of[name->number];
		cleanup_free char *text = NULL;

		if (job == JOBS_NONE || r < 0)
			continue;
		if (asprintf(&text, "job %d %s", job, strchr(name->text, ' ') + 1) < 0 ||
			!jobs_get_name(&by_job, text, job))
			r = -ENOMEM;
	}
	HASH_ITER(hh, by_job, name, next) {
		HASH_DEL(by_job, name);
		HASH_ADD_STR(load->appends, text, name);
		if (!name->hh.tbl) {
			free(name);
			r = -ENOMEM;
		}
	}
	for (int32_t i = 0; i < jobs->n_commands && r == 0; i++)
		for (int fd = 1; fd < 3 && r == 0; fd++)
			if (jobs->commands[i].to[fd])
				r = mark_append(load, &jobs->commands[i], fd);
	return r;
}

/* ---- pipes ---- */

bool jobs_redirected(const struct job_command *command, int fd)
{
	const char *to = command->to[fd], *before = command->before[fd];

	return to && (command->led[fd] != JOBS_NONE || (before && strcmp(to, before) != 0));
}

static bool has_pipe(const struct job_command *command, int fd)
{
	return jobs_redirected(command, fd) && strncmp(command->to[fd], "pipe:", 5) == 0;
}

/* Which command reads from which command's pipe. */
static int join_pipes(struct jobs *jobs)
{
	struct name *pipes = NULL, *pipe;
	int r = 0;

	for (int32_t i = 0; i < jobs->n_commands && r == 0; i++)
		if (has_pipe(&jobs->commands[i], 0))
			r = jobs_get_name(&pipes, jobs->commands[i].to[0], i) ? 0 : -ENOMEM;
	for (int32_t i = 0; i < jobs->n_commands && r == 0; i++) {
		struct job_command *command = &jobs->commands[i];

		pipe = has_pipe(command, 1) ? jobs_find_name(pipes, command->to[1]) : NULL;
		if (!pipe || pipe->number == i || jobs->commands[pipe->number].piped)
			continue;
		command->reader = pipe->number;
		jobs->commands[pipe->number].piped = true;
	}
	jobs_free_names(&pipes);
	return r;
}

/* A pipe without a reader loses nothing that a file could show; make gives jobs that run beside others a pipe without
 * a writer. */
bool jobs_lost_pipe(const struct jobs *jobs, int32_t index)
{
	const struct job_command *command = &jobs->commands[index];
	int32_t parent = graph_parent(jobs->workflow->graph, command->process);

	if (has_pipe(command, 0) && !command->piped &&
		(parent == GRAPH_NONE || !is_builder(jobs->workflow, parent)))
		return true;
	for (int32_t i = 0; i < jobs->n_commands && has_pipe(command, 1) && command->reader == JOBS_NONE; i++)
		if (has_pipe(&jobs->commands[i], 0) && strcmp(jobs->commands[i].to[0], command->to[1]) == 0)
			return true;
	return false;
}

void jobs_merge(struct jobs *jobs, int32_t *into)
{
	int32_t n = 0;

	for (int32_t i = 0; i < jobs->n_jobs; i++)
		into[i] = into[i] == i ? n++ : into[into[i]];
	for (int32_t i = 0; i < jobs->workflow->graph->n_processes; i++)
		if (jobs->of[i] != JOBS_NONE)
			jobs->of[i] = into[jobs->of[i]];
	for (int32_t i = 0; i < jobs->n_commands; i++)
		jobs->commands[i].job = into[jobs->commands[i].job];
	jobs->n_jobs = n;
}

static int32_t find_first(const int32_t *into, int32_t job)
{
	while (into[job] != job)
		job = into[job];
	return job;
}

int jobs_merge_pipelines(struct load *load)
{
	struct jobs *jobs = load->jobs;
	cleanup_free int32_t *into = malloc(((size_t)jobs->n_jobs + 1) * sizeof(*into));
	int32_t a, b;
	int r = !into ? -ENOMEM : load->level == JOBS_JOB ? join_pipes(jobs) : 0;

	if (r < 0)
		return r;
	for (int32_t i = 0; i < jobs->n_jobs; i++)
		into[i] = i;
	for (int32_t i = 0; i < jobs->n_commands; i++) {
		if (jobs->commands[i].reader == JOBS_NONE)
			continue;
		a = find_first(into, jobs->commands[i].job);
		b = find_first(into, jobs->commands[jobs->commands[i].reader].job);
		into[a > b ? a : b] = a < b ? a : b;
	}
	for (int32_t i = 0; i < jobs->n_jobs; i++)
		into[i] = find_first(into, i);
	jobs_merge(jobs, into);
	for (int32_t i = 0; i < jobs->n_commands; i++)
		jobs->commands[i].part = jobs->commands[i].job;
	return 0;
}

int jobs_part(struct load *load)
{
	struct jobs *jobs = load->jobs;
	int r = 0;

	if (load->level == JOBS_PROCESS)
		number_processes(load);
	else
		r = number_jobs(load);
	if (r == 0 && load->level == JOBS_JOB)
		r = absorb_lists(jobs);
	if (r == 0 && load->level == JOBS_JOB)
		r = split_drivers(jobs);
	if (r == 0)
		r = renumber_jobs(jobs);
	if (r == 0)
		r = keep_tops(load);
	return r == 0 ? mark_appends(load) : r;
}
