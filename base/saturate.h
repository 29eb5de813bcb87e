/* SPDX-License-Identifier: MIT */
#ifndef BASE_SATURATE_H
#define BASE_SATURATE_H

#include <stdint.h>

/* Sums, differences and products of untrusted numbers: a result beyond the range of int64_t is its nearest end. */

static inline int64_t saturate_add(int64_t a, int64_t b)
{
	int64_t sum;

	return __builtin_add_overflow(a, b, &sum) ? (a < 0 ? INT64_MIN : INT64_MAX) : sum;
}

static inline int64_t saturate_subtract(int64_t a, int64_t b)
{
	int64_t difference;

	return __builtin_sub_overflow(a, b, &difference) ? (a < 0 ? INT64_MIN : INT64_MAX)
							 : difference;
}

static inline int64_t saturate_multiply(int64_t a, int64_t b)
{
	int64_t product;

	return __builtin_mul_overflow(a, b, &product) ? ((a < 0) == (b < 0) ? INT64_MAX : INT64_MIN)
						      : product;
}

#endif
