/* SPDX-License-Identifier: MIT */
#include "dag/jobs.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cli.h"
#include "base/err.h"
#include "db/compose.h"
#include "db/query.h"

#define HASH_NONFATAL_OOM 1
static bool oom;
#define uthash_nonfatal_oom(item) (oom = true)
#include <uthash.h>


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
	int32_t *images;     /* of each process: its command, or JOBS_NONE */
	struct job_command *commands; /* of all processes */
	struct name *appends;
};

void *jobs_room(void *array, size_t n, size_t size)
{
	/* Where n is no power of two, there is room. */
	if (n & (n - 1))
		return array;
	return reallocarray(array, n ? 2 * n : 1, size);
}

static int out_of_memory(void)
{
	return err_status(EXIT_OWN, "out of memory");
}

/* ---- texts ---- */

static void *get_memory(struct jobs *jobs, size_t size)
{
	struct jobs_text *text = malloc(sizeof(*text) + size);

	if (!text)
		return NULL;
	text->next = jobs->texts;
	jobs->texts = text;
	return text->bytes;
}

static char *keep(struct jobs *jobs, const char *bytes, size_t len)
{
	char *copy = get_memory(jobs, len + 1);

	if (!copy)
		return NULL;
	memcpy(copy, bytes, len);
	copy[len] = '\0';
	return copy;
}

/* NULL where nothing is known; *failed: for want of memory. */
static char *text_of(struct jobs *jobs, const struct query *query, int column, bool *failed)
{
	size_t len;
	const char *bytes = query_bytes(query, column, &len);
	char *copy;

	if (query_type(query, column) == QUERY_NULL)
		return NULL;
	copy = keep(jobs, bytes, len);
	*failed |= !copy;
	return copy;
}

static struct name *find_name(struct name *names, const char *text)
{
	struct name *name;

	HASH_FIND_STR(names, text, name);
	return name;
}

/* The one that is there, or a new one. */
static struct name *get_name(struct name **names, const char *text, int32_t number)
{
	struct name *name = find_name(*names, text);

	if (name)
		return name;
	name = calloc(1, sizeof(*name) + strlen(text) + 1);
	if (!name)
		return NULL;
	strcpy(name->text, text);
	name->number = number;
	oom = false;
	HASH_ADD_STR(*names, text, name);
	if (oom) {
		free(name);
		return NULL;
	}
	return name;
}

static void free_names(struct name **names)
{
	struct name *name, *next;

	HASH_ITER(hh, *names, name, next) {
		HASH_DEL(*names, name);
		free(name);
	}
}

/* ---- what was started ---- */

/* Arguments, each with its NUL. */
static char **split(struct jobs *jobs, char *bytes, size_t len)
{
	size_t n = 0;
	char **argv;

	for (size_t i = 0; i < len; i++)
		n += bytes[i] == '\0';
	argv = get_memory(jobs, (n + 1) * sizeof(*argv));
	if (!argv)
		return NULL;
	n = 0;
	for (size_t i = 0; i < len; i += strlen(bytes + i) + 1)
		argv[n++] = bytes + i;
	argv[n] = NULL;
	return argv;
}

enum image_column { I_PROCESS, I_SEQ, I_ARGV, I_CWD, I_IN, I_OUT, I_ERR, I_START };

/* Of each process what it was at its fork, which says where who started it was, and its first program. */
static int add_image(struct load *load, const struct query *q, struct job_command *before)
{
	struct jobs *jobs = load->jobs;
	int32_t process = graph_find_process(jobs->workflow->graph, query_int(q, I_PROCESS));
	struct job_command command = { .process = process, .job = JOBS_NONE, .reader = JOBS_NONE,
		.start_ns = query_int(q, I_START) };
	struct job_command *room;
	bool failed = false;
	size_t len;
	char *argv;

	if (process == GRAPH_NONE)
		return 0;
	command.cwd = text_of(jobs, q, I_CWD, &failed);
	for (int fd = 0; fd < 3; fd++)
		command.to[fd] = text_of(jobs, q, I_IN + fd, &failed);
	if (query_int(q, I_SEQ) == 0) {
		*before = command;
		return failed ? -ENOMEM : 0;
	}
	argv = text_of(jobs, q, I_ARGV, &failed);
	query_bytes(q, I_ARGV, &len);
	command.argv = argv ? split(jobs, argv, len) : NULL;
	for (int fd = 0; fd < 3 && before->process == process; fd++)
		command.before[fd] = before->to[fd];
	room = jobs_room(jobs->commands, (size_t)jobs->n_commands, sizeof(*room));
	if (!room || failed || (argv && !command.argv))
		return -ENOMEM;
	jobs->commands = room;
	load->images[process] = jobs->n_commands;
	room[jobs->n_commands++] = command;
	return 0;
}

