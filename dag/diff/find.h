/* SPDX-License-Identifier: MIT */
#ifndef DAG_DIFF_FIND_H
#define DAG_DIFF_FIND_H

/*
 * What differs between the graphs of two runs, whose nodes are matched.
 *
 * Edges are those of processes that both runs have; those of one that was added or removed come with it and are
 * only counted.  -ENOMEM is the only error.
 */

#include <stdint.h>

#include "dag/diff/match.h"

enum change { CHANGE_REMOVED, CHANGE_ADDED, CHANGE_CHANGED, CHANGE_MAX };
extern const char *const changes[];

/* The kinds of edges of files begin at FIND_EDGE, in the order of side_kinds. */
enum find_what {
	FIND_PROCESS,
	FIND_FILE,
	FIND_FORK,
	FIND_EDGE,
	FIND_WHAT_MAX = FIND_EDGE + SIDE_KINDS
};
const char *find_name(enum find_what what);

/* Nodes are those of each run; GRAPH_NONE where there is none. */
struct difference {
	enum change change;
	enum find_what what;
	int32_t process[2]; /* of a fork: the started process */
	int32_t other[2];   /* the file of an edge; the parent of a process */
	int32_t edges;      /* that come with a process that was added or removed */
};

struct found {
	const struct match *match;
	struct difference *difference; /* processes, then files, then edges */
	int32_t n;
	int32_t count[FIND_WHAT_MAX][CHANGE_MAX]; /* of each kind of change */
	int32_t processes[2], files[2], edges[2]; /* that there are */
	int32_t *ends; /* processes of the first run that exited with another status */
	int32_t n_ends;
};

int find_differences(const struct match *match, struct names *names, struct found **ret_found);
void found_destroy(struct found *found);

/* How a process ended by itself, as a shell says it: the exit status, or 128 + the signal of a fault;
 * WORKFLOW_UNKNOWN: it was killed by another one, or that is not known. */
int64_t found_status(const struct task *task);

/* All of a kind of change: processes, files, or edges of all kinds. */
int32_t found_edges(const struct found *found, enum change change);

/* Is the command another one?  A generated name that differs does not count; nor does a number that is the id of a
 * process in one run alone. */
int find_is_changed(const struct match *match, struct names *names, int32_t a, int32_t b,
	bool *ret_changed);
/* What of a command has changed, "-O1 -> -O2"; to be freed.  NULL: out of memory. */
char *find_words(struct names *names, int32_t a, int32_t b);

#endif
