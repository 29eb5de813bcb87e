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
 * What goes into the ring:
 *   PROCESS  somebody was met, ancestors first; the text of an image that was told without one
 *            (new_image 0); in band, and after a loss, a program nobody heard begin (new_image 1);
 *   FORK, THREAD, EXIT  as the kernel reports them.  An EXIT of status -1: that it ended was
 *            seen, not heard, and may be a second ago - in band each one;
 *   EXEC     at once, without a text, so that nothing has to wait for /proc.  If the text can be
 *            had - the process still lives and still runs that program - it follows as PROCESS,
 *            before the EXIT.  known is 0 where it, or the ids, could not be had.
 * The events of one process come in the order in which they happened.
 *
 * A request handler calls monitor_meet() for the thread that asks and monitor_check() where an
 * exec may have gone unnoticed (opens).  Not for requests that may come from the middle of an
 * exec (FLUSH, RELEASE) or of a page fault (READ and WRITE of the page cache): what /proc says of
 * such a thread has to be waited for until it goes on, which it does only after our answer.  Should
 * somebody else whom we have to look at be in that state, an ancestor say, a request loses a tenth
 * of a second, and nothing hangs.
 *
 * Threads: meet, introduce, check, known and sync from any thread; start, finish and stop from
 * one, when no introduction is left.  Started after the last fork of the program, for it makes threads;
 * they block all signals, and ask to run in front of others (SCHED_RR, where it is allowed).
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
 * Starts the monitor with its threads.  Never fails because a source is missing: see
 * monitor_tier().  0 or -errno; *ret_monitor is to be given to monitor_stop().
 */
int monitor_start(const struct monitor_options *options, struct monitor **ret_monitor);

/*
 * To be called while the ring is still being emptied, when no more requests will come: handles
 * what the kernel has already reported, reads what is still to be read, in band looks who has
 * ended, and ends the threads.  sync and the counters may be asked for still.
 */
void monitor_finish(struct monitor *monitor);

/* Finishes if that was not done, and frees.  A thread that is stuck in /proc is left behind after
 * two seconds, with the memory it uses.  NULL is fine, for both. */
void monitor_stop(struct monitor *monitor);

/* "connector+taskstats", "connector" or "inband". */
const char *monitor_tier(const struct monitor *monitor);
/* Why there is no connector, as -errno; 0 when there is.  -ENOTCONN: it was not wanted;
 * -ETIMEDOUT: no answer, as outside of the initial namespaces; -EPERM. */
int monitor_connector_error(const struct monitor *monitor);

/* Times that messages of the kernel did not fit its socket buffer.  How many were lost it does
 * not say; what they told is then looked for in /proc: children, programs, ends. */
uint64_t monitor_lost(const struct monitor *monitor);

/* Nanoseconds that requests have waited in monitor_meet() and monitor_check(). */
uint64_t monitor_waited_ns(const struct monitor *monitor);

/* Slow path of monitor_meet().  Also for a process of our own that should be in scope before it
 * touches anything: it must not be inside an exec. */
void monitor_introduce(struct monitor *monitor, pid_t tid);

/* One byte for each possible thread id: 0 when monitor_meet() has something to do. */
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

/* As meet, and makes sure that the image the writer knows is the one that runs.  Some ten
 * microseconds in band, below one with the connector. */
void monitor_check(struct monitor *monitor, pid_t tid);

/* The process of a thread that waits for us, or -errno.  Needs no monitor. */
pid_t monitor_process_of(pid_t tid);

/* Whether it is in our user namespace: in another its capabilities say nothing here.  False if that
 * cannot be told.  Needs no monitor. */
bool monitor_shares_users(pid_t tid);

/* Everything the kernel has reported before this call is in the ring when it returns. */
void monitor_sync(struct monitor *monitor);

#endif
