/* SPDX-License-Identifier: MIT */
#ifndef DAG_CHANGE_CHANGE_H
#define DAG_CHANGE_CHANGE_H

/* What a run changed, at its end: for ftrac run --changes and --in-toto.  how: see query_open(). */

#include <stdio.h>

#define CHANGE_OWN 2 /* of a program that has written the trace itself: QUERY_FOREIGN */

/* Prints the list, 80 columns wide.  0; or -errno after an error was printed. */
int change_print(const char *db, unsigned how, FILE *out);
/* Writes the statement to a file ("-": stdout).  0; or -errno after an error was printed. */
int change_state(const char *db, unsigned how, const char *file);

/* The verb of wfdag. */
int change_main(int argc, char **argv);

#endif
