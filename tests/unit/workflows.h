/* SPDX-License-Identifier: MIT */
#ifndef TESTS_WORKFLOWS_H
#define TESTS_WORKFLOWS_H

/* Workflows in a few lines, for tests.  Times are in ms; processes and files are indexes. */

#include <stdio.h>
#include <string.h>

#include "test.h"

#include "dag/graph/workflow.h"

#define MS 1000000

enum { TASKS = 64 };

static struct task tasks[TASKS];
static struct data datas[TASKS];
static char paths[TASKS][32];

__attribute__((unused)) static struct workflow *begin(int cpus)
{
	struct workflow *w = calloc(1, sizeof(*w));

	assert_non_null(w);
	w->graph = graph_create();
	assert_non_null(w->graph);
	w->cpus = cpus;
	return w;
}

/* It computes all the time that its children leave. */
__attribute__((unused)) static int32_t process(struct workflow *w, int32_t parent,
	const char *program, int start, int end)
{
	int32_t i = w->graph->n_processes;
	const struct graph_process p = { .id = i + 1,
		.parent = parent + 1,
		.start_ns = (int64_t)start * MS,
		.end_ns = end < 0 ? GRAPH_NEVER : (int64_t)end * MS,
		.data = &tasks[i] };

	assert_true(i < TASKS);
	tasks[i] = (struct task){ .program = program,
		.command = program,
		.cpu_ns = WORKFLOW_UNKNOWN,
		.cpu_delay_ns = WORKFLOW_UNKNOWN,
		.driver = strcmp(program, "make") == 0,
		.chosen = true,
		.pid = i + 1,
		.exit_code = 0,
		.exit_signal = WORKFLOW_UNKNOWN,
		.rss_bytes = WORKFLOW_UNKNOWN };
	if (end >= 0 && p.end_ns > w->end_ns)
		w->end_ns = p.end_ns;
	assert_int_equal(graph_add_process(w->graph, &p), i);
	return i;
}

__attribute__((unused)) static void used(int32_t process, int cpu, int delay)
{
	tasks[process].cpu_ns = (int64_t)cpu * MS;
	tasks[process].cpu_delay_ns = (int64_t)delay * MS;
}

__attribute__((unused)) static int32_t file(struct workflow *w)
{
	int32_t i = w->graph->n_files;

	assert_true(i < TASKS);
	snprintf(paths[i], sizeof(paths[i]), "/data/f%d.dat", i);
	datas[i] = (struct data){ .path = paths[i], .kind = "file", .size_bytes = 10 };
	return graph_add_file(w->graph, i + 1, &datas[i]);
}

__attribute__((unused)) static void reads(struct workflow *w, int32_t p, int32_t f, int t)
{
	const struct graph_access a = { .process = p,
		.file = f,
		.version = 1,
		.kinds = EDGE_READ,
		.nread = 1,
		.first_in_ns = (int64_t)t * MS,
		.first_out_ns = GRAPH_NEVER,
		.last_out_ns = GRAPH_NEVER,
		.last_ns = (int64_t)t * MS };

	assert_int_equal(graph_add_access(w->graph, &a), 0);
}

__attribute__((unused)) static void writes(struct workflow *w, int32_t p, int32_t f, int t)
{
	const struct graph_access a = { .process = p,
		.file = f,
		.version = 1,
		.kinds = EDGE_WRITE,
		.nwrite = 1,
		.first_in_ns = GRAPH_NEVER,
		.first_out_ns = (int64_t)t * MS,
		.last_out_ns = (int64_t)t * MS,
		.last_ns = (int64_t)t * MS };

	assert_int_equal(graph_add_access(w->graph, &a), 0);
}

__attribute__((unused)) static void end(struct workflow *w)
{
	graph_destroy(w->graph);
	free(w);
}

#endif
