/* SPDX-License-Identifier: MIT */
#ifndef BASE_ERR_H
#define BASE_ERR_H

/*
 * How a program's main file speaks: one line on stderr, "program: what: why; what to do".
 * Library code returns -errno and prints nothing.
 */

#define EXIT_OWN 1   /* it could not be done */
#define EXIT_USAGE 2 /* it was asked for in a wrong way */
#define EXIT_RUNNER 125 /* either, of a program that runs another one and else has its status */

/* Prints the line. */
__attribute__((format(printf, 1, 2))) void err_print(const char *format, ...);

/* Prints the line and returns status, so that `return err_status(...)` ends a main. */
__attribute__((format(printf, 2, 3))) int err_status(int status, const char *format, ...);

/* From now on err_status() prints one line, the first: for threads, of which several may meet the same. */
void err_once(void);

#endif
