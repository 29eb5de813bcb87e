/* SPDX-License-Identifier: MIT */
#ifndef DAG_DIFF_NOISE_H
#define DAG_DIFF_NOISE_H

/*
 * What differs among runs that are equal: the runs of one side.  A difference of the sides in the same thing (a process of that command, a
 * file of that path, an edge between the two) says nothing, and is taken out.
 *
 * Begins as zeroes.  -ENOMEM is the only error.
 */

#include <stdint.h>

#include "dag/diff/report.h"

struct noisy {
	uint64_t key;
	enum find_what what;
	int side; /* in which it was first seen */
	char *process, *path; /* NULL: none */
};

struct noise {
	struct noisy *noisy;
	int32_t n;
	int32_t taken; /* differences of the sides that are noise */
};

/* Adds all differences of two runs of that side. */
int noise_add(struct noise *noise, const struct comparison *comparison, int side);
/* Takes them out of what was found. */
void noise_take_out(struct noise *noise, const struct comparison *comparison);
void noise_finish(struct noise *noise);

#endif
