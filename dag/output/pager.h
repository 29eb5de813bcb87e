/* SPDX-License-Identifier: MIT */
#ifndef DAG_OUTPUT_PAGER_H
#define DAG_OUTPUT_PAGER_H

/*
 * Text on a terminal goes through $PAGER, a program and its words (no shell reads them), or through less -FRX, which ends by itself if
 * the text fits into the terminal.  Elsewhere, with an empty $PAGER, and on a terminal that can do nothing (TERM is dumb or not set), it is printed as it is.
 *
 * One thread.
 */

#include <stdbool.h>
#include <stdio.h>
#include <sys/types.h>

struct pager {
	FILE *out; /* where to print */
	pid_t pid; /* 0: there is none, and out is what it was */
};

/* No pager is no error. */
struct pager pager_open(FILE *out);
/* Waits for its end.  A reader that has seen enough is no error. */
void pager_close(struct pager *pager);
/* Bold headings: a terminal that can do them, and NO_COLOR is not set (https://no-color.org). */
bool pager_has_colours(FILE *out);

#endif
