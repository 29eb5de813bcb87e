/* SPDX-License-Identifier: MIT */
#ifndef DAG_DIFF_DIFF_H
#define DAG_DIFF_DIFF_H

/* The verb diff of wfdag: two runs side by side.  The exit status is that of diff: 0 the same, 1 not, 2 it cannot be
 * said; 3 if --strict asks for whole traces. */

int diff_main(int argc, char **argv);

#endif
