/* SPDX-License-Identifier: MIT */
#ifndef DAG_SHAPE_REACH_H
#define DAG_SHAPE_REACH_H

/*
 * Parts of a shape by what leads where.
 *
 * A node is named by its id (p12, f7.2), or by a glob on the path of a file, on its base name if there is no
 * '/' in it, or on the program of a process; '*' also crosses '/'.
 */

#include <stdbool.h>

struct shape;

struct reach_options {
	const char *ancestors_of, *descendants_of; /* NULL: without this option */
	const char *between[2]; /* what is on a way from the first to the second */
};

/* Keeps only the nodes that the options name.  0, -ENOMEM, or -ENOENT: *ret_missing fits no node. */
int reach_select(struct shape *shape, const struct reach_options *options,
	const char **ret_missing);

/*
 * Removes the edges whose ends a longer path joins, too (transitive
 * reduction; A. Aho, M. Garey, J. Ullman 1972).  -ELOOP: there are cycles, as after folding.
 */
int reach_reduce(struct shape *shape);

/* Nodes in an order in which all edges lead forward, by time where that is left open; n: how many are in it,
 * fewer than all if there are cycles.  *ret_level: of each node, the length of the longest way to it. */
int reach_order(const struct shape *shape, int **ret_order, int **ret_level, int *ret_n);

#endif
