/* SPDX-License-Identifier: MIT */
#include "db/differences.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"

#define NONE DIFFERENCES_NONE
#define LIMIT (INT64_C(1) << 61) /* larger bounds are none */

struct solver {
	int n;
	int64_t *bounds;   /* as given, with what was changed for contradictions */
	int64_t *shortest; /* what follows from all of them */
	int *next;	   /* on that way, the number after the first one */
	struct difference *found;
};

static int64_t sum(int64_t a, int64_t b)
{
	int64_t s;

	if (a == NONE || b == NONE)
		return NONE;
	s = a + b; /* of numbers below LIMIT */
	return s > LIMIT ? NONE : s < -LIMIT ? -LIMIT : s;
}

static int64_t *at(const struct solver *s, int64_t *matrix, int i, int j)
{
	return &matrix[(size_t)i * s->n + j];
}

static void begin(struct solver *s)
{
	memcpy(s->shortest, s->bounds, (size_t)s->n * s->n * sizeof(*s->bounds));
	for (int i = 0; i < s->n; i++) {
		for (int j = 0; j < s->n; j++)
			s->next[(size_t)i * s->n + j] = j;
		*at(s, s->shortest, i, i) = 0;
	}
}

/* Ways by the number k.  Returns the begin of a circle that is below 0, or -1. */
static int go_by(struct solver *s, int k)
{
	for (int i = 0; i < s->n; i++) {
		int64_t first = *at(s, s->shortest, i, k);

		for (int j = 0; j < s->n && first != NONE; j++) {
			int64_t way = sum(first, *at(s, s->shortest, k, j));

			if (way >= *at(s, s->shortest, i, j))
				continue;
			*at(s, s->shortest, i, j) = way;
			s->next[(size_t)i * s->n + j] = s->next[(size_t)i * s->n + k];
			if (i == j)
				return i;
		}
	}
	return -1;
}

/* Calls change() for each bound of the circle, and returns their number.  A way of more than n bounds was one before the circle. */
static int each_of_circle(struct solver *s, int begin, int64_t by, void (*change)(struct solver *, int, int, int64_t))
{
	int n = 0, i = begin;

	do {
		int j = s->next[(size_t)i * s->n + begin];

		change(s, i, j, by);
		i = j;
		n++;
	} while (i != begin && n < 2 * s->n);
	return n;
}

static void count(struct solver *s, int i, int j, int64_t by)
{
	(void)s, (void)i, (void)j, (void)by;
}

static void widen(struct solver *s, int i, int j, int64_t by)
{
	*at(s, s->bounds, i, j) = sum(*at(s, s->bounds, i, j), by);
}

static void give_up(struct solver *s, int i, int j, int64_t by)
{
	(void)j;
	if (by > s->found[i].contradiction)
		s->found[i].contradiction = by;
}

static void remove_given_up(struct solver *s)
{
	for (int i = 0; i < s->n; i++)
		for (int j = 0; j < s->n && s->found[i].contradiction; j++)
			*at(s, s->bounds, i, j) = *at(s, s->bounds, j, i) = NONE;
}

/* Ways between all numbers, without a circle that is below 0. */
static void find_ways(struct solver *s, int64_t tolerance)
{
	int circle = -1, turns = 0;

	do {
		begin(s);
		for (int k = 0; k < s->n; k++)
			if ((circle = go_by(s, k)) >= 0)
				break;
		if (circle >= 0) {
			int64_t below = -*at(s, s->shortest, circle, circle);
			int n = each_of_circle(s, circle, 0, count);

			if (below <= tolerance && turns++ < 8 * s->n)
				each_of_circle(s, circle, (below + n - 1) / n, widen);
			else
				each_of_circle(s, circle, below, give_up);
			remove_given_up(s);
		}
	} while (circle >= 0);
}

/* What follows for others from the value of the number i. */
static void fix(struct solver *s, int i, int64_t value)
{
	*at(s, s->shortest, i, 0) = value;
	*at(s, s->shortest, 0, i) = -value;
	for (int j = 0; j < s->n; j++) {
		int64_t most = sum(*at(s, s->shortest, j, i), value), least = sum(*at(s, s->shortest, i, j), -value);

		if (most < *at(s, s->shortest, j, 0))
			*at(s, s->shortest, j, 0) = most;
		if (least < *at(s, s->shortest, 0, j))
			*at(s, s->shortest, 0, j) = least;
	}
}

static void choose(struct solver *s, int i, int64_t inside)
{
	int64_t most = *at(s, s->shortest, i, 0), below = *at(s, s->shortest, 0, i), left = sum(most, below);
	int64_t distance = left != NONE && left / 2 < inside ? left / 2 : inside;
	int64_t value = most < 0 ? most - distance : below < 0 ? distance - below : 0;

	s->found[i].value = value;
	fix(s, i, value);
}

int differences_solve(int n, int64_t *bounds, int64_t tolerance, int64_t inside, struct difference *ret)
{
	size_t all = (size_t)n * n;
	cleanup_free int64_t *shortest = malloc((all + 1) * sizeof(*shortest));
	cleanup_free int *next = malloc((all + 1) * sizeof(*next));
	struct solver s = { n, bounds, shortest, next, ret };

	if (!shortest || !next)
		return -ENOMEM;
	memset(ret, 0, n * sizeof(*ret));
	for (size_t i = 0; i < all; i++)
		bounds[i] = bounds[i] > LIMIT ? NONE : bounds[i] < -LIMIT ? -LIMIT : bounds[i];
	find_ways(&s, tolerance);
	for (int i = 0; i < n; i++) {
		int64_t below = *at(&s, shortest, 0, i);

		ret[i].most = *at(&s, shortest, i, 0);
		ret[i].least = below == NONE ? -NONE : -below;
	}
	for (int i = 0; i < n; i++)
		choose(&s, i, inside);
	return 0;
}
