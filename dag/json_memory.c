/* SPDX-License-Identifier: MIT */
#include "dag/json_memory.h"

#include <jansson.h>
#include <stdatomic.h>
#include <stdlib.h>

static atomic_bool failed;

static void *allocate(size_t size)
{
	void *memory = malloc(size);

	if (!memory && size)
		atomic_store(&failed, true);
	return memory;
}

void json_memory_watch(void)
{
	json_set_alloc_funcs(allocate, free);
}

bool json_memory_failed(void)
{
	return atomic_load(&failed);
}
