/* SPDX-License-Identifier: MIT */
#ifndef PROCMON_TASKSTATS_H
#define PROCMON_TASKSTATS_H

/*
 * The kernel's taskstats: a record of what a task has used, sent over generic netlink when it
 * ends.  A task is a thread; there is one record for each, and one more for the group when the
 * last thread of a process ends that had others.
 *
 * taskstats_parse() is pure; the rest is the socket.  A listener is used by one thread at a time,
 * but anybody may poll its descriptor.
 *
 * Who may listen: CAP_NET_ADMIN in the initial user namespace, from within the initial user, pid
 * and network namespaces.
 *
 *
 * What the figures are (kernel/taskstats.c, tsacct.c, delayacct.c of Linux 2.6.19 to 7.1;
 * measured on 6.18 at 250 Hz)
 *
 * The record is made in the middle of the exit: what comes behind, the freeing of the memory
 * above all, is in wait4(2) but not here.
 *
 * CPU          what the scheduler counted, in ns, but only up to when it last looked: it lacks up
 *              to one tick (seen: 0 to 4.4 ms, of a child that does not sleep).  A short task may
 *              not have been looked at at all (every fifth fork of 1 ms without exec, nearly
 *              every one of 0.1 ms): then it is not known.  The kernel's cpu_run_virtual_total;
 *              cpu_run_real_total, the other one there is, counts ticks (seen: 12 ms off in 20).
 * UTIME STIME  the kernel has whole ticks, and divides the CPU time in that proportion for
 *              wait4(2) and /proc; so do we, hence UTIME + STIME = CPU.  No tick at all: it is
 *              user time.  Where CPU is not known: the ticks, unless there were none.
 * VMPEAK       from KiB, which is no loss: these are pages.  Of the memory that the task ends
 * RSSPEAK      with, thus of the last program since exec, while ru_maxrss is the most of all of
 *              them; of the parent's after a vfork without exec.  The same in each thread, but
 *              for what happened between their ends: maximum, not sum.
 * READ_BYTES   to and from storage; rounded down to KiB: exact for what goes by pages, up to 1023
 * WRITE_BYTES  a thread less where it does not (direct I/O in odd sectors, NFS).
 * NVCSW NIVCSW MINFLT MAJFLT  counts.
 * CPU_DELAY    ready but not running, in ns.
 * BLKIO_DELAY SWAPIN_DELAY RECLAIM_DELAY  in ns; only of tasks that were forked while
 *              kernel.task_delayacct was 1 (before 5.14: unless booted with nodelayacct).  Not
 *              known if that is 0 when we begin; if it changes, those of tasks forked before are
 *              0 or too small, and nothing in the record says so.
 * READ_CHAR WRITE_CHAR  never: the kernel rounds them down to KiB.
 *
 * The record of the group is the sum of its threads, those that ended at an exec included, each
 * added a moment before its own record was made: never more than the sum of these, but for
 * threads too short to know theirs, and mostly equal.  It has CPU, CPU_DELAY and the other
 * delays; UTIME, STIME, NVCSW and NIVCSW with kernels that have "taskstats: retain dead thread
 * stats" (7.1, some 6.18.x), which are told by the version in the record of the group: it is 0
 * without.  Nothing else in it is real.
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
 * All grew at the end but 15, which has a layout of its own (so had 14 in release candidates of
 * 6.14: it is told by its length).  Newer ones than we know are taken to grow at the end.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "db/figures.h"

struct taskstats_record {
	bool group;  /* of the process, not of a thread: has tgid, version and figures only */
	bool last;   /* of the last thread of its process; false also where not known, before 12 */
	int version; /* of the struct; that of the thread's record where the group's has none */
	pid_t tid;   /* 0 in the group's.  After an exec by another thread than the first the
			process' id has two records: of the thread that gave it up, and at the end of
			the one that took it over, whose former id has none */
	pid_t tgid;  /* 0 not known, before 12 */
	pid_t ppid;  /* process that would wait for it now; 0 not known or none */
	int status;  /* as wait(2) has it, of first threads; -1 not known.  Not that of the process
			if that thread ended before the others.  Before 12 nobody knows which are
			first: others say 0 */
	uid_t uid;   /* real; -1 not known */
	gid_t gid;
	int flags;          /* A* of acct(5); AFORK, of first threads: did not exec */
	int64_t begin_s;    /* CLOCK_REALTIME, calculated back from the end; -1 not known */
	int64_t elapsed_ns; /* in us; -1 not known */
	char comm[33];      /* bytes; "" not known */
	struct figures figures;
};

/* What is to be parsed, and what must be known of the kernel that sent it. */
struct taskstats_input {
	uint16_t family;      /* number of TASKSTATS in generic netlink */
	bool delays;          /* kernel.task_delayacct is on */
	bool storage;         /* the kernel counts READ_BYTES and WRITE_BYTES */
	const void *messages; /* 4-aligned */
	int messages_left;
	/* Of the message at hand; zeros at first */
	const void *attributes;
	int attributes_left;
	int thread_version;
};

/*
 * Takes the next record and moves on behind it; messages and attributes of no interest are passed
 * over.  1, 0 when there is no more, -EBADMSG for something that should be a record and cannot be
 * understood: it is passed over, ask again.  A record that is cut short has what it holds.
 */
int taskstats_parse(struct taskstats_input *input, struct taskstats_record *ret_record);

/* Whether the kernel counts BLKIO_DELAY, SWAPIN_DELAY and RECLAIM_DELAY now. */
bool taskstats_counts_delays(void);

/* Not struct taskstats: that is the kernel's. */
struct taskstats_listener;

/*
 * Starts to listen on all CPUs, also those that are not there yet.  What ends before this returns
 * may or may not be heard of; a thread of ours that ends to try it out is.
 *
 * -EPERM: no CAP_NET_ADMIN in the initial user namespace; -EINVAL: not in the initial user or pid
 * namespace; -ENONET: not in the initial network namespace, where the kernel sends them to;
 * -ENOENT: it has no taskstats (older ones also say so outside of that namespace).
 */
int taskstats_create(struct taskstats_listener **ret_listener);
void taskstats_destroy(struct taskstats_listener *listener);

/* For poll(2). */
int taskstats_fd(const struct taskstats_listener *listener);

/*
 * Takes one record.  1, 0 when there is none now, -ENOBUFS when the kernel had to drop some here,
 * -EBADMSG when one was not understood (ask again: there may be more), else -errno.  Never waits.
 *
 * Once it had to drop one, the kernel drops all until everything it still holds for us was read.
 */
int taskstats_read(struct taskstats_listener *listener, struct taskstats_record *ret_record);

#endif
