/* SPDX-License-Identifier: MIT */
#ifndef BASE_FAILURE_H
#define BASE_FAILURE_H

/*
 * Why a function failed, in words.  The convention of all library code that has more to say than an errno:
 *
 *   int graph_read(const char *file, struct failure *failure);       0 or -errno
 *
 *   if (!f)
 *           return failure_set(failure, -errno, "cannot open '%s': %s", file, strerror(errno));
 *
 * The function that knows what was being done writes the text; those above it only hand the code up.  The command
 * owns the struct, which begins as zeroes, and ends with failure_status(), which prints the one line.
 */

#include <errno.h>

/* The user's request is wrong, not the machine: the exit status is EXIT_USAGE. */
#define FAILURE_USAGE (-EBADRQC)

struct failure {
	int code;	 /* negative errno; 0: nothing failed */
	char text[8192]; /* without program name and newline */
};

/* Sets code and text, and returns code.  What was set before is replaced. */
__attribute__((format(printf, 3, 4))) int failure_set(struct failure *failure, int code, const char *format, ...);

/* -ENOMEM. */
int failure_memory(struct failure *failure);
/* r: the result of a function that fails only if memory runs out.  0, or failure_memory(). */
int failure_of_memory(struct failure *failure, int r);

/* Prints the text.  The exit status: 0 if nothing failed, else EXIT_USAGE or EXIT_OWN (err.h). */
int failure_status(const struct failure *failure);

#endif
