/* SPDX-License-Identifier: MIT */
#ifndef DAG_CHECK_MAIN_H
#define DAG_CHECK_MAIN_H

/* wfdag check (verbs.h).  The exit status is as that of diff: 0, 1 if something was found, 2. */
int check_main(int argc, char **argv);

#endif
