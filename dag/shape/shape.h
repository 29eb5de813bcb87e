/* SPDX-License-Identifier: MIT */
#ifndef DAG_SHAPE_SHAPE_H
#define DAG_SHAPE_SHAPE_H

/*
 * What is shown of a workflow: its graph after choosing and folding.  Nodes are in the order of their ids
 * in the trace, processes before files before missing names; edges in the order of their ends.
 *
 * Ids: p12 is process 12 of the trace, p12.2 its second segment; f7 a file, f7.2 its second part, the
 * number behind the point being there if more than one part is shown; g3 a missing name, that a process
 * looked up and that did not exist; s4 several processes or files that were folded into one node.
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/saturate.h"
#include "dag/graph/workflow.h"

struct critical;

enum shape_what { SHAPE_DAG, SHAPE_TREE };

struct shape_options {
	enum shape_what what;
	bool fold; /* one node for each process and file, always */
	bool precedence; /* the same, and one edge between a process and a file: create and write before read */
	bool metadata; /* accesses to attributes alone, too */
	bool pipes_are_nodes; /* else edges between processes (pipes.h) */
	bool choosy; /* the options choose some files: processes that used none of them are left out */
	const struct critical *critical; /* NULL: nothing is marked */
};

struct shape_node {
	enum node_kind kind;
	int32_t of; /* index of the process or file, or of the first missing name; of several: of the first */
	int32_t part, parts; /* from 1; how many are shown */
	int32_t members;     /* processes or files that it stands for */
	const char *label;   /* of several: what they are called; NULL */
	int64_t begin_ns, end_ns;
	int64_t life_ns; /* of several: the time in which any of them lived; -1: not known */
	int64_t cpu_ns, size_bytes; /* of several: sums; -1: not known */
	int64_t rss_bytes;                   /* of several: the largest */
	bool failed, running;                /* of several: any */
	bool critical;
	int32_t first_span, last_span; /* index; SHAPE_NONE */
	char id[32];
};

#define SHAPE_NONE (-1)

/* When a process lived, in a list of all that a node stands for. */
struct shape_span {
	int64_t begin_ns, end_ns;
	int32_t next;
};

struct shape_edge {
	int32_t from, to; /* indexes of nodes */
	int kinds;
	bool assumed, feedback, read_back, critical;
	bool slow; /* data moved more slowly than on the average of all: maybe a bottleneck */
	int64_t bytes, ops, ns; /* -1: not known */
	int64_t time_ns;
	int32_t access;  /* index; GRAPH_NONE: none, or several */
	int32_t members; /* edges that it stands for */
};

struct shape {
	const struct workflow *workflow;
	struct shape_node *nodes;
	struct shape_edge *edges;
	struct shape_span *spans;
	int32_t n_nodes, n_edges, n_spans;
	int32_t folded;             /* nodes that are not shown, since others stand for them */
	struct arena labels;
};

/* -ENOMEM.  The workflow must live as long. */
int shape_create(const struct workflow *workflow, const struct shape_options *options,
	struct shape **ret_shape);
void shape_destroy(struct shape *shape);

/* Of a file, or a missing name; NULL: it is not known. */
const char *shape_path(const struct shape *shape, int32_t node);
/* The same without directories, of "/" that; "" if it is not known. */
const char *shape_base_name(const struct shape *shape, int32_t node);

/* Names of the files and missing names that are shown: with as many directories as tell them apart.  names: of each node, NULL
 * for processes; parts of the shape.  0 or -ENOMEM. */
int shape_short_names(const struct shape *shape, const char **names);

/* A text that lives as long as the shape; NULL: out of memory. */
const char *shape_label(struct shape *shape, const char *text);

/* After a change of a shape: edges that join the same nodes become one, all are put in order, and slow
 * ones are found. */
void shape_join_edges(struct shape *shape);
/* Nodes that are not kept go, and their edges with them. */
int shape_keep(struct shape *shape, const bool *kept);

/* Of numbers that are -1 if they are not known: what is known of them. */
static inline int64_t shape_sum(int64_t a, int64_t b)
{
	return a < 0 ? b : b < 0 ? a : saturate_add(a, b);
}

/* Data moved along it, or the like: no fork, no next part, no look at attributes or for a name. */
static inline bool shape_is_flow(const struct shape_edge *edge)
{
	return edge->kinds & EDGE_PIPE || !(edge->kinds & (EDGE_FORK | EDGE_NEXT | EDGE_META | EDGE_SEARCH));
}

#endif
