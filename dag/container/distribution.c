/* SPDX-License-Identifier: MIT */
#include "dag/container/distribution.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/vector.h"

/* Of fewer, qsort() is as fast. */
#define MANY 4096

static int add_squares(struct distribution *d, int64_t value)
{
	unsigned __int128 magnitude =
		value < 0 ? -(unsigned __int128)value : (unsigned __int128)value;

	return __builtin_add_overflow(d->squares, magnitude * magnitude, &d->squares) ? -EOVERFLOW
										      : 0;
}

static int keep_value(struct distribution *d, int64_t value)
{
	int r = vector_fit(d->values, d->size, d->count + 1);

	if (r == 0)
		d->values[d->count] = value;
	return r;
}

int distribution_add(struct distribution *d, int64_t value, bool keep)
{
	double delta = (double)value - d->float_mean;

	if (keep && keep_value(d, value) < 0)
		return -ENOMEM;
	if (d->count == 0 || value < d->min)
		d->min = value;
	if (d->count == 0 || value > d->max)
		d->max = value;
	d->count++;
	d->sum += value;
	if (add_squares(d, value) < 0)
		d->overflow = true;
	d->float_mean += delta / (double)d->count;
	d->float_squares += delta * ((double)value - d->float_mean);
	return 0;
}

void distribution_finish(struct distribution *d)
{
	free(d->values);
	*d = (struct distribution){ 0 };
}

/* a / b is *ret_quotient * 2^-*ret_shift: more bits than any floating point number keeps.  The last bit
 * is 1 if there is a remainder, so that rounding the quotient is rounding a / b. */
static void divide(unsigned __int128 a, unsigned __int128 b, unsigned __int128 *ret_quotient,
	int *ret_shift)
{
	*ret_shift = 0;
	for (; a && !(a >> 126); a <<= 1)
		++*ret_shift;
	*ret_quotient = a / b | (a % b != 0);
}

double distribution_mean(const struct distribution *d)
{
	unsigned __int128 sum = d->sum < 0 ? -(unsigned __int128)d->sum : (unsigned __int128)d->sum;
	int shift;

	if (d->count == 0)
		return NAN;
	divide(sum, d->count, &sum, &shift);
	return ldexp((double)sum, -shift) * (d->sum < 0 ? -1 : 1);
}

/* sqrt((n * sum of squares - square of the sum) / n^2) */
double distribution_deviation(const struct distribution *d)
{
	unsigned __int128 sum = d->sum < 0 ? -(unsigned __int128)d->sum : (unsigned __int128)d->sum;
	unsigned __int128 scaled, square;

	if (d->count == 0)
		return NAN;
	if (d->overflow || __builtin_mul_overflow(d->squares, d->count, &scaled) ||
		__builtin_mul_overflow(sum, sum, &square))
		return sqrt(d->float_squares / (double)d->count);
	return (double)(sqrtl((long double)(scaled - square)) / (long double)d->count);
}

