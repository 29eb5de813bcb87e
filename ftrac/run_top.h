/* SPDX-License-Identifier: MIT */
#ifndef FTRAC_RUN_TOP_H
#define FTRAC_RUN_TOP_H

/*
 * ftrac run --top: the screen of ftrac top while the command runs.
 *
 *   this process                                   the one that records
 *   options, fork ───────────────────────────────► its output, and the command's, goes into a file
 *   waits for a byte ◄── byte ───────────────────── the command starts
 *   shows the run                                  ...
 *   shows the file, as it grows ◄── end ───────────  the trace is complete
 *
 * The screen is left when the command has ended, or by the user; then the file is shown, which has no name and is in $TMPDIR.
 * A stream that is no terminal stays what it is; a stdin that is one is empty, because the keys are for the screen.
 */

#include <stdbool.h>

#include "dag/live/live.h"
#include "ftrac/options.h"

/* Before other threads are started.  True in the process that records, with the descriptor for run_top_ready(); in the other one false,
 * at the end of both, with the exit status. */
bool run_top_fork(const struct options *options, live_waits *waits, int *ret_fd, int *ret_status);
/* The trace can be read.  fd -1 is fine. */
void run_top_ready(int fd);

#endif
