/* SPDX-License-Identifier: MIT */
#ifndef BASE_CLOCK_H
#define BASE_CLOCK_H

/*
 * The one clock.  Everything that is measured during a run is CLOCK_MONOTONIC in nanoseconds: it
 * is what the kernel stamps process events with, and no step of the wall clock can disturb it.
 * The wall clock is read once a run (clock_epoch_offset_ns) and added when a time is shown.
 */

#include <stdint.h>
#include <time.h>

static inline int64_t clock_read_ns(clockid_t id)
{
	struct timespec ts;

	clock_gettime(id, &ts);
	return (int64_t)ts.tv_sec * 1000000000 + ts.tv_nsec;
}

static inline int64_t clock_now_ns(void)
{
	return clock_read_ns(CLOCK_MONOTONIC);
}

/* What to add to a monotonic time to get nanoseconds since the epoch, as of now. */
static inline int64_t clock_epoch_offset_ns(void)
{
	return clock_read_ns(CLOCK_REALTIME) - clock_now_ns();
}

/* What to subtract from a time since boot (starttime of /proc/PID/stat), which counts suspended
 * time too, to get a monotonic time. */
static inline int64_t clock_suspended_ns(void)
{
	return clock_read_ns(CLOCK_BOOTTIME) - clock_now_ns();
}

#endif
