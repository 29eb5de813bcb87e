/* SPDX-License-Identifier: MIT */
#ifndef DAG_OUTPUT_PIPE_H
#define DAG_OUTPUT_PIPE_H

/* Runs a program that reads a description on stdin and writes a picture to stdout. */

#include <stdio.h>

/*
 * Runs argv (found in $PATH).  write() writes its stdin; its stdout is the descriptor output.  After so many seconds the
 * program is killed; 0: never.
 *
 * 0; -ENOENT: there is no such program; -ETIMEDOUT; -EPROTO: it failed, and may have printed a message to stderr; other
 * -errno.
 */
int pipe_run(char *const *argv, int output, int seconds, void (*write)(FILE *out, void *arg),
	void *arg);

#endif
