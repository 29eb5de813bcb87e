/* SPDX-License-Identifier: MIT */
#ifndef PROCMON_TRACER_H
#define PROCMON_TRACER_H

/*
 * Runs a command and follows it and all processes that it starts by ptrace(2). The tracer uses
 * fork, exec and exit stops only, no stops at system calls. It misses no process, however
 * short-lived, and needs no privilege.
 *
 * A callback reports each event while the thread concerned is stopped, so that /proc shows it
 * complete and unchanged. A new thread or process does not run before it was reported. Before a
 * callback returns, every earlier event of that process was reported.
 *
 * The command runs undisturbed: signals are delivered unchanged, stopped processes stay stopped
 * (PTRACE_SEIZE, PTRACE_LISTEN), and if the tracer dies, all processes go on. One thing differs:
 * the kernel runs a traced suid or sgid program without its privilege if the tracer has none.
 *
 * A program that traces others itself cannot be traced. The tracer detaches from it as soon as it
 * is executed, with all processes that it starts (see tracer_is_tracer()).
 *
 * Everything happens in the calling thread, because ptrace is a relation between threads.
 */

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Times: CLOCK_MONOTONIC, when the tracer received the event. */
struct tracer_callbacks {
	void (*forked)(void *arg, pid_t pid, pid_t parent, int64_t time_ns);
	void (*threaded)(void *arg, pid_t tid, pid_t pid, int64_t time_ns);
	/* The process runs a new program. released: the tracer detaches when this returns. */
	void (*executed)(void *arg, pid_t pid, bool released, int64_t time_ns);
	/*
	 * The thread is about to end; memory and files are still there. last: no other thread of
	 * the process is running, as far as is known. A thread that is killed may skip this
	 * callback.
	 */
	void (*ending)(void *arg, pid_t tid, pid_t pid, bool last);
	/*
	 * The thread is a zombie: memory and files are gone, its resource usage is final; of the
	 * process if tid is pid. stood: ending was called. Called before ended; not called for a
	 * first thread that an exec of another thread has replaced.
	 */
	void (*left)(void *arg, pid_t tid, pid_t pid, bool stood);
	/* The thread has ended; the process if tid is pid. status: as in wait(2). */
	void (*ended)(void *arg, pid_t tid, pid_t pid, int status, int64_t time_ns);
	/* The tracer detaches from the process when this returns (tracer_options.stop). */
	void (*released)(void *arg, pid_t pid);
};

struct spawn;

struct tracer_options {
	struct spawn *spawn; /* the command; its child is waiting */
	const struct tracer_callbacks *callbacks;
	void *arg;
	/* Called when the command has ended; processes that outlive it are still traced. May be
	 * NULL. */
	void (*command_ended)(void *arg, int status);
	bool exit_kill; /* if we are killed, the kernel kills all traced processes */
	/* To detach from everything: set it, and send TRACER_SIGNAL to the thread until
	 * tracer_run() returns. */
	const _Atomic bool *stop;
};

#define TRACER_SIGNAL SIGUSR2

/*
 * Returns when all processes have ended or the tracer has detached from them. 0 and the wait status
 * of the command; or the -errno why the command could not be started. If that is the error of its
 * exec, *ret_status is as spawn.h says.
 */
int tracer_run(const struct tracer_options *options, int *ret_status);

/*
 * Tries whether ptrace works here: 0, or -EPERM where it is forbidden (a container's seccomp
 * filter, Yama). *ret_zombies: whether /proc shows us the I/O of zombies.
 */
int tracer_check(bool *ret_zombies);

/* Whether a program of that name traces other programs: strace, ltrace, gdb, rr, ... */
bool tracer_is_tracer(const char *exe);

#endif
