/* SPDX-License-Identifier: MIT */
#ifndef DAG_GRAPH_ROUNDS_H
#define DAG_GRAPH_ROUNDS_H

/*
 * Processes that talk in rounds: what one of them writes to a pipe depends on what it has read from one, and the other way
 * round, again and again, as with questions and answers.  An access tells the first and the last read and write alone, so how
 * long each of them waited in the rounds between is not known.
 *
 * One thread.
 */

#include <stdbool.h>

#include "dag/graph/workflow.h"

/* Sets .talks of each process that does; there are as many as processes.  May also set it for a process between two that
 * do.  0 or -ENOMEM. */
int rounds_find(const struct workflow *workflow, bool *ret_talks);

#endif
