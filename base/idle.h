/* SPDX-License-Identifier: MIT */
#ifndef BASE_IDLE_H
#define BASE_IDLE_H

/*
 * Whether a processor of this machine is free: what has time to wait then disturbs nothing.  SCHED_IDLE alone is not enough:
 * while such a thread has a processor, that processor does not look for work that waits for others.
 */

#include <stdbool.h>
#include <stdint.h>

#define IDLE_WINDOW_MS 100 /* the shortest time that is looked at: the kernel shows idle time in steps of 10 ms */

struct idle {
	int64_t since_ns;
	int64_t spare_ns; /* as spare time is counted, then */
	bool counts_us;
	bool is_free;
};

/* counts_us: this process runs only on processors that are idle (SCHED_IDLE). */
void idle_init(struct idle *idle, bool counts_us);

/*
 * Whether at least half of a processor was spare lately.  Within IDLE_WINDOW_MS of the last answer that is the same; at first
 * it is no.  Where the kernel does not tell: yes.
 */
bool idle_is_free(struct idle *idle);

#endif