/* "PROCESS PATH", and "job JOB PATH" as soon as jobs have numbers. */
static int add_append(struct load *load, const struct query *q)
{
	int32_t process = graph_find_process(load->jobs->workflow->graph, query_int(q, 0));
	size_t len;
	const char *path = query_bytes(q, 1, &len);
	char *text = NULL;
	bool failed = asprintf(&text, "%d %.*s", process, (int)len, path) < 0;

	failed = failed || !get_name(&load->appends, text, process);
	free(text);
	return failed ? -ENOMEM : 0;
}

/* Variables of the first program of a process, as a shell exports them. */
static int add_environment(struct load *load, const struct query *q)
{
	int32_t process = graph_find_process(load->jobs->workflow->graph, query_int(q, 0));
	int32_t command = process == GRAPH_NONE ? JOBS_NONE : load->images[process];
	bool failed = false;

	if (command != JOBS_NONE)
		load->jobs->commands[command].env = text_of(load->jobs, q, 1, &failed);
	return failed ? -ENOMEM : 0;
}

static int ask(struct query_db *db, const char *name, struct query **ret_query)
{
	const struct choice none = { .step_ns = 1 };
	struct composed composed;
	int r = compose(name, &none, &composed);

	if (r == 0)
		r = query_start(db, composed.sql, ret_query);
	if (r < 0)
		err_print("cannot ask the trace for '%s': %s", name, query_error(db));
	free(r < 0 && r != -EINVAL ? NULL : composed.sql);
	return r < 0 ? EXIT_OWN : 0;
}

static int read_rows(struct query_db *db, const char *name, struct load *load,
	int (*add)(struct load *load, const struct query *query))
{
	struct query *query = NULL;
	int status = ask(db, name, &query), r = 1;

	while (status == 0 && (r = query_next(query)) > 0)
		if (add(load, query) < 0)
			status = out_of_memory();
	query_end(query);
	if (r < 0)
		status = err_status(EXIT_OWN, "cannot read the trace: %s", query_error(db));
	return status;
}

static int read_images(struct query_db *db, struct load *load)
{
	struct job_command before = { .process = JOBS_NONE };
	struct query *query = NULL;
	int status = ask(db, "generate.images", &query), r = 1;

	while (status == 0 && (r = query_next(query)) > 0)
		if (add_image(load, query, &before) < 0)
			status = out_of_memory();
	query_end(query);
	if (r < 0)
		status = err_status(EXIT_OWN, "cannot read the trace: %s", query_error(db));
	return status;
}

/* ---- who belongs to which job ---- */

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
		name = get_name(&names, job, jobs->n_jobs);
		r = name ? 0 : -ENOMEM;
		jobs->of[i] = name ? name->number : JOBS_NONE;
		jobs->n_jobs += name && name->number == jobs->n_jobs;
	}
	free_names(&names);
	return r;
}

