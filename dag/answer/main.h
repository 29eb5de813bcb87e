/* SPDX-License-Identifier: MIT */
#ifndef DAG_ANSWER_MAIN_H
#define DAG_ANSWER_MAIN_H

/* wfdag summary (verbs.h). */
int answer_main(int argc, char **argv);

#endif
