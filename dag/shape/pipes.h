/* SPDX-License-Identifier: MIT */
#ifndef DAG_SHAPE_PIPES_H
#define DAG_SHAPE_PIPES_H

/*
 * Pipes and FIFOs as edges from the process that writes to the process that reads, instead of nodes.  A pipe remains a
 * node if it has several writers and several readers, or no reader, or no writer: then a process outside of the trace may
 * be the other end.
 *
 * Of several writers, an edge has the bytes of its writer if the reader has read all that was written, else none; of
 * several readers, those of its reader.  Such an edge has no time of its own: a process that waits for data is not slow.
 */

struct shape;

/* 0 or -ENOMEM. */
int pipes_join(struct shape *shape);

#endif
