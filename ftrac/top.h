/* SPDX-License-Identifier: MIT */
#ifndef FTRAC_TOP_H
#define FTRAC_TOP_H

/* ftrac top (dag/live/live.h).  argv[0] is "top".  Returns the exit status. */
int top_main(int argc, char **argv);

#endif
