/* SPDX-License-Identifier: MIT */
#include "dag/container/classes.h"

int64_t classes_begin(int class, bool tens)
{
	int64_t value = 1;

	if (class == 0)
		return 0;
	if (!tens)
		return class < CLASSES_MAX ? (int64_t)1 << (class - 1) : INT64_MAX;
	for (int i = 1; i < class; i++)
		if (__builtin_mul_overflow(value, 10, &value))
			return INT64_MAX;
	return value;
}

int classes_find(int64_t value, bool tens)
{
	int class = 1;

	if (value <= 0)
		return 0;
	if (!tens)
		return 64 - __builtin_clzll((uint64_t)value);
	for (; value >= 10; value /= 10)
		class++;
	return class;
}
