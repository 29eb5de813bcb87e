/* SPDX-License-Identifier: MIT */
#ifndef DAG_DIFF_FIGURES_H
#define DAG_DIFF_FIGURES_H

/*
 * What is counted and measured of each run, for verdicts about two sides of several runs.  The runs of one side are equal: by how much
 * they differ among each other is noise, and a difference of the sides is one only if it is larger.
 *
 * What is counted does not depend on the time at which things happen: operations are reads and writes of files, and bytes what they moved;
 * without pipes and the like, and without what the kernel reads of mapped files and programs when it likes.
 */

#include <stdbool.h>
#include <stdint.h>

enum figure {
	FIGURE_PROCESSES,
	FIGURE_FILES, /* that were used */
	FIGURE_EDGES,
	FIGURE_OPERATIONS,
	FIGURE_BYTES,
	FIGURE_TIME,
	FIGURE_CPU,
	FIGURE_MEMORY,
	FIGURE_MAX
};
extern const char *const figure_names[]; /* as the names of columns are */

struct figures {
	int64_t of[FIGURE_MAX]; /* WORKFLOW_UNKNOWN */
};

struct found;
struct measurement;
struct side;

/* Of one of the two runs that were compared. */
void figures_of(const struct side *side, const struct found *found, const struct measurement *measurement, int run,
	struct figures *ret);

/* Of several runs; all of these are unknown if one of the runs is. */
int64_t figures_least(const struct figures *runs, int n, enum figure figure);
int64_t figures_most(const struct figures *runs, int n, enum figure figure);
int64_t figures_median(const struct figures *runs, int n, enum figure figure);
/* By how much runs of one side differ: the larger of the two. */
int64_t figures_noise(const struct figures *const sides[2], const int n[2], enum figure figure);
/* Is all of the second side more than all of the first, by more than that part of it, and by more than noise? */
bool figures_exceed(const struct figures *const sides[2], const int n[2], enum figure figure, double percent);

#endif
