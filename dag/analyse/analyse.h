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

extern const struct analysis analyses[]; /* ended by a NULL name */

/* analyse_flow.c */
int analyse_critical(struct table *, const struct workflow *, const struct shape *,
	const struct analyse_options *);
int analyse_makespan(struct table *, const struct workflow *, const struct shape *,
	const struct analyse_options *);
int analyse_parallelism(struct table *, const struct workflow *, const struct shape *,
	const struct analyse_options *);
int analyse_lifecycle(struct table *, const struct workflow *, const struct shape *,
	const struct analyse_options *);
/* analyse_nodes.c */
int analyse_degree(struct table *, const struct workflow *, const struct shape *,
	const struct analyse_options *);
int analyse_weight(struct table *, const struct workflow *, const struct shape *,
	const struct analyse_options *);
int analyse_order(struct table *, const struct workflow *, const struct shape *,
	const struct analyse_options *);
/* analyse_clusters.c */
int analyse_clusters(struct table *, const struct workflow *, const struct shape *,
	const struct analyse_options *);
/* analyse_replay.c */
int analyse_whatif(struct table *, const struct workflow *, const struct shape *,
	const struct analyse_options *);

#endif
