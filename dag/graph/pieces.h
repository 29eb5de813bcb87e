/* SPDX-License-Identifier: MIT */
#ifndef DAG_GRAPH_PIECES_H
#define DAG_GRAPH_PIECES_H

/*
 * A run cut into pieces (critical.h): when each could begin and end if some took less time, or how late they
 * could have ended.  Times in ns.  The only error is -ENOMEM.
 */

#include <stdbool.h>
#include <stdint.h>

#include "dag/graph/workflow.h"

/* A process reads a version that another process wrote: the last write before the read. */
struct arrival {
	int32_t reader, writer; /* processes */
	int32_t version;        /* node of the graph */
	int32_t read, write;    /* edges of the graph */
	int64_t in_ns, out_ns;  /* when it was read, when that had been written; out_ns <= in_ns */
	int64_t wait_ns;        /* for so long until in_ns the reader only waited for it */
	int64_t press_ns;       /* for so long until out_ns the writer only waited for the reader (pressure.h) */
};

struct pieces;

/* arrivals: all of the workflow. */
int pieces_create(const struct workflow *workflow, const struct arrival *arrivals,
	int32_t n_arrivals, struct pieces **ret_pieces);
void pieces_destroy(struct pieces *pieces);
int32_t pieces_count(const struct pieces *pieces);

/* Of each process: how much later it could end.  Writes as many numbers as there are processes. */
void pieces_slack(const struct pieces *pieces, int64_t *slack_ns);
/* How much earlier the run would end if these processes (one flag for each of the workflow) took no time. */
int64_t pieces_gain(struct pieces *pieces, const bool *without);

#endif
