/* SPDX-License-Identifier: MIT */
#ifndef WORK_RNG_H
#define WORK_RNG_H

/* Random numbers that a seed makes the same on each machine (splitmix64). */

#include <stdbool.h>
#include <stdint.h>

static uint64_t rng_state; /* the seed, at first */

static inline uint64_t random_bits(void)
{
	uint64_t z = rng_state += 0x9e3779b97f4a7c15u;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
	z = (z ^ z >> 27) * 0x94d049bb133111ebu;
	return z ^ z >> 31;
}

/* 0 to n - 1; 0 if there is nothing to choose from. */
static inline long below(long n)
{
	return n > 0 ? (long)(random_bits() % (uint64_t)n) : 0;
}

static inline bool one_in(int n)
{
	return below(n) == 0;
}

#endif