/* Who leads from the first process of a job to one of another job, which it started. */
static void mark_drivers(const struct jobs *jobs, bool *drives)
{
	const struct graph *g = jobs->workflow->graph;

	for (int32_t i = 0; i < g->n_processes; i++) {
		int32_t at = graph_parent(g, i), job = at == GRAPH_NONE ? JOBS_NONE : jobs->of[at];

		if (job == JOBS_NONE || job == jobs->of[i])
			continue;
		for (; at != GRAPH_NONE && jobs->of[at] == job && !drives[at]; at = graph_parent(g, at))
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
	bool *drives = calloc((size_t)g->n_processes + 1, sizeof(*drives));
	int32_t *was = malloc(((size_t)g->n_processes + 1) * sizeof(*was));

	if (!drives || !was) {
		free(drives);
		free(was);
		return -ENOMEM;
	}
	mark_drivers(jobs, drives);
	memcpy(was, jobs->of, (size_t)g->n_processes * sizeof(*was));
	for (int32_t i = 0; i < g->n_processes; i++) {
		int32_t parent = graph_parent(g, i);

		if (drives[i])
			jobs->of[i] = JOBS_NONE;
		else if (was[i] != JOBS_NONE && parent != GRAPH_NONE && was[parent] == was[i])
			jobs->of[i] = drives[parent] ? jobs->n_jobs++ : jobs->of[parent];
	}
	free(drives);
	free(was);
	return 0;
}

/* In the order in which they began, and none that is empty. */
static int renumber_jobs(struct jobs *jobs)
{
	const struct graph *g = jobs->workflow->graph;
	int32_t *number = malloc(((size_t)jobs->n_jobs + 1) * sizeof(*number)), n = 0;

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
	free(number);
	return 0;
}

/*
 * Does the command of a process stand for its job: was nobody above it in the job running a program when it
 * began?  Of a part of a script that was run by a copy of its shell, only what that started is known.
 */
static bool is_top(const struct load *load, int32_t process)
{
	const struct jobs *jobs = load->jobs;
	const struct graph *g = jobs->workflow->graph;
	int32_t job = jobs->of[process];

	if (load->level == JOBS_PROCESS)
		return true;
	for (int32_t child = process;; child = process) {
		int32_t image;

		process = graph_parent(g, process);
		if (process == GRAPH_NONE || jobs->of[process] != job)
			return true;
		image = load->images[process];
		if (image != JOBS_NONE && load->commands[image].start_ns <= g->processes[child].start_ns)
			return false;
	}
}

/* Commands that are not the job's go. */
static int keep_tops(struct load *load)
{
	struct jobs *jobs = load->jobs;
	size_t n = (size_t)jobs->n_commands;
	int32_t kept = 0;

	load->commands = malloc((n + 1) * sizeof(*load->commands));
	if (!load->commands)
		return -ENOMEM;
	if (n)
		memcpy(load->commands, jobs->commands, n * sizeof(*load->commands));
	for (size_t i = 0; i < n; i++) {
		struct job_command command = load->commands[i];

		command.job = jobs->of[command.process];
		if (command.job != JOBS_NONE && is_top(load, command.process))
			jobs->commands[kept++] = command;
	}
	jobs->n_commands = kept;
	return 0;
}

/* Where a path is not appended to by the job, but was opened for that by who started it, nothing was written. */
static int mark_append(struct load *load, struct job_command *command, int fd)
{
	int32_t parent = graph_parent(load->jobs->workflow->graph, command->process);
	char *by_job = NULL, *by_parent = NULL;
	bool failed = asprintf(&by_job, "job %d %s", command->job, command->to[fd]) < 0 ||
		      asprintf(&by_parent, "%d %s", parent, command->to[fd]) < 0;

	if (!failed)
		command->append[fd] = find_name(load->appends, by_job) ||
				      find_name(load->appends, by_parent);
	free(by_job);
	free(by_parent);
	return failed ? -ENOMEM : 0;
}

static int mark_appends(struct load *load)
{
	struct jobs *jobs = load->jobs;
	struct name *name, *next, *by_job = NULL;
	int r = 0;

	HASH_ITER(hh, load->appends, name, next) {
		int32_t job = name->number == GRAPH_NONE ? JOBS_NONE : jobs->of[name->number];
		char *text = NULL;

		if (job == JOBS_NONE || r < 0)
			continue;
		if (asprintf(&text, "job %d %s", job, strchr(name->text, ' ') + 1) < 0 ||
			!get_name(&by_job, text, job))
			r = -ENOMEM;
		free(text);
	}
	HASH_ITER(hh, by_job, name, next) {
		HASH_DEL(by_job, name);
		HASH_ADD_STR(load->appends, text, name);
	}
	for (int32_t i = 0; i < jobs->n_commands && r == 0; i++)
		for (int fd = 1; fd < 3 && r == 0; fd++)
			if (jobs->commands[i].to[fd])
				r = mark_append(load, &jobs->commands[i], fd);
	return r;
}

bool jobs_redirected(const struct job_command *command, int fd)
{
	const char *to = command->to[fd], *before = command->before[fd];

	return to && before && strcmp(to, before) != 0;
}

static bool has_pipe(const struct job_command *command, int fd)
{
	return jobs_redirected(command, fd) && strncmp(command->to[fd], "pipe:", 5) == 0;
}

/* Who reads from whose pipe. */
static int join_pipes(struct jobs *jobs)
{
	struct name *pipes = NULL, *pipe;
	int r = 0;

	for (int32_t i = 0; i < jobs->n_commands && r == 0; i++)
		if (has_pipe(&jobs->commands[i], 0))
			r = get_name(&pipes, jobs->commands[i].to[0], i) ? 0 : -ENOMEM;
	for (int32_t i = 0; i < jobs->n_commands && r == 0; i++) {
		struct job_command *command = &jobs->commands[i];

		pipe = has_pipe(command, 1) ? find_name(pipes, command->to[1]) : NULL;
		if (!pipe || pipe->number == i || jobs->commands[pipe->number].piped)
			continue;
		command->reader = pipe->number;
		jobs->commands[pipe->number].piped = true;
	}
	free_names(&pipes);
	return r;
}

/* into[]: of each job, with which earlier one it becomes one. */
static void merge_jobs(struct jobs *jobs, int32_t *into)
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

static int merge_pipelines(struct jobs *jobs)
{
	int32_t *into = malloc(((size_t)jobs->n_jobs + 1) * sizeof(*into)), a, b;

	if (!into)
		return -ENOMEM;
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
	merge_jobs(jobs, into);
	free(into);
	for (int32_t i = 0; i < jobs->n_commands; i++)
		jobs->commands[i].part = jobs->commands[i].job;
	return 0;
}

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
		jobs->jobs[i] = (struct job){ .command = JOBS_NONE, .start_ns = GRAPH_NEVER,
			.cpu_ns = WORKFLOW_UNKNOWN, .rss_bytes = WORKFLOW_UNKNOWN,
			.read_bytes = WORKFLOW_UNKNOWN, .written_bytes = WORKFLOW_UNKNOWN,
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
		merge_jobs(jobs, into);
		free(into);
		into = NULL;
		r = jobs->n_jobs < n ? create_jobs(jobs) : -EINVAL;
		if (r == 0)
			r = jobs_flow(jobs, &into);
	}
	free(into);
	return r;
}

