/* SPDX-License-Identifier: MIT */
#ifndef FTRAC_RUN_H
#define FTRAC_RUN_H

/* ftrac run: traces one command in its own directory. argv[0] is "run". Returns the exit status. */
int run_command(int argc, char **argv);

#endif
