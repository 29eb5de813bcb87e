/* SPDX-License-Identifier: MIT */
#ifndef DAG_EXPORT_STACKS_H
#define DAG_EXPORT_STACKS_H

/*
 * What flame graphs are drawn of: stacks of names, each with values of its own, without those of the stacks above it.
 *
 * Of processes: a stack is the programs of a process and of those that started it.  Its own time is that in which none of its
 * children lived, so that times add up to the run, and to more where children lived at the same time.
 * Of directories: a stack is the directories above the files that processes used; files without a place are below "[pipe]" and
 * the like.
 *
 * Values are sums of all processes, or files, with the same stack.  Processes are those that the shape shows, each for itself;
 * files those that its workflow has chosen.  Equal shapes have equal stacks, in the same order.
 */

#include <stdint.h>

#include "base/arena.h"

struct shape;

enum stacks_of { STACKS_PROCESSES, STACKS_DIRECTORIES };
enum stacks_value { STACKS_WALL, STACKS_CPU, STACKS_IO, STACKS_READ, STACKS_WRITTEN, STACKS_VALUES };

/* What lies deeper is part of a last frame "...". */
#define STACKS_DEPTH 256

struct stack {
	int32_t above; /* index of the stack without the last name; -1: there is none.  It is smaller. */
	int32_t depth; /* how many are above it */
	const char *name; /* UTF-8 without control characters */
	int64_t values[STACKS_VALUES]; /* ns and bytes; -1: not known, or none */
};

struct stacks {
	struct stack *list; /* a stack is followed by those that begin with it */
	int32_t n;
	struct arena names;
};

/* 0 or -ENOMEM. */
int stacks_create(const struct shape *shape, enum stacks_of of, struct stacks **ret_stacks);
void stacks_destroy(struct stacks *stacks);

/* The indexes of all stacks above this one, from the outermost on, and of itself; returns their number. */
int32_t stacks_way(const struct stacks *stacks, int32_t stack, int32_t ret_way[static STACKS_DEPTH + 1]);

/* One of the values that a flame graph may show. */
struct stacks_kind {
	enum stacks_of of;
	enum stacks_value value;
	const char *title, *unit; /* unit: as speedscope calls it */
};

extern const struct stacks_kind stacks_kinds[];
extern const char *const stacks_names[]; /* of each of them, ended by NULL */

#endif