static void add_to(int64_t *sum, int64_t more)
{
	if (more != WORKFLOW_UNKNOWN && more >= 0)
		*sum = *sum == WORKFLOW_UNKNOWN ? more : *sum + more;
}

static void add_process(struct job *job, const struct graph_process *process, const struct task *task)
{
	if (process->start_ns < job->start_ns) {
		job->start_ns = process->start_ns;
		job->xform = task->xform;
	}
	if (process->end_ns > job->end_ns)
		job->end_ns = process->end_ns;
	add_to(&job->cpu_ns, task->cpu_ns);
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

/* The most memory at a time, if each had all the time as much as it had at its peak. */
static int add_memory(struct jobs *jobs)
{
	const struct graph *g = jobs->workflow->graph;
	struct change *changes = malloc((2 * (size_t)g->n_processes + 1) * sizeof(*changes));
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

		now = i && changes[i - 1].job == changes[i].job ? now + changes[i].bytes
								  : changes[i].bytes;
		if (job->rss_bytes == WORKFLOW_UNKNOWN || now > job->rss_bytes)
			job->rss_bytes = now;
	}
	free(changes);
	return 0;
}

static void add_figures(struct jobs *jobs)
{
	const struct graph *g = jobs->workflow->graph;

	for (int32_t i = 0; i < g->n_processes; i++)
		if (jobs->of[i] != JOBS_NONE)
			add_process(&jobs->jobs[jobs->of[i]], &g->processes[i],
				workflow_task(jobs->workflow, i));
	for (int32_t i = 0; i < g->n_accesses; i++) {
		int32_t job = jobs->of[g->accesses[i].process];

		if (job == JOBS_NONE || !jobs->workflow->chosen[i])
			continue;
		add_to(&jobs->jobs[job].read_bytes, g->accesses[i].bread);
		add_to(&jobs->jobs[job].written_bytes, g->accesses[i].bwrite);
	}
}

static int status_of(const struct task *task)
{
	if (task->exit_signal != WORKFLOW_UNKNOWN)
		return 128 + (int)task->exit_signal;
	return task->exit_code == WORKFLOW_UNKNOWN ? -1 : (int)task->exit_code;
}

static const char *below_root(const struct jobs *jobs, const char *path)
{
	size_t len = strlen(jobs->root);

	if (strncmp(path, jobs->root, len) != 0 || (path[len] != '/' && path[len]))
		return path;
	return path[len] ? path + len + 1 : ".";
}

