/* SPDX-License-Identifier: MIT */

/*
 * What ran when.  Each process has a bar; if there are more than BARS_MAX, each job has one.  Bars are packed into as few
 * lanes as possible, LANES_MAX at most; further bars share the lane that is free first.  If there are still too many bars,
 * bars of one step that follow each other closely in a lane become one, then bars of any steps.
 */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/failure.h"
#include "dag/analyse/analyse.h"
#include "dag/graph/critical.h"
#include "dag/graph/workflow.h"
#include "dag/report/report.h"
#include "db/query.h"

#define BARS_MAX 600
#define LANES_MAX 200

struct bar {
	int64_t begin_ns, end_ns;
	const struct task *task; /* of the first process */
	int32_t process;
	int lane;
	int32_t members;
	bool critical, failed;
};

struct gantt {
	struct bar *bars;
	int32_t n;
	int64_t free_ns[LANES_MAX]; /* when each lane becomes free */
	int lanes;
	bool jobs, mixed; /* bars are jobs; bars may be of several steps */
	int32_t folded, shared;
};

/* ---- bars ---- */

static int compare_bars(const void *x, const void *y)
{
	const struct bar *a = x, *b = y;

	if (a->begin_ns != b->begin_ns)
		return a->begin_ns < b->begin_ns ? -1 : 1;
	return (a->process > b->process) - (a->process < b->process);
}

static int compare_jobs(const void *x, const void *y)
{
	const struct bar *a = x, *b = y;
	int order = strcmp(a->task->job ? a->task->job : "", b->task->job ? b->task->job : "");

	return order ? order : compare_bars(x, y);
}

static void join(struct bar *into, const struct bar *bar)
{
	into->end_ns = bar->end_ns > into->end_ns ? bar->end_ns : into->end_ns;
	into->members += bar->members;
	into->critical |= bar->critical;
	into->failed |= bar->failed;
}

static bool has_failed(const struct task *task)
{
	return (task->exit_code != WORKFLOW_UNKNOWN && task->exit_code != 0) ||
	       task->exit_signal != WORKFLOW_UNKNOWN;
}

static int list_processes(struct report *r, struct gantt *g)
{
	const struct graph *graph = r->workflow->graph;
	cleanup_free bool *critical = calloc((size_t)graph->n_processes + 1, sizeof(*critical));

	g->bars = calloc((size_t)graph->n_processes + 1, sizeof(*g->bars));
	if (!critical || !g->bars)
		return failure_memory(r->failure);
	for (int32_t i = 0; i < r->critical->n_steps; i++)
		critical[r->critical->steps[i].process] = true;
	for (int32_t i = 0; i < graph->n_processes; i++) {
		const struct task *task = workflow_task(r->workflow, i);

		if (task->chosen && !critical_is_outside(r->workflow, i))
			g->bars[g->n++] = (struct bar){ critical_begin(r->workflow, i),
				critical_end(r->workflow, i), task, i, 0, 1, critical[i],
				has_failed(task) };
	}
	return 0;
}

/* Joins the bars of each job.  Processes without a job keep their bars. */
static void join_jobs(struct gantt *g)
{
	int32_t n = 0;

	qsort(g->bars, (size_t)g->n, sizeof(*g->bars), compare_jobs);
	for (int32_t i = 0; i < g->n; i++)
		if (n && g->bars[i].task->job && g->bars[n - 1].task->job &&
			strcmp(g->bars[i].task->job, g->bars[n - 1].task->job) == 0)
			join(&g->bars[n - 1], &g->bars[i]);
		else
			g->bars[n++] = g->bars[i];
	g->folded += g->n - n;
	g->n = n;
	g->jobs = true;
}

/* ---- lanes ---- */

/* The first lane that is free at this time, else a new lane, else the lane that becomes free first. */
static int find_lane(struct gantt *g, int64_t begin_ns)
{
	int first = 0;

	for (int i = 0; i < g->lanes; i++) {
		if (g->free_ns[i] <= begin_ns)
			return i;
		first = g->free_ns[i] < g->free_ns[first] ? i : first;
	}
	if (g->lanes < LANES_MAX)
		return g->lanes++;
	g->shared++;
	return first;
}

static void pack(struct gantt *g)
{
	qsort(g->bars, (size_t)g->n, sizeof(*g->bars), compare_bars);
	for (int32_t i = 0; i < g->n; i++) {
		struct bar *bar = &g->bars[i];

		bar->lane = find_lane(g, bar->begin_ns);
		if (g->free_ns[bar->lane] < bar->end_ns)
			g->free_ns[bar->lane] = bar->end_ns;
	}
}

static bool same_step(const struct bar *a, const struct bar *b)
{
	const char *x = a->task->step, *y = b->task->step;

	return x == y || (x && y && strcmp(x, y) == 0);
}

