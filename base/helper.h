/* SPDX-License-Identifier: MIT */
#ifndef BASE_HELPER_H
#define BASE_HELPER_H

/*
 * Programs that do something for us: dot, gnuplot, ninja, fusermount3.  They are found by $PATH, get their
 * words as they are - no shell sees them - and of the environment what stands in helper.c alone.
 */

#include <sys/types.h>

/* argv[0]: the program.  input, output: its stdin and stdout; -1: as ours.  To be waited for.  0 or -errno. */
int helper_spawn(char *const *argv, int input, int output, pid_t *ret_pid);

/* For libraries that start a helper themselves: our environment is no more than that until it is given back.  What
 * it was, or NULL: out of memory.  No other thread may change it. */
char **helper_hide_environment(void);
void helper_show_environment(char **all);

#endif
