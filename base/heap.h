/* SPDX-License-Identifier: MIT */
#ifndef BASE_HEAP_H
#define BASE_HEAP_H

/*
 * A binary heap of numbers: indexes of whatever is to be taken in an order.  The caller owns the array, which has room
 * for all that is ever in it at once, and the count, which begins as 0.
 */

#include <stdbool.h>
#include <stdint.h>

/* True if a is taken before b.  A strict order of all numbers in the heap. */
typedef bool heap_before(const void *arg, int32_t a, int32_t b);

static inline void heap_push(int32_t *heap, int32_t *n, int32_t number, heap_before *before, const void *arg)
{
	int32_t at = (*n)++;

	for (; at > 0 && before(arg, number, heap[(at - 1) / 2]); at = (at - 1) / 2)
		heap[at] = heap[(at - 1) / 2];
	heap[at] = number;
}

/* Takes the first.  The heap is not empty. */
static inline int32_t heap_pop(int32_t *heap, int32_t *n, heap_before *before, const void *arg)
{
	int32_t first = heap[0], last = heap[--*n], at = 0;

	for (int32_t child; (child = 2 * at + 1) < *n; at = child) {
		if (child + 1 < *n && before(arg, heap[child + 1], heap[child]))
			child++;
		if (!before(arg, heap[child], last))
			break;
		heap[at] = heap[child];
	}
	heap[at] = last;
	return first;
}

#endif
