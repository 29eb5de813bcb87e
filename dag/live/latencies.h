/* SPDX-License-Identifier: MIT */
#ifndef DAG_LIVE_LATENCIES_H
#define DAG_LIVE_LATENCIES_H

/*
 * How often which latency: eight classes for each power of two, so a quantile is right within a sixteenth.  Begins as zeroes.
 */

#include <math.h>
#include <stdint.h>
#include <string.h>

#define LATENCIES_CLASSES 496

struct latencies {
	uint32_t n[LATENCIES_CLASSES];
	int64_t count;
};

static inline int latencies_class(int64_t ns)
{
	uint64_t value = ns < 0 ? 0 : (uint64_t)ns;
	int shift;

	if (value < 8)
		return (int)value;
	shift = 60 - __builtin_clzll(value); /* leaves four bits, the first of which is set */
	return (shift + 1) * 8 + (int)(value >> shift & 7);
}

/* The middle of a class. */
static inline double latencies_of_class(int class)
{
	int shift = class / 8 - 1;

	return class < 8 ? class : ldexp((8 + class % 8) + (shift > 0 ? 0.5 : 0), shift);
}

static inline void latencies_add(struct latencies *latencies, int64_t ns)
{
	latencies->n[latencies_class(ns)]++;
	latencies->count++;
}

/* The latency that this part of all do not exceed; NAN: there is none. */
static inline double latencies_quantile(const struct latencies *latencies, double part)
{
	int64_t wanted = (int64_t)ceil(part * (double)latencies->count), seen = 0;

	for (int class = 0; class < LATENCIES_CLASSES && latencies->count; class++) {
		seen += latencies->n[class];
		if (seen >= wanted)
			return latencies_of_class(class);
	}
	return NAN;
}

#endif
