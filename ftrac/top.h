/* SPDX-License-Identifier: MIT */
#ifndef FTRAC_TOP_H
#define FTRAC_TOP_H

#include "dag/live/live.h"

/* ftrac top (dag/live/live.h).  argv[0] is "top".  Returns the exit status. */
int top_main(int argc, char **argv);

/* What threads wait for, as procmon/ sees it. */
live_waits top_waits;

#endif
