/* SPDX-License-Identifier: MIT */
#ifndef DB_METRICS_H
#define DB_METRICS_H

/*
 * The operations of each interval of a run, counted: how many, how long they took and what they moved, with histograms by
 * powers of two.  A row of the table metrics is one process, one mount and one kind of operation in one interval.  All recorded
 * operations count, whether or not they have a row of their own.
 *
 * Memory holds the sums of intervals that go on; the rows of one that is over are written with the next flush.  An operation
 * that comes after that gets a row of its own, which the views add.  One thread.  Memory: 'kept' / 4.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct file;
struct metrics;
struct store;
struct totals;

#define METRICS_INTERVAL_NS INT64_C(1000000000)

struct metric_op {
	int64_t process; /* 0: not known */
	const struct file *file; /* NULL: not known */
	unsigned code;
	const char *program; /* that the process runs; "": not known */
	int64_t time_ns, latency_ns;
	bool failed;
	int64_t bytes; /* -1: it moved none */
};

/* Writes the row of metric_grids with the first rows.  interval_ns 0: METRICS_INTERVAL_NS.  0 or -ENOMEM. */
int metrics_create(struct store *store, int64_t start_ns, int64_t interval_ns, size_t kept, struct metrics **ret_metrics);
void metrics_destroy(struct metrics *metrics); /* NULL is fine */
/* From now on adds what it writes to these totals, too, which the caller keeps. */
void metrics_add_to(struct metrics *metrics, struct totals *totals);

/* Counts an operation.  0 or -errno. */
int metrics_add(struct metrics *metrics, const struct metric_op *op);

/* Writes the rows of intervals that ended before now_ns; INT64_MAX: all.  0 or -errno. */
int metrics_flush(struct metrics *metrics, int64_t now_ns);
/* Whether metrics_flush() would write a row. */
bool metrics_are_due(const struct metrics *metrics, int64_t now_ns);

#endif
