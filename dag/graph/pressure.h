/* SPDX-License-Identifier: MIT */
#ifndef DAG_GRAPH_PRESSURE_H
#define DAG_GRAPH_PRESSURE_H

/*
 * Pipes that were full: their writer waited for the reader, and not the reader for the writer, as in `cat big | sort`.  So the
 * reader is on the critical path, and what the writer waited is none of its work.
 *
 * How long each waited is the time of its reads or writes, where system calls were recorded.  Otherwise it is the life of a
 * process without what it ran or waited for a processor, if it has no children.  A pipe was full if its writer waited for most of
 * the time in which it wrote, and twice as long as the reader.
 *
 * One thread.
 */

#include <stdint.h>

#include "dag/graph/pieces.h"

/* Sets .press_ns of the arrivals that come through a pipe, and .wait_ns where that is not known from reads.  0 or -ENOMEM. */
int pressure_find(const struct workflow *workflow, struct arrival *arrivals, int32_t n_arrivals);

#endif
