/* SPDX-License-Identifier: MIT */
#ifndef PROCMON_TRACER_H
#define PROCMON_TRACER_H

/*
 * Runs a command and follows it and all that it starts by ptrace(2): fork, exec and exit stops
 * only, no system calls.  Nothing is lost, however short a life is, and it needs no privilege.
 *
 * Each of these is told by a callback while the thread it is about stands still, so that what
 * /proc shows of it is true and complete.  A new thread or process does not run before it was told of;
 * whoever calls ptrace has seen everything that a process did before the callback returns.
 *
 * The command is not disturbed: signals are delivered as they are, stopped processes stay stopped
 * (PTRACE_SEIZE, PTRACE_LISTEN), a tracer that dies lets all go on.  What the kernel takes from
 * traced programs is that a suid or sgid program runs without the privilege if we have none.
 *
 * A program that traces others itself cannot be traced: it is let go as soon as it is executed,
 * with all that it starts (see tracer_is_tracer()).
 *
 * All of it happens in the calling thread, and only that: ptrace is a relation of threads.
 */

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Times: CLOCK_MONOTONIC, of the moment we were told. */
struct tracer_callbacks {
	void (*forked)(void *arg, pid_t pid, pid_t parent, int64_t time_ns);
	void (*threaded)(void *arg, pid_t tid, pid_t pid, int64_t time_ns);
	/* Runs a new program; released: and is not traced any more when this returns. */
	void (*executed)(void *arg, pid_t pid, bool released, int64_t time_ns);
	/* Is about to end, everything is still there.  last: no other thread of the process goes on, as far as
	 * is known.  Not called for every thread that is killed. */
	void (*ending)(void *arg, pid_t tid, pid_t pid, bool last);
	/* Is a zombie: it has no memory and no files, but what it used is there, and final; of the process if
	 * tid is pid.  stood: ending was called.  Before ended; not called for a first thread in whose place
	 * another one has put itself by an exec. */
	void (*left)(void *arg, pid_t tid, pid_t pid, bool stood);
	/* Has ended; the process if tid is pid.  status: as wait(2) has it. */
	void (*ended)(void *arg, pid_t tid, pid_t pid, int status, int64_t time_ns);
	/* Goes on, and will not be traced any more when this returns (tracer_options.stop). */
	void (*released)(void *arg, pid_t pid);
};

struct spawn;

struct tracer_options {
	struct spawn *spawn; /* the command, which waits */
	const struct tracer_callbacks *callbacks;
	void *arg;
	/* Called when the command has ended; what it left behind is still traced.  May be NULL. */
	void (*command_ended)(void *arg, int status);
	bool exit_kill; /* if we are killed, so is everything that is traced */
	/* Set, and TRACER_SIGNAL sent to the thread until it returns: let go of everything. */
	const _Atomic bool *stop;
};

#define TRACER_SIGNAL SIGUSR2

/*
 * Returns when everything has ended or was let go: 0 and the command's wait status, or -errno if it
 * could not be started: *ret_status is then as spawn.h has it, if it is the exec that failed.
 */
int tracer_run(const struct tracer_options *options, int *ret_status);

/* Whether processes can be traced here: 0, or -EPERM where that is forbidden (a container's seccomp
 * filter, Yama).  Tries it.  *ret_zombies: whether /proc shows us the I/O of zombies. */
int tracer_check(bool *ret_zombies);

/* Whether a program of that name traces others: strace, ltrace, gdb, rr, ... */
bool tracer_is_tracer(const char *exe);

#endif
