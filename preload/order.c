/* SPDX-License-Identifier: MIT */
#include "preload/order.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/heap.h"
#include "base/vector.h"
#include "preload/wire.h"

struct item {
	int64_t time_ns;
	uint64_t arrived; /* of one time, the one that came first */
	struct wire_record *record; /* with its text; NULL: the slot is free */
	int32_t next_free;
};

struct order {
	struct item *items;
	int32_t *heap;
	int32_t n_items, n_heap, free;
	size_t room;
	uint64_t arrived;
};

int order_create(struct order **ret_order)
{
	struct order *order = calloc(1, sizeof(*order));

	if (!order)
		return -ENOMEM;
	order->free = -1;
	*ret_order = order;
	return 0;
}

void order_destroy(struct order *order)
{
	if (!order)
		return;
	for (int32_t i = 0; i < order->n_items; i++)
		free(order->items[i].record);
	free(order->items);
	free(order->heap);
	free(order);
}

static bool is_before(const void *arg, int32_t a, int32_t b)
{
	const struct item *x = (const struct item *)arg + a, *y = (const struct item *)arg + b;

	return x->time_ns != y->time_ns ? x->time_ns < y->time_ns : x->arrived < y->arrived;
}

/* Numbers of programs may be anything. */
static int64_t time_of(const struct wire_record *record)
{
	bool begins = record->kind != WIRE_OP || record->known & WIRE_AT_START;

	return begins ? record->start_ns : (int64_t)((uint64_t)record->start_ns + (uint64_t)record->latency_ns);
}

static int new_item(struct order *order, int32_t *ret_item)
{
	*ret_item = order->free;
	if (*ret_item >= 0) {
		order->free = order->items[*ret_item].next_free;
		return 0;
	}
	if (vector_fit(order->heap, order->room, (size_t)order->n_items + 1) < 0 ||
		vector_push(order->items, order->n_items, (struct item){ .next_free = -1 }) < 0)
		return -ENOMEM;
	*ret_item = order->n_items - 1;
	return 0;
}

static void free_item(struct order *order, int32_t i)
{
	order->items[i] = (struct item){ .next_free = order->free };
	order->free = i;
}

int order_add(struct order *order, const struct wire_record *record, const char *text)
{
	struct wire_record *copy = malloc(sizeof(*copy) + record->text_len + 1);
	int32_t i;

	if (!copy || new_item(order, &i) < 0) {
		free(copy);
		return -ENOMEM;
	}
	*copy = *record;
	memcpy(copy + 1, text, record->text_len);
	((char *)(copy + 1))[record->text_len] = '\0';
	order->items[i] = (struct item){ .time_ns = time_of(record), .arrived = order->arrived++, .record = copy };
	heap_push(order->heap, &order->n_heap, i, is_before, order->items);
	return 0;
}

void order_take(struct order *order, int64_t until_ns, void (*put)(void *arg, const struct wire_record *record, char *text), void *arg)
{
	while (order->n_heap && order->items[order->heap[0]].time_ns <= until_ns) {
		int32_t i = heap_pop(order->heap, &order->n_heap, is_before, order->items);
		struct wire_record *record = order->items[i].record;

		put(arg, record, (char *)(record + 1));
		free(record);
		free_item(order, i);
	}
}
