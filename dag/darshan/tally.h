/* SPDX-License-Identifier: MIT */
#ifndef DAG_DARSHAN_TALLY_H
#define DAG_DARSHAN_TALLY_H

/*
 * What the records of several modules count in the same way: as darshan-runtime does it when a call has ended.  Times are ns since
 * the begin of the run.  Functions that take memory return 0 or -ENOMEM.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dag/darshan/format.h"

/* One operation or call, or several that were added up (n). */
struct work {
	int64_t begin_ns, end_ns;
	int64_t bytes, offset; /* -1: not known */
	int64_t n;
};

/* When things of a kind began first and ended last. */
struct stretch {
	int64_t first_ns, last_ns;
	bool any;
};

/* How long they took, without what lies in an earlier one. */
struct spent {
	int64_t ns, until_ns;
};

/* The longest one. */
struct longest {
	int64_t ns, bytes;
};

struct values {
	int64_t *of;
	size_t n;
};

/* Reads, or writes. */
struct transfers {
	struct stretch stretch;
	struct spent spent;
	struct longest longest;
	struct darshan_segment *segments;
	size_t n_segments;
};

void stretch_add(struct stretch *stretch, const struct work *work);
double stretch_start(const struct stretch *stretch);
double stretch_end(const struct stretch *stretch);
void spent_add(struct spent *spent, const struct work *work);
double tally_seconds(int64_t ns);

/* All of these of a read or write, and a segment. */
int transfers_add(struct transfers *transfers, const struct work *work);

/* Which of the ten classes a size is in. */
int tally_size_class(int64_t bytes);
int values_add(struct values *values, int64_t value);
/* The four values that are there most often, and how often; of equally frequent ones the larger.  0 is none.  Sorts the values. */
void values_frequent(struct values *values, int64_t ret_values[DARSHAN_FREQUENT], int64_t ret_counts[DARSHAN_FREQUENT]);

#endif
