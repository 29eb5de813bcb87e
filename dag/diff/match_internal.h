/* SPDX-License-Identifier: MIT */
#ifndef DAG_DIFF_MATCH_INTERNAL_H
#define DAG_DIFF_MATCH_INTERNAL_H

/* What diff_match.c and diff_changed.c share. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dag/diff/match.h"

struct member {
	uint64_t key;
	int32_t run, node;
};

struct matching {
	struct match *match;
	struct names *names;
	uint64_t *color[2], *next[2];
	int32_t *open[2]; /* nodes that are shown and in no pair; may be there a while longer */
	int32_t n_open[2];
	struct member *members;
	int32_t *class[2], *root; /* for ties */
};

static inline bool matching_is_open(const struct matching *m, int run, int32_t node)
{
	return m->match->pair[run][node] == GRAPH_NONE;
}

/* Makes a pair, if both are open; were they? */
bool matching_join(struct matching *m, int32_t a, int32_t b);
/* Label of a node's pair, or of its own name. */
uint64_t matching_known(const struct matching *m, int run, int32_t node);
int matching_compare(const void *x, const void *y);
/* Of a node; 0: it has none. */
typedef uint64_t matching_key(const struct matching *m, int run, int32_t node);
/* Open nodes with the same key, in their order.  alone: only keys that one node of each run has.  Result: pairs;
 * *ret_keys: how many there are, or NULL. */
int32_t matching_join_all(struct matching *m, matching_key *key, bool alone, size_t *ret_keys);
/* A hash of a node's neighbours by links of these kinds; color gives their colours. */
uint64_t matching_hash_neighbours(const struct matching *m, int run, int32_t node, int kinds,
	matching_key *color);
/* By colours, as far as that goes. */
void matching_solve(struct matching *m);
bool matching_has_open_processes(const struct matching *m);

/* By less than colours. */
void match_weak(struct matching *m);
/* Processes whose command has changed. */
int changed_match(struct matching *m);

#endif
