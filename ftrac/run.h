/* SPDX-License-Identifier: MIT */
#ifndef FTRAC_RUN_H
#define FTRAC_RUN_H

/* ftrac run: one command, traced at its own place.  argv[0] is "run".  The exit status. */
int run_command(int argc, char **argv);

#endif
