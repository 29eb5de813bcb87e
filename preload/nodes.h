/* SPDX-License-Identifier: MIT */
#ifndef PRELOAD_NODES_H
#define PRELOAD_NODES_H

/*
 * The files that programs have opened or looked at, as nodes: device, inode number, and the time of their birth where it is known.  Pushes
 * the events that tell the writer of them.
 *
 * One thread.
 */

#include <stdint.h>

struct nodes;
struct ring;
struct wire_seen;

/* 0 or -ENOMEM. */
int nodes_create(struct ring *ring, struct nodes **ret_nodes);
void nodes_destroy(struct nodes *nodes); /* NULL is fine */

/* The node of a file; pushes NODE if it is new, and the name of what has no path (pipes, sockets).  0: out of memory. */
uint64_t nodes_find(struct nodes *nodes, const struct wire_seen *seen, int64_t time_ns);

#endif
