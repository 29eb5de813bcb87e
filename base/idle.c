/* SPDX-License-Identifier: MIT */
#include "base/idle.h"

#include <stdio.h>

#include "base/clock.h"

/* The idle time of all processors; -1: not known. */
static int64_t idle_ns(void)
{
	FILE *file = fopen("/proc/uptime", "re");
	double seconds = -1;

	if (!file)
		return -1;
	if (fscanf(file, "%*f %lf", &seconds) != 1)
		seconds = -1;
	fclose(file);
	return seconds < 0 ? -1 : (int64_t)(seconds * 1e9);
}

static int64_t spare_ns(const struct idle *idle)
{
	int64_t all = idle_ns();

	return all < 0 || !idle->counts_us ? all : all + clock_read_ns(CLOCK_PROCESS_CPUTIME_ID);
}

void idle_init(struct idle *idle, bool counts_us)
{
	*idle = (struct idle){ .counts_us = counts_us };
	idle->since_ns = clock_now_ns();
	idle->spare_ns = spare_ns(idle);
}

bool idle_is_free(struct idle *idle)
{
	int64_t now = clock_now_ns(), spare;

	if (now - idle->since_ns < IDLE_WINDOW_MS * INT64_C(1000000))
		return idle->is_free;
	spare = spare_ns(idle);
	idle->is_free = spare < 0 || spare - idle->spare_ns >= (now - idle->since_ns) / 2;
	idle->since_ns = now;
	idle->spare_ns = spare;
	return idle->is_free;
}
