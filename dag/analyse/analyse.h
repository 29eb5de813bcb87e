/* SPDX-License-Identifier: MIT */
#ifndef DAG_ANALYSE_ANALYSE_H
#define DAG_ANALYSE_ANALYSE_H

/*
 * What wfdag says about a workflow in tables.  Each function adds its columns, rows and notes; 0 or -ENOMEM.
 *
 *   critical-path  the steps of the critical path (critical.h)
 *   makespan       how long it took, and why not less
 *   degree         edges of each node, the busiest first
 *   weight         what each node has to do with: bytes, time or size
 *   clusters       patterns that occur again and again: sub-trees of the same form below one process, files
 *                  that go to many processes of a kind, processes that take files from many
 *   parallelism    how many processes worked at the same time
 *   order          all nodes in an order in which causes come first, with their levels
 *   whatif         the run once more, on other resources (replay.h)
 *   lifecycle      files from their first write to their last use, and the space they take
 *
 * A process works while it lives and none of its children does.
 */

#include <stdint.h>

#include "dag/replay/replay.h"

struct shape;
struct table;
struct workflow;

enum analyse_by { ANALYSE_BYTES, ANALYSE_TIME, ANALYSE_SIZE };

struct analyse_options {
	enum analyse_by by;           /* of weight */
	int64_t interval_ns;          /* of parallelism; 0: a fiftieth of the run, at least 1 ms */
	struct replay_options replay; /* of whatif */
};

struct analysis {
	const char *name;
	int (*fill)(struct table *table, const struct workflow *workflow, const struct shape *shape,
		const struct analyse_options *options);
	const char *help;
};

/* All analyses, in the order of wfdag's help: X(name, function analyse_...(), help).  clusters and whatif stand in
 * clusters.c and replay.c, those of the flow of time in flow.c, those of nodes in nodes.c. */
#define ANALYSES(X)                                                                             \
	X("critical-path", critical, "what the end of the run has waited for, step by step")    \
	X("makespan", makespan, "how long it took, and what bounds it")                         \
	X("degree", degree, "edges of each node, the busiest first")                            \
	X("weight", weight, "bytes, time or size of each node (--by), the largest first")       \
	X("clusters", clusters, "patterns that occur again and again")                          \
	X("parallelism", parallelism, "how many processes worked at the same time")             \
	X("order", order, "nodes in causal order, with their levels")                           \
	X("lifecycle", lifecycle, "files from first write to last use, and the space they take") \
	X("whatif", whatif, "how long it would take with other --cores, --jobs, --faster")

extern const struct analysis analyses[]; /* ended by a NULL name */

#define ANALYSE_FUNCTION(name, fill, help)                                                      \
	int analyse_##fill(struct table *, const struct workflow *, const struct shape *,       \
		const struct analyse_options *);
ANALYSES(ANALYSE_FUNCTION)
#undef ANALYSE_FUNCTION

#endif
