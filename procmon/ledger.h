/* SPDX-License-Identifier: MIT */
#ifndef PROCMON_LEDGER_H
#define PROCMON_LEDGER_H

/*
 * The own resource usage of each process that ptrace follows, summed while its threads start and
 * end.
 *
 * For I/O the kernel has no such number. When a process waits for a child, the kernel adds the I/O
 * of the child, with the child's own children, to /proc/PID/io of the process. It does not if
 * SIGCHLD is ignored or if another process reaps the child. So this module reads each thread at its
 * end and adds the threads up. Only if a process has never forked does /proc/PID/io hold its own
 * I/O alone; then the module uses that file, which also includes threads that ptrace does not show:
 * the workers of io_uring. Processes that have forked lack the storage I/O of these workers (not
 * READ_CHAR, WRITE_CHAR).
 *
 * Not thread-safe: only the thread that traces calls it. A figure is unknown if it could not be
 * read or there was no memory to keep it.
 */

#include <stdbool.h>
#include <sys/types.h>

struct account;
struct figures;

struct ledger {
	int proc; /* of /proc */
	/*
	 * Set if the I/O of zombies cannot be read. Then the module keeps an open descriptor for
	 * each thread of a process with several threads, at most 64 in all. Without a descriptor
	 * the I/O of a thread that is killed, and does not stop at its exit, is unknown.
	 */
	bool keep_open;
	struct account *accounts;
	int n_open;
};

/* Adds a process with its first thread. parent: the process that forked; 0 if unknown. */
void ledger_begin(struct ledger *ledger, pid_t pid, pid_t parent);
void ledger_thread(struct ledger *ledger, pid_t pid, pid_t tid);

/*
 * Reads a thread that is stopped before its exit, or is a zombie (has_memory is false). Called once
 * per thread. last: no other thread of the process is running. *ret_thread gets NVCSW, NIVCSW and
 * CPU_DELAY; it may be NULL.
 */
void ledger_read(struct ledger *ledger, pid_t pid, pid_t tid, bool has_memory, bool last,
	struct figures *ret_thread);

/*
 * The usage of the process so far. It is stopped at the begin of a program and has one thread.
 * False if the ledger does not know it. *ret_missed: a thread ended and could not be read.
 */
bool ledger_exec(struct ledger *ledger, pid_t pid, bool *ret_missed, struct figures *ret_figures);

/* The process and all of its threads are zombies. Returns its final usage and removes it. False as
 * above. */
bool ledger_end(struct ledger *ledger, pid_t pid, bool *ret_missed, struct figures *ret_figures);

/* Removes a process that another source follows from now on. */
void ledger_forget(struct ledger *ledger, pid_t pid);

void ledger_finish(struct ledger *ledger);

#endif
