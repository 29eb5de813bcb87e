/* SPDX-License-Identifier: MIT */
#ifndef FTRAC_WAIT_H
#define FTRAC_WAIT_H

/*
 * ftrac wait: waits until a condition is true of a trace that is being written.  argv[0] is "wait".  Returns the exit status: 0, the
 * condition is true; WAIT_ENDED; WAIT_TIMEOUT; EXIT_OWN; EXIT_USAGE, also for a condition that is no SQL.
 */

enum { WAIT_ENDED = 4, WAIT_TIMEOUT = 124 /* as timeout(1) has it */ };

int wait_main(int argc, char **argv);

#endif
