/* SPDX-License-Identifier: MIT */
#ifndef DB_SUMMARY_H
#define DB_SUMMARY_H

/*
 * Prints a summary of a run in at most 15 lines: duration, amounts of data, the slowest parts, data that was not seen, and
 * losses.  Reads the views of a complete trace.
 */

#include <stdio.h>

/* 0, or -EIO if the trace cannot be read. */
int summary_print(const char *db, FILE *out);

#endif
