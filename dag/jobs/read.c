/* SPDX-License-Identifier: MIT */

/* What the trace says of what was started. */

#include "dag/jobs/jobs_internal.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/failure.h"
#include "base/vector.h"
#include "dag/trace/compose.h"
#include "dag/trace/traces.h"
#include "db/query.h"

/* ---- texts ---- */

void *jobs_keep(struct jobs *jobs, size_t size)
{
	return arena_alloc(&jobs->texts, size);
}

static char *text_of(struct jobs *jobs, const struct query *query, int column, bool *failed)
{
	return traces_text(query, column, &jobs->texts, failed);
}

struct name *jobs_find_name(struct name *names, const char *text)
{
	struct name *name;

	HASH_FIND_STR(names, text, name);
	return name;
}

/* The one that is there, or a new one. */
struct name *jobs_get_name(struct name **names, const char *text, int32_t number)
{
	struct name *name = jobs_find_name(*names, text);

	if (name)
		return name;
	name = calloc(1, sizeof(*name) + strlen(text) + 1);
	if (!name)
		return NULL;
	strcpy(name->text, text);
	name->number = number;
	HASH_ADD_STR(*names, text, name);
	if (!name->hh.tbl) { /* the hash cannot grow */
		free(name);
		return NULL;
	}
	return name;
}

void jobs_free_names(struct name **names)
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
	argv = jobs_keep(jobs, (n + 1) * sizeof(*argv));
	if (!argv)
		return NULL;
	n = 0;
	for (size_t i = 0; i < len; i += strlen(bytes + i) + 1)
		argv[n++] = bytes + i;
	argv[n] = NULL;
	return argv;
}

static const char *base_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

#define COMM_MAX 15 /* letters of a name that the kernel keeps */

/* Of a script that was started by its own name, the kernel has put the interpreter in front, and at most one argument. */
static char **skip_interpreter(char **argv, const char *exe, const char *comm)
{
	if (!exe || !comm || !argv[0] || strncmp(base_of(exe), comm, COMM_MAX) == 0 ||
		strncmp(base_of(argv[0]), comm, COMM_MAX) == 0)
		return argv;
	for (int i = 1; i < 3 && argv[i - 1] && argv[i]; i++)
		if (strncmp(base_of(argv[i]), comm, COMM_MAX) == 0)
			return argv + i;
	return argv;
}

enum image_column { I_PROCESS, I_SEQ, I_ARGV, I_CWD, I_IN, I_OUT, I_ERR, I_START, I_EXE, I_COMM };
#define IMAGE_COLUMNS "process seq argv_raw cwd stdin stdout stderr start_ns exe comm"

/* Of each process what it was at its fork, which says where its parent was, and its first program. */
static int add_image(struct load *load, const struct query *q, struct job_command *before)
{
	struct jobs *jobs = load->jobs;
	int32_t process = graph_find_process(jobs->workflow->graph, query_int(q, I_PROCESS));
	struct job_command command = { .process = process,
		.job = JOBS_NONE,
		.reader = JOBS_NONE,
		.led = { JOBS_NONE, JOBS_NONE, JOBS_NONE },
		.status = -1,
		.start_ns = query_int(q, I_START) };
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
	if (command.argv)
		command.argv = skip_interpreter(command.argv, text_of(jobs, q, I_EXE, &failed),
			text_of(jobs, q, I_COMM, &failed));
	for (int fd = 0; fd < 3 && before->process == process; fd++)
		command.before[fd] = before->to[fd];
	if (failed || (argv && !command.argv))
		return -ENOMEM;
	load->images[process] = jobs->n_commands;
	return vector_push(jobs->commands, jobs->n_commands, command);
}

/* "PROCESS PATH", and "job JOB PATH" as soon as jobs have numbers. */
static int add_append(struct load *load, const struct query *q, struct job_command *before)
{
	int32_t process = graph_find_process(load->jobs->workflow->graph, query_int(q, 0));
	size_t len;
	const char *path = query_bytes(q, 1, &len);
	cleanup_free char *text = NULL;
	bool failed = asprintf(&text, "%d %.*s", process, (int)len, path) < 0;

	(void)before;
	failed = failed || !jobs_get_name(&load->appends, text, process);
	return failed ? -ENOMEM : 0;
}

/* Variables of the first program of a process, as a shell exports them. */
static int add_environment(struct load *load, const struct query *q, struct job_command *before)
{
	int32_t process = graph_find_process(load->jobs->workflow->graph, query_int(q, 0));
	int32_t command = process == GRAPH_NONE ? JOBS_NONE : load->images[process];
	bool failed = false;

	(void)before;
	if (command != JOBS_NONE)
		load->jobs->commands[command].env = text_of(load->jobs, q, 1, &failed);
	return failed ? -ENOMEM : 0;
}

struct rows {
	struct load *load;
	int (*add)(struct load *load, const struct query *q, struct job_command *before);
	struct job_command before;
};

static int add_row(void *arg, const struct query *q)
{
	struct rows *rows = arg;

	return rows->add(rows->load, q, &rows->before);
}

static int read_rows(struct load *load, const char *name, const char *columns,
	int (*add)(struct load *load, const struct query *q, struct job_command *before))
{
	struct rows rows = { load, add, { .process = JOBS_NONE } };

	return traces_each(load->db, name, columns, &(struct choice){ .step_ns = 1 }, add_row,
		&rows, load->failure);
}

int jobs_read(struct load *load)
{
	int32_t n = load->jobs->workflow->graph->n_processes;
	int r;

	load->jobs->of = malloc(((size_t)n + 1) * sizeof(int32_t));
	load->images = malloc(((size_t)n + 1) * sizeof(int32_t));
	if (!load->jobs->of || !load->images)
		return failure_memory(load->failure);
	for (int32_t i = 0; i < n; i++)
		load->images[i] = JOBS_NONE;
	r = read_rows(load, "generate.images", IMAGE_COLUMNS, add_image);
	if (r == 0)
		r = read_rows(load, "generate.appends", "process path", add_append);
	if (r == 0)
		r = read_rows(load, "generate.environ", "process variables", add_environment);
	return r;
}
