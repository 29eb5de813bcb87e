/* SPDX-License-Identifier: MIT */
#ifndef DAG_DIFF_MATCH_H
#define DAG_DIFF_MATCH_H

/*
 * Which process, and which file, of one run is which of the other.
 *
 * By colours: a node has one of its own (what it is called) and of those of its neighbours: its parent, the processes
 * that it started, what it read and wrote.  Two nodes, one in each run, that alone have a colour are a pair and give
 * their neighbours a
 * colour that no other has; so what is around a difference does not take on its colour.  This is done over and
 * over (the refinement of Weisfeiler and Lehman).  Those that cannot be told apart by that are taken in their
 * order: one kind of them, then its neighbours follow.
 *
 * What remains is matched on weaker evidence (match_weak.c): the same command and parent; the same command; and with another
 * command, the same files written, a file or a word that no other process of the program has, or most of
 * the words below the same parent.  Files with generated names, if their neighbours are the same.  All else was added
 * or removed.
 *
 * The cost is about that of sorting all nodes some ten times.  -ENOMEM is the only error.
 */

#include <stdint.h>

#include "dag/diff/side.h"

struct match {
	const struct side *side[2];
	int32_t *pair[2]; /* of each node: that of the other run, or GRAPH_NONE */
};

int match_create(const struct side *const sides[2], struct names *names, struct match **ret_match);
void match_destroy(struct match *match);

#endif
