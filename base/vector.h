/* SPDX-License-Identifier: MIT */
#ifndef BASE_VECTOR_H
#define BASE_VECTOR_H

/*
 * Arrays that grow: a pointer and a count, of any integer type, in the struct that they belong to.
 *
 *   struct jobs { struct job *jobs; int32_t n_jobs; };
 *
 *   if (vector_push(jobs->jobs, jobs->n_jobs, (struct job){ .start_ns = now }) < 0)
 *           return -ENOMEM;
 *
 * The array begins as NULL and 0 and is freed by free().  Its room follows from the count: VECTOR_LEAST, then each
 * power of two.  So the count may shrink, but an array that was allocated in another way must not be pushed to.
 * On -ENOMEM array and count are as they were.  The arguments array and n are evaluated more than once.
 *
 * A buffer gets room for many elements at once (vector_fit).  It has a number of its own for that room, beginning as 0:
 *
 *   struct text { char *bytes; size_t len, room; };
 *
 *   if (vector_fit(text->bytes, text->room, text->len + more) < 0)
 *           return -ENOMEM;
 */

#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#define VECTOR_LEAST 8

/* The array with room for one more element than n, or NULL. */
static inline void *vector_grown(void *array, size_t n, size_t size)
{
	if (n && (n < VECTOR_LEAST || (n & (n - 1))))
		return array;
	return reallocarray(array, n ? 2 * n : VECTOR_LEAST, size);
}

/* Makes room for one more element.  0 or -ENOMEM. */
#define vector_reserve(array, n)                                                                   \
	({                                                                                         \
		__typeof__(array) grown_ = vector_grown((array), (size_t)(n), sizeof(*(array)));   \
                                                                                                   \
		if (grown_)                                                                        \
			(array) = grown_;                                                          \
		grown_ ? 0 : -ENOMEM;                                                              \
	})

/* Appends a value; it may be a compound literal.  0 or -ENOMEM. */
#define vector_push(array, n, ...)                                                                 \
	({                                                                                         \
		int reserved_ = vector_reserve(array, n);                                          \
                                                                                                   \
		if (reserved_ == 0) {                                                              \
			(array)[n] = __VA_ARGS__;                                                  \
			(n)++;                                                                     \
		}                                                                                  \
		reserved_;                                                                         \
	})

/* Makes room for `need` elements, and keeps those that are there.  0 or -ENOMEM; then nothing has changed. */
#define vector_fit(array, room, need)                                                              \
	({                                                                                         \
		size_t need_ = (need), more_ = need_ <= SIZE_MAX / 2 ? 2 * need_ : need_;          \
		__typeof__(array) fit_ = (array);                                                  \
                                                                                                   \
		if (need_ > (room) && (fit_ = reallocarray((array), more_, sizeof(*(array))))) {   \
			(array) = fit_;                                                            \
			(room) = more_;                                                            \
		}                                                                                  \
		need_ <= (room) ? 0 : -ENOMEM;                                                     \
	})

/* The index of the first element that is not less than the key; n: all are.  The array is in ascending order.
 * compare() gets the key first, as with bsearch(). */
static inline size_t vector_lower_bound(const void *key, const void *array, size_t n, size_t size,
	int (*compare)(const void *key, const void *element))
{
	size_t low = 0;

	while (n > 0) {
		size_t half = n / 2;

		if (compare(key, (const char *)array + (low + half) * size) > 0) {
			low += half + 1;
			n -= half + 1;
		} else {
			n = half;
		}
	}
	return low;
}

/* As bsearch(), which must not be given NULL, the array of no elements. */
static inline void *vector_find(const void *key, const void *array, size_t n, size_t size,
	int (*compare)(const void *key, const void *element))
{
	return n ? bsearch(key, array, n, size, compare) : NULL;
}

#endif
