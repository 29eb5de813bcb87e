/* SPDX-License-Identifier: MIT */
#ifndef DAG_DIFF_MEASURE_H
#define DAG_DIFF_MEASURE_H

/*
 * What two runs took, as a whole and phase by phase.  Which phases there are is what the first run says: a process
 * of the second counts where its counterpart does, since the order of jobs may divide phases in another way.
 *
 * -ENOMEM is the only error.
 */

#include <stdbool.h>
#include <stdint.h>

#include "dag/diff/match.h"

enum measure {
	MEASURE_TIME, /* while any of the processes lived; of the run: from the first start to the last exit */
	MEASURE_CPU,    /* ns */
	MEASURE_MEMORY, /* most bytes of one process */
	MEASURE_READ,
	MEASURE_WRITTEN, /* bytes */
	MEASURE_MAX
};
extern const char *const measures[]; /* as the names of columns are */

struct measured {
	const char *phase; /* NULL: what belongs to none, or the whole run */
	bool whole;
	int32_t processes[2];
	int64_t of[MEASURE_MAX][2]; /* WORKFLOW_UNKNOWN */
};

struct measurement {
	struct measured *measured; /* the whole first, then phases in the order of their names */
	int32_t n;
};

int measure_create(const struct match *match, struct measurement **ret_measurement);
void measure_destroy(struct measurement *measurement);

/* The phase in which a process counts; NULL: none. */
const char *measure_phase(const struct match *match, int run, int32_t process);

/* NaN: not known, or from nothing. */
double measure_percent(int64_t a, int64_t b);

#endif
