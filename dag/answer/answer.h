/* SPDX-License-Identifier: MIT */
#ifndef DAG_ANSWER_ANSWER_H
#define DAG_ANSWER_ANSWER_H

/*
 * What a run did, in one screen of 80 columns: how long it took and what that time was spent with on the critical path, which
 * steps are worth speeding up and what each would gain, what was read again, what failed, what the trace does not have, and what
 * to look at next.
 *
 * Steps are those of the view process_step.  The gain of a step is how much earlier the run would have ended if its processes had
 * taken no time (critical.h).  If most of the run is one step of several tasks, the task that would gain most follows.
 *
 * Reads a complete trace.  One thread.
 */

#include <stdio.h>

#define ANSWER_BRIEF 0x100	      /* how: do not load the graph of a trace with very many processes */
#define ANSWER_OWN (ANSWER_BRIEF | 2) /* of a program that has written the trace itself: QUERY_FOREIGN */

/* how: see query_open().  0; or -errno if the trace cannot be read, after an error was printed. */
int answer_print(const char *db, unsigned how, FILE *out);

struct critical;
struct failure;
struct query_db;
struct workflow;

/* The part of it that follows from the graph, for others to set out: "LABEL\tTEXT\n"; without a label, the line goes on with the
 * one before.  The critical path needs gains.  0; or -errno, with the failure set. */
int answer_lines(struct query_db *db, struct workflow *workflow, struct critical *critical, struct failure *failure, FILE *out);

#endif
