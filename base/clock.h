/* SPDX-License-Identifier: MIT */
#ifndef BASE_CLOCK_H
#define BASE_CLOCK_H

/*
 * The one clock.  All times of a run are CLOCK_MONOTONIC in nanoseconds: the kernel stamps process events with it, and
 * steps of the wall clock do not change it.  A run reads the wall clock once (clock_epoch_offset_ns); programs that show
 * a time add that offset.
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

/* Add it to a monotonic time to get nanoseconds since the epoch; as of now. */
static inline int64_t clock_epoch_offset_ns(void)
{
	return clock_read_ns(CLOCK_REALTIME) - clock_now_ns();
}

/* Subtract it from a time since boot (starttime of /proc/PID/stat), which includes suspended time, to get a monotonic
 * time. */
static inline int64_t clock_suspended_ns(void)
{
	return clock_read_ns(CLOCK_BOOTTIME) - clock_now_ns();
}

/* Add it to a monotonic time of the kernel itself, to get one of the time namespace of this process (time_namespaces(7)). */
int64_t clock_namespace_offset_ns(void);

#endif
