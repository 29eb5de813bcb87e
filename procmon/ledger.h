/* SPDX-License-Identifier: MIT */
#ifndef PROCMON_LEDGER_H
#define PROCMON_LEDGER_H

/*
 * What each process that is followed by ptrace has used itself, put together while its threads come and go.
 *
 * For I/O the kernel has no such number.  It adds what a child had, with its own children, to /proc/PID/io
 * of the process that waits for that child, but not if the child is reaped because SIGCHLD is ignored, or
 * by somebody else.  So each thread is read at its end, and these are added up.  Only of a process that has
 * never forked /proc/PID/io is its own; that is taken then, since it has what threads did that ptrace does not
 * show: the workers of io_uring, whose storage I/O (not READ_CHAR, WRITE_CHAR) is missing of the others.
 *
 * Not thread-safe: of the thread that traces.  What cannot be read, or had no memory to be kept, is not known.
 */

#include <stdbool.h>
#include <sys/types.h>

struct account;
struct figures;

struct ledger {
	int proc; /* of /proc */
	/* The I/O of zombies cannot be read: processes of several threads have a descriptor for each, but no more
	 * than 64 in all.  Without it is not known what a thread did that was killed and did not stand. */
	bool keep_open;
	struct account *accounts;
	int n_open;
};

/* A process, with its first thread; parent: who has forked, 0 not known. */
void ledger_begin(struct ledger *ledger, pid_t pid, pid_t parent);
void ledger_thread(struct ledger *ledger, pid_t pid, pid_t tid);

/*
 * A thread that stands before its end, or is a zombie (has_memory is false); once.  last: no other one goes
 * on.  *ret_thread: NVCSW, NIVCSW and CPU_DELAY, where that is wanted (not NULL).
 */
void ledger_read(struct ledger *ledger, pid_t pid, pid_t tid, bool has_memory, bool last,
	struct figures *ret_thread);

/*
 * What the process has used so far; it stands at the begin of a program, where it has one thread.  False if
 * it is not known here; *ret_missed: a thread has ended and could not be read.
 */
bool ledger_exec(struct ledger *ledger, pid_t pid, bool *ret_missed, struct figures *ret_figures);

/* The process is a zombie, with all of its threads: what it has used.  It is forgotten.  False as above. */
bool ledger_end(struct ledger *ledger, pid_t pid, bool *ret_missed, struct figures *ret_figures);

/* It is followed by others from now on. */
void ledger_forget(struct ledger *ledger, pid_t pid);

void ledger_finish(struct ledger *ledger);

#endif
