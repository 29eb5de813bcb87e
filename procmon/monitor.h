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
 * A request handler calls monitor_discover() for the thread that asks and monitor_check() where an
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

/* How processes are heard of; exit records are added to all but the last where they can be had, and
 * the connector to ptrace, for what that has to let go. */
enum monitor_processes { MONITOR_AUTO, MONITOR_CONNECTOR, MONITOR_PTRACE, MONITOR_INBAND };

/* From "auto", "connector", "ptrace" or "inband".  0 or -EINVAL. */
int monitor_parse_processes(const char *text, enum monitor_processes *ret_processes);

struct monitor_options {
	struct ring *ring;
	/* Environment variables to store: shell patterns for names, ended by NULL; may be NULL */
	const char *const *env;
	enum monitor_processes processes;
	/* A command will be run by monitor_run(): AUTO is then PTRACE, if that can be had. */
	bool command;
	bool inband_will_do; /* where neither ptrace nor the connector can be had */
	/* Where /proc is, for tests; NULL: /proc. */
	const char *proc;
};

/*
 * Starts the monitor with its threads.  0 or -errno; *ret_monitor is to be given to monitor_stop().
 * Fails for a missing source only where that was asked for by name, or is what a command needs
 * (monitor_explain()); else see monitor_tier().
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

/*
 * A command of ours, in two steps.  The first forks it and lets it wait: it has everything of us as it
 * is then, so this comes before limits, rights and signals are changed, and needs no monitor.  It calls
 * first(arg) at once, which may be NULL: what that returns if not 0 is its exit status.
 */
struct spawn;
int monitor_spawn(char *const *argv, int (*first)(void *arg), void *arg,
	struct spawn **ret_spawn); /* 0 or -errno */
pid_t monitor_spawned(const struct spawn *spawn);
/* Ends it if it was not run, and frees.  NULL is fine. */
void monitor_discard(struct spawn *spawn);

struct monitor_run {
	/* How long to wait for what goes on after the command, in ms; -1: as long as it takes. */
	int wait_ms;
	/* End what goes on then: SIGTERM, and two seconds later SIGKILL.  What is traced ends also if we
	 * are killed. */
	bool end_rest;
};

/*
 * The second: lets it go and waits for it.  0 and its status, as wait(2) has it; or the -errno why it
 * could not be executed, with the status that shells have for that.  To be called from the thread that
 * spawned it, once, without other children.  Meanwhile SIGUSR2 is ours, and what we are sent by SIGHUP,
 * SIGINT, SIGQUIT, SIGTERM or SIGUSR1 is the command's.
 */
int monitor_run(struct monitor *monitor, struct spawn *spawn, const struct monitor_run *run,
	int *ret_status);

/* A program that lost the privilege of its setuid or setgid bit because it was traced: the first one;
 * NULL if there was none.  After monitor_run(). */
const char *monitor_unprivileged(const struct monitor *monitor);

/* "ptrace", "connector" or "inband", with "+taskstats" where there are exit records. */
const char *monitor_tier(const struct monitor *monitor);

/* Why a source cannot be had, as -errno; 0 when it can.  Tries it; needs no monitor. */
enum monitor_source { MONITOR_SOURCE_PTRACE, MONITOR_SOURCE_CONNECTOR, MONITOR_SOURCE_TASKSTATS };
int monitor_source_error(enum monitor_source source);
/* Whether exit records have the delays by block I/O, swapping and reclaim. */
bool monitor_has_delays(void);
/* One line: why it cannot be had, and the command that would give it. */
const char *monitor_explain(enum monitor_source source, int error);

/* Times that messages of the kernel did not fit its socket buffer.  How many were lost it does
 * not say; what they told is then looked for in /proc: children, programs, ends. */
uint64_t monitor_lost(const struct monitor *monitor);

/* Nanoseconds that requests have waited in monitor_discover() and monitor_check(). */
uint64_t monitor_waited_ns(const struct monitor *monitor);

/* Slow path of monitor_discover().  Also for a process of our own that should be in scope before it
 * touches anything: it must not be inside an exec. */
void monitor_discover_slow(struct monitor *monitor, pid_t tid);

/* One byte for each possible thread id: 0 when monitor_discover() has something to do. */
const _Atomic uint8_t *monitor_known(const struct monitor *monitor);

/*
 * Makes the thread known to the writer, with its process, image and ancestors.  The thread must
 * be waiting for us.  Costs one load for a thread that is known.
 */
static inline void monitor_discover(struct monitor *monitor, const _Atomic uint8_t *known, pid_t tid)
{
	if (tid > 0 && !atomic_load_explicit(&known[tid], memory_order_relaxed))
		monitor_discover_slow(monitor, tid);
}

/* As meet, and makes sure that the image the writer knows is the one that runs.  Some ten
 * microseconds in band, below one with the connector. */
void monitor_check(struct monitor *monitor, pid_t tid);

/* The process of a thread that waits for us, or -errno.  Needs no monitor. */
pid_t monitor_process_of(pid_t tid);

/*
 * Bytes that the read or write of a thread asks for which waits for us inside of that call: all of it, of which our
 * request may be a piece.  -EAGAIN: it is inside of another call (io_uring, sendfile, a page fault); or -errno, where we
 * may not look.  Needs no monitor; takes some 5 microseconds, and a lock of the memory of the thread if the call has a
 * vector of buffers: without vectors (-EAGAIN) if others must not wait for that.
 */
int64_t monitor_call_bytes(pid_t tid, bool is_write, bool vectors);

/* The root directory of a thread that waits for us: an O_PATH descriptor, or -errno.  Needs no monitor. */
int monitor_root_of(pid_t tid);

/* Ids of a user namespace: ranges of ours that it has. */
#define MONITOR_RANGES 8
struct monitor_ids {
	unsigned n;
	struct {
		uint32_t first, count;
	} ranges[MONITOR_RANGES]; /* further ones are left out */
};

static inline bool monitor_has_id(const struct monitor_ids *ids, uint32_t id)
{
	for (unsigned i = 0; i < ids->n; i++)
		if (id - ids->ranges[i].first < ids->ranges[i].count)
			return true;
	return false;
}

/* What the kernel judges the access of a thread to files by. */
struct monitor_credentials {
	uid_t fsuid;
	gid_t fsgid;
	/* A bit for each capability in effect.  It counts for all files if the thread is in the daemon's user
	 * namespace; else for files whose owner and group are among uids and gids. */
	uint64_t effective;
	bool shares_users;
	struct monitor_ids uids, gids; /* filled only without shares_users, and with capabilities */
	size_t n_groups; /* supplementary; may be more than there was room for */
};

/*
 * Reads that of a thread from /proc, and stores at most room of its groups.  Does not wait for an exec or a
 * page fault of the thread.  Without CAP_SYS_PTRACE a thread whose namespace has all ids that ours has counts
 * as sharing it.  0 or -errno (-ESRCH: no such thread).  Needs no monitor.
 */
int monitor_read_credentials(pid_t tid, gid_t *ret_groups, size_t room,
	struct monitor_credentials *ret_credentials);

/* Whether we are traced ourselves.  Needs no monitor. */
bool monitor_is_traced(void);

/* Everything the kernel has reported before this call is in the ring when it returns. */
void monitor_sync(struct monitor *monitor);

#endif