static void join_close(struct gantt *g, int64_t gap_ns)
{
	int32_t last[LANES_MAX], n = 0;

	for (int i = 0; i < g->lanes; i++)
		last[i] = -1;
	for (int32_t i = 0; i < g->n; i++) {
		int32_t before = last[g->bars[i].lane];

		if (before >= 0 && (g->mixed || same_step(&g->bars[before], &g->bars[i])) &&
			g->bars[i].begin_ns - g->bars[before].end_ns <= gap_ns) {
			join(&g->bars[before], &g->bars[i]);
			continue;
		}
		last[g->bars[i].lane] = n;
		g->bars[n++] = g->bars[i];
	}
	g->folded += g->n - n;
	g->n = n;
}

static int make(struct report *r, struct gantt *g)
{
	int error = list_processes(r, g);

	if (error < 0)
		return error;
	if (g->n > BARS_MAX)
		join_jobs(g);
	pack(g);
	for (int i = 0; i < 2 && g->n > BARS_MAX; i++) {
		g->mixed = i;
		for (int64_t gap = r->span_ns / 2000 + 1; g->n > BARS_MAX && gap / 2 < r->span_ns; gap *= 2)
			join_close(g, gap);
	}
	return 0;
}

/* ---- the table ---- */

static void put_bar(struct table *table, const struct workflow *w, const struct bar *bar)
{
	table_int(table, bar->lane);
	table_int(table, w->graph->processes[bar->process].id);
	table_string(table, bar->task->label);
	table_string(table, bar->task->step);
	table_string(table, bar->task->task);
	table_string(table, bar->task->job);
	table_real(table, (double)(bar->begin_ns - w->begin_ns) / 1e9);
	table_real(table, (double)(bar->end_ns - w->begin_ns) / 1e9);
	table_int(table, bar->members);
	table_int(table, bar->critical);
	table_int(table, bar->failed);
}

static int put_gantt(struct report *r)
{
	static const struct exhibit e = { "gantt", "What ran when",
		"Bars have the colours of their steps, as far as there are colours: those with the most time; those on the critical path have an outline, those that failed a cross.  "
		"Working processes (without a child that lives), bytes per second and memory stand below, at the same time.  Drag or use the "
		"wheel to zoom, double click to see all; with the keyboard + - and the arrows.",
		"timeline", true };
	struct gantt g = { 0 };
	struct table *table = table_create();
	cleanup_free char *sql = exhibit_sql(r, "graph.processes");
	int error = table ? make(r, &g) : failure_memory(r->failure);

	if (error == 0) {
		table_columns(table, "lane process label step task job from_s to_s processes critical failed");
		for (int32_t i = 0; i < g.n; i++)
			put_bar(table, r->workflow, &g.bars[i]);
		if (g.folded)
			table_note(table, "%d processes are folded into others: a bar is %s.", g.folded,
				!g.jobs	  ? "a process"
				: g.mixed ? "a job, or several that follow each other, with the step of the first"
					   : "a job, or several of one step that follow each other");
		if (g.shared)
			table_note(table, "%d bars overlap others: the time line has at most %d lanes.", g.shared,
				LANES_MAX);
		error = exhibit_put(r, &e, table, sql);
	}
	free(g.bars);
	table_destroy(table);
	return error;
}

/* ---- the critical path ---- */

static int put_analysis(struct report *r, const struct exhibit *e,
	int (*fill)(struct table *, const struct workflow *, const struct shape *,
		const struct analyse_options *))
{
	const struct analyse_options options = { 0 };
	struct table *table = table_create();
	cleanup_free char *sql = exhibit_graph_sql(r, e->id);
	int error = failure_of_memory(r->failure,
		table ? fill(table, r->workflow, r->shape, &options) : -ENOMEM);

	if (error == 0) {
		table_top(table, 500);
		error = exhibit_put(r, e, table, sql);
	}
	table_destroy(table);
	return error;
}

int report_timeline(struct report *r)
{
	static const struct exhibit
		time = { "time", "Processes, bytes and memory over time", NULL, NULL, true },
		makespan = { "makespan", "How long it took, and why not less",
			"As <code>wfdag makespan</code> prints it.", NULL, false },
		path = { "critical-path", "The critical path",
			"As <code>wfdag critical-path</code> prints it.", NULL, true };
	static const struct exhibit_source source = { .table = "time" };
	int error = report_colours(r);

	if (error == 0)
		error = put_gantt(r);
	if (error == 0)
		error = exhibit_wfstat(r, &time, &source);
	if (error == 0)
		error = put_analysis(r, &makespan, analyse_makespan);
	return error < 0 ? error : put_analysis(r, &path, analyse_critical);
}
