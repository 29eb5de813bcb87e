/* SPDX-License-Identifier: MIT */
#ifndef DAG_OUTPUT_PIPE_H
#define DAG_OUTPUT_PIPE_H

/* Another program that makes a picture of what it is told on its stdin. */

#include <stdio.h>

/*
 * Runs argv (found in $PATH); what write() writes is its stdin, what it makes goes to the descriptor
 * output.  After so many seconds it is killed; 0: never.
 *
 * 0; -ENOENT: there is no such program; -ETIMEDOUT; -EPROTO: it failed, and may have said why on stderr;
 * other -errno.
 */
int pipe_run(char *const *argv, int output, int seconds, void (*write)(FILE *out, void *arg),
	void *arg);

#endif
