/* SPDX-License-Identifier: MIT */
#ifndef BASE_HELPER_H
#define BASE_HELPER_H

/*
 * Helper programs: dot, gnuplot, ninja, fusermount3.  The search path is $PATH.  No shell interprets their words.  Of the
 * environment they get only the variables listed in helper.c.
 */

#include <sys/types.h>

/*
 * If this program has capabilities of its file, the loader has removed LD_LIBRARY_PATH, TMPDIR and others from the
 * environment.  Puts them back: for a child of ours that is about to execute the user's command, which does not have these
 * capabilities.  Variables that are set now stay as they are.
 */
void helper_restore_environment(void);

/* The value of a variable before the loader removed it; the caller frees it.  NULL: it is not set, or out of memory. */
char *helper_original_variable(const char *name);

/* Starts argv[0].  input, output: its stdin and stdout; -1: those of the caller.  The caller waits for it.  0 or
 * -errno. */
int helper_spawn(char *const *argv, int input, int output, pid_t *ret_pid);

/* For libraries that start a helper themselves: reduces the environment of this process to those variables.  Returns the
 * whole environment, for helper_show_environment(); NULL: out of memory.  No other thread may change the environment in
 * between. */
char **helper_hide_environment(void);
void helper_show_environment(char **all);

#endif
