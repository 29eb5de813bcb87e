/* SPDX-License-Identifier: MIT */
#ifndef DAG_DIFF_SIDE_H
#define DAG_DIFF_SIDE_H

/*
 * One of the two runs that are compared, as a graph without times: its processes and files, which process started
 * which, and what it did to which file.  Segments of a process are one, versions of a file are one, and so are files
 * that had the same path one after the other, unless that is a generated name.  Directories are left out: which
 * process makes one first differs from run to run.  A process that was forked and has run no program of its own is
 * part of the process that forked it: how a pool of workers shares its work differs, too.
 *
 * A node is the index of a process, or of a file behind them.  -ENOMEM is the only error.
 */

#include <stdbool.h>
#include <stdint.h>

#include "dag/graph/workflow.h"

struct names;

/* What a link says; those of files are what edges are compared by. */
enum side_kind {
	SIDE_READ = 1,
	SIDE_EXECUTE = 2,
	SIDE_WRITE = 4, /* or created, truncated, renamed to */
	SIDE_DELETE = 8,
	SIDE_PARENT = 16, /* it leads to the parent of the process */
	SIDE_CHILD = 32,
	SIDE_MAKE = 64 /* until side_prune(): created or truncated, and not written */
};
#define SIDE_KINDS 4 /* of files */
extern const char *const side_kinds[SIDE_KINDS];

struct side_link {
	int32_t to;
	int kinds;
};

struct side {
	const struct workflow *workflow;
	int32_t n_nodes, n_processes;
	int32_t *
		of; /* of processes: which one they are part of; GRAPH_NONE: they are not compared */
	bool *shown;
	bool *wild;              /* files: their names are generated */
	uint64_t *label;         /* of what a node is called, in both runs */
	uint64_t *loose;         /* files: the same, and more counts as generated */
	uint64_t *plain;         /* files: of the path as it is, generated or not; 0: not known */
	int32_t *parent;         /* of processes; GRAPH_NONE */
	int32_t *first;          /* links of a node: from here to that of the next one */
	struct side_link *links; /* in the order of .to */
};

/* Which processes are compared: all; those that use chosen files; of these, those that belong to a
 * job, and without the processes that started them: the flow of data, whatever runs the workflow. */
enum side_what { SIDE_ALL, SIDE_USERS, SIDE_DATA };

int side_create(const struct workflow *workflow, struct names *names, int run, enum side_what what,
	struct side **ret_side);
void side_destroy(struct side *side);

/* Of side_create(): removes what of links depends on the order in which processes ran. */
int side_prune(struct side *side);

static inline bool side_is_process(const struct side *side, int32_t node)
{
	return node < side->n_processes;
}
static inline int32_t side_file(const struct side *side, int32_t node)
{
	return node - side->n_processes;
}
/* What stands between two nodes; 0: nothing. */
int side_kinds_between(const struct side *side, int32_t from, int32_t to);

#endif
