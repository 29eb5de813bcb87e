/* SPDX-License-Identifier: MIT */

/* Tables with a row for each node of a shape: degree, weight, order. */

#include "dag/analyse/analyse.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/saturate.h"
#include "dag/output/table.h"
#include "dag/shape/attributes.h"
#include "dag/shape/reach.h"
#include "dag/shape/shape.h"

#define ANALYSIS(name, fill, help) { name, analyse_##fill, help },
const struct analysis analyses[] = { ANALYSES(ANALYSIS){ NULL, NULL, NULL } };

static const char *kind_of(const struct shape_node *node)
{
	return node->kind == NODE_PROCESS ? "process" : node->kind == NODE_FILE ? "file" : "ghost";
}

/* What it is called: bytes as they are, since the table cleans them itself. */
static const char *name_of(const struct shape *shape, int32_t i)
{
	const struct shape_node *node = &shape->nodes[i];
	const struct task *task;

	if (node->label)
		return node->label;
	if (node->kind != NODE_PROCESS)
		return shape_path(shape, i);
	task = workflow_task(shape->workflow, node->of);
	return task->command ? task->command : task->program;
}

/* ---- degree ---- */

int analyse_degree(struct table *table, const struct workflow *workflow, const struct shape *shape,
	const struct analyse_options *options)
{
	cleanup_free int *degree = calloc(2 * (size_t)shape->n_nodes + 1, sizeof(*degree));

	(void)workflow, (void)options;
	if (!degree)
		return -ENOMEM;
	for (int32_t i = 0; i < shape->n_edges; i++) {
		degree[2 * shape->edges[i].to]++;
		degree[2 * shape->edges[i].from + 1]++;
	}
	table_columns(table, "node kind in out degree name");
	for (int32_t i = 0; i < shape->n_nodes; i++) {
		table_string(table, shape->nodes[i].id);
		table_string(table, kind_of(&shape->nodes[i]));
		table_int(table, degree[2 * i]);
		table_int(table, degree[2 * i + 1]);
		table_int(table, degree[2 * i] + degree[2 * i + 1]);
		table_string(table, name_of(shape, i));
		table_row(table);
	}
	table_note(table, "in, out: edges to the node and from it.  A process has an edge for the process that "
		"started it, for each process that it started, and for each file that it read or wrote.");
	return table_sort(table, "degree");
}

/* ---- weight ---- */

struct moved {
	int64_t in_bytes, out_bytes, ns; /* ns -1: not known */
};

static struct moved *sum_edges(const struct shape *shape)
{
	struct moved *moved = calloc((size_t)shape->n_nodes + 1, sizeof(*moved));

	for (int32_t i = 0; moved && i < shape->n_edges; i++) {
		const struct shape_edge *e = &shape->edges[i];

		moved[e->from].out_bytes = shape_sum(moved[e->from].out_bytes, e->bytes);
		moved[e->to].in_bytes = shape_sum(moved[e->to].in_bytes, e->bytes);
		moved[e->from].ns = shape_sum(moved[e->from].ns, e->ns);
		moved[e->to].ns = shape_sum(moved[e->to].ns, e->ns);
	}
	return moved;
}

static int64_t weight_of(const struct shape_node *node, const struct moved *moved,
	enum analyse_by by)
{
	switch (by) {
	case ANALYSE_TIME:
		return node->kind == NODE_PROCESS ? node->life_ns : moved->ns;
	case ANALYSE_SIZE:
		return node->kind == NODE_PROCESS ? node->rss_bytes : node->size_bytes;
	default:
		return saturate_add(moved->in_bytes, moved->out_bytes);
	}
}

static void put_int(struct table *table, int64_t number)
{
	if (number < 0)
		table_null(table);
	else
		table_int(table, number);
}

int analyse_weight(struct table *table, const struct workflow *workflow, const struct shape *shape,
	const struct analyse_options *options)
{
	static const char *const columns[] = { "weight_bytes", "weight_ns", "weight_bytes" };
	static const char *const notes[] = {
		"weight: bytes that were read and written.",
		"weight: the life time of a process; the time of the reads and writes of a file.",
		"weight: peak resident memory of a process, size of a file.",
	};
	const char *column = columns[options->by];
	cleanup_free struct moved *moved = sum_edges(shape);

	(void)workflow;
	if (!moved)
		return -ENOMEM;
	table_columns(table, "node kind");
	table_column(table, column, strlen(column));
	table_columns(table, "in_bytes out_bytes name");
	for (int32_t i = 0; i < shape->n_nodes; i++) {
		const struct shape_node *node = &shape->nodes[i];

		table_string(table, node->id);
		table_string(table, kind_of(node));
		put_int(table, weight_of(node, &moved[i], options->by));
		table_int(table, moved[i].in_bytes);
		table_int(table, moved[i].out_bytes);
		table_string(table, name_of(shape, i));
		table_row(table);
	}
	table_note(table, "%s  in: what came to the node; for a file, what was written.",
		notes[options->by]);
	return table_sort(table, column);
}

/* ---- order ---- */

int analyse_order(struct table *table, const struct workflow *workflow, const struct shape *shape,
	const struct analyse_options *options)
{
	cleanup_free int *order = NULL, *level = NULL;
	int n = 0, r = reach_order(shape, &order, &level, &n);

	(void)workflow, (void)options;
	if (r < 0)
		return r;
	table_columns(table, "order level node kind start_ns end_ns name");
	for (int i = 0; i < n; i++) {
		const struct shape_node *node = &shape->nodes[order[i]];

		table_int(table, i + 1);
		table_int(table, level[order[i]]);
		table_string(table, node->id);
		table_string(table, kind_of(node));
		table_int(table, node->begin_ns);
		if (node->end_ns == GRAPH_NEVER)
			table_null(table);
		else
			table_int(table, node->end_ns);
		table_string(table, name_of(shape, order[i]));
		table_row(table);
	}
	table_note(table, "level: the number of edges of the longest path to the node.  start, end of a file: its "
		"first and last write.");
	if (n < shape->n_nodes)
		table_note(table, "%d nodes are left out: folding made cycles of them.",
			shape->n_nodes - n);
	return 0;
}
