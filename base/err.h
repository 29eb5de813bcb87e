/* SPDX-License-Identifier: MIT */
#ifndef BASE_ERR_H
#define BASE_ERR_H

/*
 * Error messages of programs: one line on stderr, "program: what: why; what to do"; a terminal that is too narrow shows it in
 * several.  Only commands print; library code returns -errno.
 */

#define EXIT_OWN 1   /* the command failed */
#define EXIT_USAGE 2 /* the command line is wrong */
#define EXIT_STRICT 3 /* the command did its work, but --strict does not allow what the trace lacks */
/* Replaces all of them in a program that runs another one and ends with the status of that. */
#define EXIT_RUNNER 125

/* Prints the line.  Control characters become '?'. */
__attribute__((format(printf, 1, 2))) void err_print(const char *format, ...);

/* Prints the line and returns status, so that `return err_status(...)` ends a main. */
__attribute__((format(printf, 2, 3))) int err_status(int status, const char *format, ...);

#endif
