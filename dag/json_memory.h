/* SPDX-License-Identifier: MIT */
#ifndef DAG_JSON_MEMORY_H
#define DAG_JSON_MEMORY_H

/*
 * Whether Jansson ever found no memory.  A value is put together by hundreds of calls, each of which may find
 * none and then leaves out what it was to add; this is asked once, when all of it is there.
 *
 * Threads: any may ask.
 */

#include <stdbool.h>

/* Before the first value is made, by main(). */
void json_memory_watch(void);
bool json_memory_failed(void);

#endif
