/* SPDX-License-Identifier: MIT */
#ifndef DAG_DIFF_DIFF_H
#define DAG_DIFF_DIFF_H

/* The verb diff of wfdag: two runs side by side.  The exit status is that of diff: 0 the same, 1 not, 2 trouble;
 * 3 if a trace is not whole and --strict is given. */

int diff_main(int argc, char **argv);

#endif
