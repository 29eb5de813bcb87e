/* SPDX-License-Identifier: MIT */
#ifndef DB_DIFFERENCES_H
#define DB_DIFFERENCES_H

/*
 * Numbers of which upper bounds of differences are known: the offsets of clocks, when events of one clock were before events of
 * another one.  The number 0 is 0; each other one becomes the number nearest 0 that all bounds leave, in their order.  One that cannot
 * be 0 keeps a distance from the bound: inside, or half of what is left.
 *
 * Bounds contradict each other if they add up to less than 0 around a circle.  If that is no more than the tolerance, the bounds of the
 * circle are widened; else the numbers of the circle are 0, and no bound counts that any of them has.
 */

#include <stdint.h>

#define DIFFERENCES_NONE INT64_MAX /* as a bound */
#define DIFFERENCES_MOST 1024	   /* numbers: time grows with their third power */

struct difference {
	int64_t value;
	int64_t least, most;	/* what the bounds leave, if the number 0 is right; -DIFFERENCES_NONE, DIFFERENCES_NONE: not bounded */
	int64_t contradiction; /* how far bounds contradict each other; 0: they do not */
};

/* bounds: n * n, bound i * n + j of the i-th number minus the j-th one; they are changed.  0 or -ENOMEM. */
int differences_solve(int n, int64_t *bounds, int64_t tolerance, int64_t inside, struct difference *ret);

#endif
