/* SPDX-License-Identifier: MIT */
#include "base/units.h"

#include <math.h>
#include <stdio.h>

/* units: ended by NULL.  Whole numbers of the first unit have no decimals. */
static void scale(double number, const char *const *units, char *out, size_t size)
{
	const char *const *unit = units;

	for (; fabs(number) >= 999.95 && unit[1]; unit++)
		number /= 1000;
	snprintf(out, size, unit == units && number == floor(number) ? "%.0f %s"
		: fabs(number) < 9.995 ? "%.2f %s" : "%.1f %s", number, *unit);
}

void units_bytes(double bytes, char *out, size_t size)
{
	scale(bytes, (const char *const[]){ "B", "kB", "MB", "GB", "TB", "PB", NULL }, out, size);
}

void units_rate(double bytes_per_s, char *out, size_t size)
{
	scale(bytes_per_s, (const char *const[]){ "B/s", "kB/s", "MB/s", "GB/s", "TB/s", "PB/s", NULL }, out, size);
}

void units_time(double ns, char *out, size_t size)
{
	scale(ns, (const char *const[]){ "ns", "us", "ms", "s", NULL }, out, size);
}
