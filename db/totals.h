/* SPDX-License-Identifier: MIT */
#ifndef DB_TOTALS_H
#define DB_TOTALS_H

/*
 * What a run has done so far, for Prometheus: counters by file system, mount, operation and program, and histograms of latencies and
 * sizes without programs.  metrics.h adds to them, when it writes the rows of an interval.
 *
 * Any thread: one adds, others may read.  Memory: some 100 bytes for each combination with a program, at most TOTALS_MOST of them (further ones count for the program
 * "..."), and 1.2 KiB for each without.
 */

#include <stddef.h>
#include <stdint.h>

#define TOTALS_MOST 2000
#define TOTALS_CLASSES 64 /* 0, then from 2^(n-1) to below 2^n */
#define TOTALS_NAME 16	  /* of a program, with its end */

struct totals;

/* OpenMetrics 1.0, or the older text format of Prometheus, which its node exporter reads. */
enum totals_form { TOTALS_OPENMETRICS, TOTALS_PROMETHEUS };

struct total {
	int64_t mount; /* negative: not known */
	unsigned code;
	const char *program; /* shorter than TOTALS_NAME; "": not known */
	uint64_t count, errors, bytes, latency_ns;
	const uint32_t *latencies, *sizes; /* by classes */
};

/* 0 or -ENOMEM. */
int totals_create(struct totals **ret_totals);
void totals_destroy(struct totals *totals); /* NULL is fine */

/* The names of a mount; NULL: not known.  0 or -ENOMEM. */
int totals_mount(struct totals *totals, int64_t id, const char *fstype, const char *path);

int totals_add(struct totals *totals, const struct total *total); /* 0 or -ENOMEM */

/* Processes of the run that live now, and operations that were lost. */
void totals_now(struct totals *totals, uint64_t running, uint64_t lost);

/* The text, which the caller frees; NULL: out of memory. */
char *totals_text(struct totals *totals, enum totals_form form, size_t *ret_len);
/* How often they have changed: while this number stays the same, so does the text. */
uint64_t totals_changes(struct totals *totals);

#endif