static int compare(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

#define DIGIT_BITS 11
#define DIGITS (1 << DIGIT_BITS)

/* From the smallest, also of negative numbers. */
static size_t digit(int64_t value, int shift)
{
	return (((uint64_t)value ^ (uint64_t)INT64_MIN) >> shift) & (DIGITS - 1);
}

/* By one digit, in the order that there was.  Whether anything was moved: most have the upper digits in common. */
static bool sort_digit(const int64_t *from, int64_t *to, size_t n, int shift)
{
	size_t places[DIGITS] = { 0 }, sum = 0;

	for (size_t i = 0; i < n; i++)
		places[digit(from[i], shift)]++;
	if (places[digit(from[0], shift)] == n)
		return false;
	for (int i = 0; i < DIGITS; i++) {
		size_t count = places[i];

		places[i] = sum;
		sum += count;
	}
	for (size_t i = 0; i < n; i++)
		to[places[digit(from[i], shift)]++] = from[i];
	return true;
}

/* Sorting ten million values by comparisons takes ten times as long as by digits. */
static int radix_sort(struct distribution *d)
{
	int64_t *spare = malloc(d->count * sizeof(*spare)), *from = d->values;

	if (!spare)
		return -ENOMEM;
	for (int shift = 0; shift < 64; shift += DIGIT_BITS)
		if (sort_digit(from, spare, d->count, shift)) {
			int64_t *sorted = spare;

			spare = from;
			from = sorted;
		}
	if (from != d->values)
		d->size = d->count;
	d->values = from;
	free(spare);
	return 0;
}

void distribution_sort(struct distribution *d)
{
	if (d->values && (d->count < MANY || radix_sort(d) < 0))
		qsort(d->values, d->count, sizeof(*d->values), compare);
}

int64_t distribution_quantile(const struct distribution *d, double p)
{
	size_t rank = (size_t)ceil(p * (double)d->count - 1e-9);

	rank = rank < 1 ? 1 : rank > d->count ? d->count : rank;
	return d->values[rank - 1];
}

static void join_sums(struct distribution *all, const struct distribution *one)
{
	double n = (double)all->count + (double)one->count,
	       delta = one->float_mean - all->float_mean;

	if (one->count == 0)
		return;
	if (all->count == 0 || one->min < all->min)
		all->min = one->min;
	if (all->count == 0 || one->max > all->max)
		all->max = one->max;
	all->float_squares +=
		one->float_squares + delta * delta * (double)all->count * (double)one->count / n;
	all->float_mean += delta * (double)one->count / n;
	all->count += one->count;
	all->sum += one->sum;
	all->overflow |=
		one->overflow || __builtin_add_overflow(all->squares, one->squares, &all->squares);
}

int distribution_join(struct distribution *all, struct distribution *const *from, size_t n)
{
	size_t size = 0;

	*all = (struct distribution){ 0 };
	for (size_t i = 0; i < n; i++)
		size += from[i]->values ? from[i]->count : 0;
	all->values = size ? malloc(size * sizeof(*all->values)) : NULL;
	if (size && !all->values)
		return -ENOMEM;
	all->size = size;
	for (size_t i = 0; i < n; i++) {
		if (from[i]->values)
			memcpy(all->values + all->count, from[i]->values,
				from[i]->count * sizeof(*all->values));
		free(from[i]->values);
		from[i]->values = NULL;
		from[i]->size = 0;
		join_sums(all, from[i]);
	}
	return 0;
}

/* ---- real numbers ---- */

int reals_add(struct reals *reals, double value)
{
	return vector_push(reals->values, reals->count, value);
}

void reals_finish(struct reals *reals)
{
	free(reals->values);
	*reals = (struct reals){ 0 };
}

double reals_min(const struct reals *reals)
{
	double min = NAN;

	for (size_t i = 0; i < reals->count; i++)
		min = fmin(min, reals->values[i]);
	return min;
}

double reals_max(const struct reals *reals)
{
	double max = NAN;

	for (size_t i = 0; i < reals->count; i++)
		max = fmax(max, reals->values[i]);
	return max;
}

/* Sums that lose nothing that a double could show (Neumaier). */
static long double sum_of(const struct reals *reals, long double mean, bool squares)
{
	long double sum = 0, lost = 0;

	for (size_t i = 0; i < reals->count; i++) {
		long double x = reals->values[i] - mean, term = squares ? x * x : reals->values[i];
		long double next = sum + term;

		lost += fabsl(sum) >= fabsl(term) ? (sum - next) + term : (term - next) + sum;
		sum = next;
	}
	return sum + lost;
}

double reals_mean(const struct reals *reals)
{
	return reals->count ? (double)(sum_of(reals, 0, false) / (long double)reals->count) : NAN;
}

double reals_deviation(const struct reals *reals)
{
	long double n = (long double)reals->count;

	return reals->count ? (double)sqrtl(sum_of(reals, sum_of(reals, 0, false) / n, true) / n)
			    : NAN;
}
