/* SPDX-License-Identifier: MIT */
#ifndef BASE_UNITS_H
#define BASE_UNITS_H

#include <stddef.h>

/* Print a number with three significant digits and a unit: "1.50 MB", "12.3 us", "999 B".  A number that would round to
 * 1000.0 becomes 1.00 of the next unit. */
void units_bytes(double bytes, char *out, size_t size);
void units_rate(double bytes_per_s, char *out, size_t size);
void units_time(double ns, char *out, size_t size);

#endif
