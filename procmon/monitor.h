/* SPDX-License-Identifier: MIT */
#ifndef PROCMON_MONITOR_H
#define PROCMON_MONITOR_H

/*
 * Who runs: tells the writer of every process that uses the traced tree, of what these fork from
 * then on, and of their ancestors up to the session leader.  The only header of procmon/ that
 * other folders may include; all reading of /proc for the trace lives behind it.
 *
 * Two sources, combined:
 *   connector  the kernel's process connector: fork, exec and exit with kernel time stamps, for
 *              processes in scope; where the kernel lets us listen;
 *   in band    what /proc shows of a thread while it waits for an answer of the file system.
 *
 * A request handler calls monitor_meet() for the thread that asks (unless the request is one that
 * may come from the middle of an exec: then /proc would block until the exec goes on, which may
 * be never; FLUSH is one) and monitor_check() where an exec may have gone unnoticed (opens).
 *
 * Threads: meet, check, knows and sync from any thread; start and stop from one.
 */

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct monitor;
struct ring;

struct monitor_options {
	struct ring *ring;
	/* Environment variables to store: shell patterns for names, ended by NULL; may be NULL */
	const char *const *env;
	/* Do without the connector (tests, and --processes inband). */
	bool inband_only;
	/* Where /proc is, for tests; NULL: /proc. */
	const char *proc;
};

/*
 * Starts the monitor with its thread.  Never fails because a source is missing: see
 * monitor_tier().  0 or -errno; *ret_monitor is to be given to monitor_stop().
 */
int monitor_start(const struct monitor_options *options, struct monitor **ret_monitor);

/* Handles what the kernel has already reported, ends the thread, frees.  NULL is fine. */
void monitor_stop(struct monitor *monitor);

/* "connector" or "inband". */
const char *monitor_tier(const struct monitor *monitor);
/* Why there is no connector, as -errno; 0 when there is. */
int monitor_connector_error(const struct monitor *monitor);

/* Messages of the kernel that did not fit its socket buffer and were lost (times it said so). */
uint64_t monitor_lost(const struct monitor *monitor);

/* Nanoseconds that requests have waited in monitor_meet() and monitor_check(). */
uint64_t monitor_waited_ns(const struct monitor *monitor);

/* Slow path of monitor_meet(). */
void monitor_introduce(struct monitor *monitor, pid_t tid);

/* One byte for each possible thread id: not 0 when the writer knows whom it belongs to. */
const _Atomic uint8_t *monitor_known(const struct monitor *monitor);

/*
 * Makes the thread known to the writer, with its process, image and ancestors.  The thread must
 * be waiting for us.  Costs one load for a thread that is known.
 */
static inline void monitor_meet(struct monitor *monitor, const _Atomic uint8_t *known, pid_t tid)
{
	if (tid > 0 && !atomic_load_explicit(&known[tid], memory_order_relaxed))
		monitor_introduce(monitor, tid);
}

/* As meet, and makes sure that the image the writer knows is the one that runs.  Some
 * microseconds in band, well below one with the connector. */
void monitor_check(struct monitor *monitor, pid_t tid);

/* Everything the kernel has reported before this call is in the ring when it returns. */
void monitor_sync(struct monitor *monitor);

#endif
