/* SPDX-License-Identifier: MIT */
#ifndef DAG_LOAD_LOAD_H
#define DAG_LOAD_LOAD_H

/*
 * ftrac replay: the file operations of a trace once more, as a load, without the programs.  (dag/replay/ is something else: it works
 * out how long a workflow would take on other resources, and runs nothing.)
 *
 *   trace ──► plan (plan.h): steps of each thread, and which steps of others each waits for
 *         ──► prepare.h: the directory as the first operations are to find it
 *         ──► walk.h: a process for each traced one, a thread for each traced one; each goes through its steps (act.h)
 *         ──► report.h: what was done, what was other than in the trace, and what could not be done
 *
 * A trace is not trusted: nothing outside of the directory is opened, made, changed or removed.
 */

/* argv[0] is "replay".  Prints errors; returns the exit status. */
int load_main(int argc, char **argv);

#endif
