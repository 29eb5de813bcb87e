/* SPDX-License-Identifier: MIT */
#ifndef DAG_CONTAINER_DISTRIBUTION_H
#define DAG_CONTAINER_DISTRIBUTION_H

/*
 * Values of one kind: count, smallest, largest, sum, mean, standard deviation, quantiles.  All of them
 * exact, that is, the nearest double to the true value: sums are kept in 128 bits (what does not fit
 * into them is not kept, and mean and deviation are those of floating point then).
 *
 * The standard deviation is that of the population: the values are all there are, no sample of them.
 * A quantile p is the smallest value that is at least as large as a part p of all (nearest rank): one
 * that did occur.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct distribution {
	uint64_t count;
	int64_t min, max;
	__int128 sum;
	unsigned __int128 squares;
	bool overflow;
	double float_mean, float_squares; /* of what overflows (Welford) */
	int64_t *values;                  /* if they are kept */
	size_t size;
};

/* keep: the value is kept for quantiles.  -ENOMEM. */
int distribution_add(struct distribution *d, int64_t value, bool keep);
void distribution_finish(struct distribution *d);

double distribution_mean(const struct distribution *d); /* NaN: there are none */
double distribution_deviation(const struct distribution *d);

/* Puts the values that were kept into order. */
void distribution_sort(struct distribution *d);
/* After that; 0 < p <= 1, and there is a value. */
int64_t distribution_quantile(const struct distribution *d, double p);

/* All of them as one; from[] are not kept any more.  -ENOMEM. */
int distribution_join(struct distribution *all, struct distribution *const *from, size_t n);

/* The same of real numbers, which are few: they are kept. */
struct reals {
	double *values;
	size_t count;
};
int reals_add(struct reals *reals, double value);
void reals_finish(struct reals *reals);
double reals_min(const struct reals *reals);
double reals_max(const struct reals *reals);
double reals_mean(const struct reals *reals);
double reals_deviation(const struct reals *reals);

#endif
