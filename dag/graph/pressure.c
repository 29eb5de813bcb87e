/* SPDX-License-Identifier: MIT */
#include "dag/graph/pressure.h"

#include <errno.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "dag/graph/critical.h"

#define UNKNOWN (-1)

/* For how long a process waited for anything. */
static int64_t waited(const struct workflow *w, int32_t process)
{
	const struct task *task = workflow_task(w, process);
	int64_t ns = critical_end(w, process) - critical_begin(w, process);

	if (task->cpu_ns < 0 || task->cpu_delay_ns < 0)
		return UNKNOWN;
	return ns > task->cpu_ns + task->cpu_delay_ns ? ns - task->cpu_ns - task->cpu_delay_ns : 0;
}

static bool is_most(const struct workflow *w, const struct graph_access *out, int64_t write_ns)
{
	int64_t from_ns = out->io_ns >= 0 ? out->first_out_ns : critical_begin(w, out->process);

	return write_ns > (out->last_out_ns - from_ns) / 2;
}

static int64_t waited_for_pipe(const struct workflow *w, const struct graph_access *a, const bool *is_parent)
{
	if (a->nread > 0 && a->nwrite > 0) /* their times are in one sum */
		return UNKNOWN;
	if (a->io_ns >= 0)
		return a->io_ns;
	return is_parent[a->process] ? UNKNOWN : waited(w, a->process);
}

int pressure_find(const struct workflow *w, struct arrival *arrivals, int32_t n_arrivals)
{
	const struct graph *g = w->graph;
	cleanup_free bool *is_parent = calloc((size_t)g->n_processes + 1, sizeof(*is_parent));

	if (!is_parent)
		return -ENOMEM;
	for (int32_t i = 0; i < g->n_processes; i++)
		if (graph_parent(g, i) != GRAPH_NONE)
			is_parent[graph_parent(g, i)] = true;
	for (int32_t i = 0; i < n_arrivals; i++) {
		const struct graph_access *in = &g->accesses[g->edges[arrivals[i].read].access];
		const struct graph_access *out = &g->accesses[g->edges[arrivals[i].write].access];
		int64_t read_ns, write_ns;

		if (!data_is_pipe(workflow_data(w, in->file)))
			continue;
		read_ns = waited_for_pipe(w, in, is_parent);
		write_ns = waited_for_pipe(w, out, is_parent);
		if (in->io_ns < 0 && read_ns > 0)
			arrivals[i].wait_ns = read_ns;
		if (read_ns >= 0 && write_ns / 2 > read_ns && is_most(w, out, write_ns))
			arrivals[i].press_ns = write_ns;
	}
	return 0;
}
