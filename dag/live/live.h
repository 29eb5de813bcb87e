/* SPDX-License-Identifier: MIT */
#ifndef DAG_LIVE_LIVE_H
#define DAG_LIVE_LIVE_H

/*
 * ftrac top: shows a run while it goes on, on a terminal or as plain lines.  The only header of this folder for others.
 *
 *   watcher.h: threads that look at the trace now and then ─► state.h: what was found ─► panels.h: lines ─► screen.h, batch.h
 */

/* argv[0] is "top".  Returns the exit status. */
int live_main(int argc, char **argv);

#endif
