/* SPDX-License-Identifier: MIT */
#ifndef DAG_MERGE_MERGE_H
#define DAG_MERGE_MERGE_H

/* ftrac merge: several traces become one, in a file.  argv[0] is "merge".  Prints errors; returns the exit status. */
int merge_main(int argc, char **argv);

#endif