static void add_commands(struct jobs *jobs)
{
	for (int32_t i = 0; i < jobs->n_commands; i++) {
		const struct job_command *command = &jobs->commands[i];
		struct job *job = &jobs->jobs[command->job];

		if (job->command == JOBS_NONE) {
			job->command = i;
			job->cwd = command->cwd ? below_root(jobs, command->cwd) : NULL;
		}
		job->status = status_of(workflow_task(jobs->workflow, command->process));
	}
}

static int name_jobs(struct jobs *jobs)
{
	for (int32_t i = 0; i < jobs->n_jobs; i++) {
		struct job *job = &jobs->jobs[i];

		if (asprintf(&job->name, "%s_%d", job->xform ? job->xform : "job", i + 1) < 0) {
			job->name = NULL;
			return -ENOMEM;
		}
		for (char *at = job->name; *at; at++)
			if (!strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_",
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

static int find_root(struct query_db *db, struct jobs *jobs, const char *root)
{
	char *cwd = root ? NULL : query_fact_text(db, "cwd"),
	     *command = root ? NULL : query_fact_text(db, "command");
	size_t len;

	/* A mount has a directory, too, but it says nothing. */
	jobs->root = root				 ? strdup(root)
		     : command && *command && cwd && *cwd ? strdup(cwd)
							  : common_root(jobs);
	free(cwd);
	free(command);
	if (!jobs->root)
		return -ENOMEM;
	for (len = strlen(jobs->root); len && jobs->root[len - 1] == '/'; len--)
		jobs->root[len - 1] = '\0';
	return 0;
}

/* ---- the whole ---- */

static int read_all(struct query_db *db, struct load *load)
{
	int32_t n = load->jobs->workflow->graph->n_processes;
	int status;

	load->jobs->of = malloc(((size_t)n + 1) * sizeof(int32_t));
	load->images = malloc(((size_t)n + 1) * sizeof(int32_t));
	if (!load->jobs->of || !load->images)
		return out_of_memory();
	for (int32_t i = 0; i < n; i++)
		load->images[i] = JOBS_NONE;
	status = read_images(db, load);
	if (status == 0)
		status = read_rows(db, "generate.appends", load, add_append);
	if (status == 0)
		status = read_rows(db, "generate.environ", load, add_environment);
	return status;
}

static int make_all(struct query_db *db, struct load *load, const char *root)
{
	struct jobs *jobs = load->jobs;
	int r = 0;

	if (load->level == JOBS_PROCESS)
		number_processes(load);
	else
		r = number_jobs(load);
	if (r == 0 && load->level == JOBS_JOB)
		r = split_drivers(jobs);
	if (r == 0)
		r = renumber_jobs(jobs);
	if (r == 0)
		r = keep_tops(load);
	if (r == 0)
		r = mark_appends(load);
	if (r == 0)
		r = find_root(db, jobs, root);
	if (r == 0 && load->level == JOBS_JOB)
		r = join_pipes(jobs);
	if (r == 0)
		r = merge_pipelines(jobs);
	if (r == 0)
		r = make_jobs(jobs);
	if (r == 0) {
		add_figures(jobs);
		add_commands(jobs);
		r = add_memory(jobs);
	}
	if (r == 0)
		r = name_jobs(jobs);
	return r == 0 ? jobs_scripts(jobs) : r;
}

int jobs_load(struct query_db *db, const struct workflow *workflow, enum jobs_level level,
	const char *root, struct jobs **ret_jobs)
{
	struct jobs *jobs = calloc(1, sizeof(*jobs));
	struct load load = { .jobs = jobs, .level = level };
	int status;

	*ret_jobs = jobs;
	if (!jobs)
		return out_of_memory();
	jobs->workflow = workflow;
	status = read_all(db, &load);
	if (status == 0 && make_all(db, &load, root) < 0)
		status = out_of_memory();
	free_names(&load.appends);
	free(load.images);
	free(load.commands);
	return status;
}

void jobs_destroy(struct jobs *jobs)
{
	if (!jobs)
		return;
	free_jobs(jobs);
	while (jobs->texts) {
		struct jobs_text *next = jobs->texts->next;

		free(jobs->texts);
		jobs->texts = next;
	}
	free(jobs->commands);
	free(jobs->root);
	free(jobs->of);
	free(jobs);
}
