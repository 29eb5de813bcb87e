/* SPDX-License-Identifier: MIT */
#ifndef DB_SUMMARY_H
#define DB_SUMMARY_H

/*
 * A run in a few lines, at most 15: how long, how much of what, what was slow, what was not seen and
 * what was lost.  From the views of a trace that is complete.
 */

#include <stdio.h>

/* 0, or -EIO if the trace cannot be read. */
int summary_print(const char *db, FILE *out);

#endif
