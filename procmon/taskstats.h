/* SPDX-License-Identifier: MIT */
#ifndef PROCMON_TASKSTATS_H
#define PROCMON_TASKSTATS_H

/*
 * The kernel's taskstats: a record of the resources that a task has used, sent over generic netlink
 * when the task ends. A task is a thread. The kernel sends one record for each thread, and one more
 * for the group when the last thread of a process with several threads ends.
 *
 * taskstats_parse() is pure; the other functions use the socket. One thread at a time may use a
 * listener; any thread may poll its descriptor.
 *
 * Required rights: CAP_NET_ADMIN in the initial user namespace, from within the initial user, pid
 * and network namespaces.
 *
 *
 * What the figures are (kernel/taskstats.c, tsacct.c, delayacct.c of Linux 2.6.19 to 7.1; measured
 * on 6.18 at 250 Hz)
 *
 * The kernel makes the record in the middle of the exit. What the exit uses after that, mainly to
 * free the memory, is in wait4(2) but not here.
 *
 * CPU          as counted by the scheduler, in ns, up to its last update: up to one tick is missing (seen:
 *              0 to 4.4 ms, of a child that does not sleep).  A short task may have no update at all (every
 *              fifth fork of 1 ms without exec, nearly every one of 0.1 ms): then CPU is unknown.  This is
 *              the kernel's cpu_run_virtual_total; the alternative cpu_run_real_total counts ticks (seen:
 *              12 ms off in 20).
 * UTIME STIME  the kernel counts whole ticks, and for wait4(2) and /proc divides the CPU time in that
 *              proportion; so does this module, hence UTIME + STIME = CPU.  Without a tick it is all user
 *              time.  If CPU is unknown: the ticks, unless there were none.
 * VMPEAK       from KiB, which loses nothing: these are pages.  They describe the memory that the task
 * RSSPEAK      ends with: of the last program since exec (ru_maxrss is the maximum of all programs); after a
 *              vfork without exec, of the parent.  All threads have the same value, but for changes between
 *              their ends: take the maximum, not the sum.
 * READ_BYTES   to and from storage; rounded down to KiB: exact for I/O by pages, up to 1023 less per
 * WRITE_BYTES  thread for other I/O (direct I/O in odd sectors, NFS).
 * NVCSW NIVCSW MINFLT MAJFLT  counts.
 * CPU_DELAY    ready but not running, in ns.
 * BLKIO_DELAY SWAPIN_DELAY RECLAIM_DELAY  in ns; only of tasks that were forked while
 *              kernel.task_delayacct was 1 (before 5.14: unless booted with nodelayacct).  Unknown if that
 *              is 0 when we begin.  If it changes, the figures of tasks forked before are 0 or too small,
 *              and nothing in the record shows it.
 * READ_CHAR WRITE_CHAR  never: the kernel rounds them down to KiB.
 *
 * The record of the group is the sum of its threads, including those that ended at an exec. The
 * kernel adds each thread a moment before it makes that thread's own record. So the group never has
 * more than the sum of the records, but for threads that are too short to have CPU, and mostly the
 * same. It has CPU, CPU_DELAY and the other delays. UTIME, STIME, NVCSW and NIVCSW are there with
 * kernels that have "taskstats: retain dead thread stats" (7.1, some 6.18.x); they are recognised
 * by the version in the record of the group, which is 0 without that change. No other field of it
 * is valid.
 *
 *
 * Versions (include/uapi/linux/taskstats.h; the releases are the first, as far as is known)
 *
 *  8  2.6.27  328 bytes  the oldest that is understood
 *  9  4.20    344        delays by thrashing
 * 10  5.5     352        begin in 64 bits
 * 11  5.17    368        delays by compaction
 * 12  5.19    400        tgid, "last of its group", program
 * 13  6.0     416        delays by write-protect copies
 * 14  6.4     432        delays by interrupts
 * 15  6.14    560        maximum and minimum put behind each delay, in the middle of the struct
 * 16  6.14.9  560        ... and moved to the end: 14 and 128 bytes more
 * 17  7.0     688        times of the maxima, at the end
 *
 * All versions grew at the end but 15, which has a layout of its own. So had 14 in release
 * candidates of 6.14; its length tells. This module assumes that newer versions grow at the end.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "db/figures.h"

struct taskstats_record {
	bool group;  /* of the process, not of a thread: only tgid, version and figures are set */
	bool last;   /* of the last thread of its process; also false if unknown, before 12 */
	int version; /* of the struct; if the group's record has none, that of the thread's record */
	/*
	 * 0 in a group's record. After an exec by another thread than the first, the id of the
	 * process has two records: one of the first thread, which the exec ended, and at the end
	 * one of the thread that took its place. The former id of that thread has none
	 */
	pid_t tid;
	pid_t tgid;  /* 0: unknown, before 12 */
	pid_t ppid;  /* the parent; 0: unknown or none */
	/*
	 * as in wait(2), of first threads; -1: unknown. It is not the status of the process if that
	 * thread ended before the others. Before 12 first threads cannot be told from others, which
	 * have 0
	 */
	int status;
	uid_t uid;   /* real; -1: unknown */
	gid_t gid;
	int flags;          /* A* of acct(5); AFORK, of first threads: did not exec */
	int64_t begin_s;    /* CLOCK_REALTIME, calculated back from the end; -1: unknown */
	int64_t elapsed_ns; /* resolution: us; -1: unknown */
	char comm[33];      /* bytes; "": unknown */
	struct figures figures;
};

/* The input of the parser, and the facts that it needs of the kernel that sent it. */
struct taskstats_input {
	uint16_t family;      /* id of TASKSTATS in generic netlink */
	bool delays;          /* kernel.task_delayacct is on */
	bool storage;         /* the kernel counts READ_BYTES and WRITE_BYTES */
	const void *messages; /* 4-aligned */
	int messages_left;
	/* State within the current message; initially zeros */
	const void *attributes;
	int attributes_left;
	int thread_version;
};

/*
 * Parses the next record and advances behind it; skips messages and attributes of other kinds.
 * Returns 1; 0 at the end; -EBADMSG for a malformed record, which it has skipped: the caller goes
 * on. A truncated record has the fields that it holds.
 */
int taskstats_parse(struct taskstats_input *input, struct taskstats_record *ret_record);

/* Whether the kernel counts BLKIO_DELAY, SWAPIN_DELAY and RECLAIM_DELAY now. */
bool taskstats_counts_delays(void);

/* Not struct taskstats: that is the kernel's. */
struct taskstats_listener;

/*
 * Listens on all CPUs, also on those that come online later. A thread that ends before this returns
 * may or may not be reported. To test the socket, this function ends a thread of its own, which is
 * reported.
 */
int taskstats_create(struct taskstats_listener **ret_listener);
void taskstats_destroy(struct taskstats_listener *listener);

/* For poll(2). */
int taskstats_fd(const struct taskstats_listener *listener);

/*
 * Reads one record. Returns 1; 0 if there is none now; -ENOBUFS if the kernel dropped records at
 * this point; -EBADMSG if a record was malformed (after both the caller reads on); or another
 * -errno. Never blocks.
 *
 * After it has dropped a record, the kernel drops all further ones until the socket's buffer is
 * empty.
 */
int taskstats_read(struct taskstats_listener *listener, struct taskstats_record *ret_record);

#endif
