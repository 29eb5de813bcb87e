/* SPDX-License-Identifier: MIT */
#include "db/op_times.h"

#include <errno.h>
#include <stdlib.h>

#include "db/store.h"

#define SLOTS 256

struct op_times {
	struct store *store;
	struct op_time {
		int64_t process, ops, ns; /* ops 0: free */
	} slots[SLOTS]; /* a process has one slot, shared with others */
};

int op_times_create(struct store *store, struct op_times **ret_times)
{
	struct op_times *times = calloc(1, sizeof(*times));

	if (!times)
		return -ENOMEM;
	times->store = store;
	*ret_times = times;
	return 0;
}

void op_times_destroy(struct op_times *times)
{
	free(times);
}

static int put(struct op_times *times, struct op_time *t)
{
	int r = 0;

	if (t->ops)
		r = store_put(times->store, PUT_OP_TIME,
			(struct value[]){ V_INT(t->process), V_INT(t->ops), V_INT(t->ns) });
	*t = (struct op_time){ 0 };
	return r;
}

int op_times_add(struct op_times *times, int64_t process, int64_t ns)
{
	struct op_time *t = &times->slots[(uint64_t)process % SLOTS];
	int r = t->process == process ? 0 : put(times, t);

	t->process = process;
	t->ops++;
	t->ns += ns;
	return r;
}

int op_times_flush(struct op_times *times)
{
	int r = 0;

	for (struct op_time *t = times->slots; t < times->slots + SLOTS && r == 0; t++)
		r = put(times, t);
	return r;
}
