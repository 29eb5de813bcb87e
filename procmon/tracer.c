/* SPDX-License-Identifier: MIT */

/*
 * Stops of a tracee after PTRACE_SEIZE, as wait(2) returns them:
 *
 *   status >> 16         means                               the tracer
 *   EVENT_FORK, _VFORK,  made another thread or process;     reports the new one, continues
 *   _CLONE               its number is in the message
 *   EVENT_EXEC           new program; the other threads      reports it, continues or detaches
 *                        are gone, the number is the
 *                        process'
 *   EVENT_EXIT           is about to end                     reports it, continues
 *   EVENT_STOP, SIGTRAP  new, or interrupted by us, or       continues
 *                        continued after a stop
 *   EVENT_STOP, other    stopped with its process (job       listens: it stays stopped
 *                        control)
 *   0                    a signal is about to arrive         continues, with the signal
 *
 * The first stop of a new tracee and the stop of its creator come in any order. The first of the
 * two reports the tracee. A tracee may even end before the stop of its creator; its entry is kept
 * until then.
 *
 * A thread that is killed while another thread ends the process, or while it is about to end by
 * itself, may skip EVENT_EXIT. But its end cannot be missed: it is a zombie until the tracer waits
 * for it, and the tracer reads it before that (WNOWAIT).
 */

#include "procmon/tracer.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>
#include <uthash.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "procmon/procfs.h"
#include "procmon/spawn.h"

#define OPTIONS                                                                            \
	(PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK | PTRACE_O_TRACECLONE |                  \
		PTRACE_O_TRACEEXEC | PTRACE_O_TRACEEXIT)

struct tracee {
	pid_t tid, pid;
	bool made;    /* the stop of its creator was seen */
	bool ending;  /* it stopped at EVENT_EXIT */
	bool is_gone; /* ended before the stop of its creator */
	UT_hash_handle hh;
};

struct tracer {
	const struct tracer_options *options;
	const struct tracer_callbacks *callbacks;
	struct tracee *tracees;
	int proc;
	pid_t command;
	int command_status;
	bool releasing;
};

bool tracer_is_tracer(const char *exe)
{
	static const char *const names[] = { "strace", "ltrace", "gdb", "gdbserver", "rr", "lldb",
		"lldb-server", "uftrace", "reprozip", "proot", "dlv",
		"eu-stack", "py-spy", NULL };
	const char *slash = strrchr(exe, '/'), *name = slash ? slash + 1 : exe;

	for (int i = 0; names[i]; i++)
		if (strcmp(name, names[i]) == 0)
			return true;
	return false;
}

/* ---- the table of tracees ---- */

static struct tracee *find(const struct tracer *tracer, pid_t tid)
{
	struct tracee *t;

	HASH_FIND_INT(tracer->tracees, &tid, t);
	return t;
}

static struct tracee *add(struct tracer *tracer, pid_t tid)
{
	struct tracee *t = calloc(1, sizeof(*t));

	if (!t)
		return NULL;
	t->tid = t->pid = tid;
	HASH_ADD_INT(tracer->tracees, tid, t);
	if (!t->hh.tbl) {
		free(t);
		return NULL;
	}
	return t;
}

static void remove_tracee(struct tracer *tracer, struct tracee *t)
{
	HASH_DEL(tracer->tracees, t);
	free(t);
}

/* Removes the other threads of a process that execs or from which the tracer detaches. */
static void remove_others(struct tracer *tracer, pid_t pid)
{
	struct tracee *t, *next;

	HASH_ITER(hh, tracer->tracees, t, next) {
		if (t->pid != pid || t->tid == pid)
			continue;
		if (!t->is_gone)
			tracer->callbacks->ended(tracer->options->arg, t->tid, pid, 0, clock_now_ns());
		remove_tracee(tracer, t);
	}
}

static bool is_last(const struct tracer *tracer, const struct tracee *tracee)
{
	for (const struct tracee *t = tracer->tracees; t; t = t->hh.next)
		if (t->pid == tracee->pid && t != tracee && !t->ending && !t->is_gone)
			return false;
	return true;
}

static void report_end(struct tracer *tracer, struct tracee *t, int status, int64_t time_ns)
{
	pid_t tid = t->tid;

	t->is_gone = true;
	tracer->callbacks->ended(tracer->options->arg, tid, t->pid, status, time_ns);
	if (t->made)
		remove_tracee(tracer, t);
}

static void note_command(struct tracer *tracer, int status)
{
	tracer->command_status = status;
	if (tracer->options->command_ended)
		tracer->options->command_ended(tracer->options->arg, status);
}

static void report_begin(struct tracer *tracer, struct tracee *t, pid_t maker)
{
	struct procfs_status status = { .tgid = t->tid, .ppid = maker };

	procfs_read_status(tracer->proc, t->tid, &status);
	t->pid = status.tgid;
	if (t->pid == t->tid)
		tracer->callbacks->forked(tracer->options->arg, t->tid, maker ? maker : status.ppid,
			clock_now_ns());
	else
		tracer->callbacks->threaded(tracer->options->arg, t->tid, t->pid, clock_now_ns());
}

/* Adds and reports a tracee if it is new. maker: the process that created it; 0 if its stop was not
 * seen yet. */
static struct tracee *note_tracee(struct tracer *tracer, pid_t tid, pid_t maker)
{
	struct tracee *t = find(tracer, tid);

	if (t && t->is_gone) {
		remove_tracee(tracer, t);
		if (maker) /* it was this one, which has ended */
			return NULL;
		t = NULL; /* another one with the same number: the creator of the first was killed */
	}
	if (t) {
		t->made |= maker != 0;
		return t;
	}
	t = add(tracer, tid);
	if (!t)
		return NULL;
	t->made = maker != 0;
	report_begin(tracer, t, maker);
	return t;
}

/* ---- stops ---- */

static void resume(pid_t tid, int signal)
{
	ptrace(PTRACE_CONT, tid, NULL, (void *)(intptr_t)signal); /* fails if it was killed */
}

static pid_t message_of(pid_t tid)
{
	unsigned long message = 0;

	ptrace(PTRACE_GETEVENTMSG, tid, NULL, &message);
	return message;
}

/* Detaches from the whole process, of which this is the only thread. */
static void detach(struct tracer *tracer, struct tracee *t, int signal)
{
	ptrace(PTRACE_DETACH, t->tid, NULL, (void *)(intptr_t)signal);
	remove_tracee(tracer, t);
}

static bool runs_tracer(const struct tracer *tracer, pid_t pid)
{
	char path[32], exe[4096];
	ssize_t n;

	snprintf(path, sizeof(path), "%d/exe", pid);
	n = readlinkat(tracer->proc, path, exe, sizeof(exe) - 1);
	exe[n < 0 ? 0 : n] = '\0';
	return tracer_is_tracer(exe);
}

static void on_ending(struct tracer *tracer, struct tracee *t)
{
	t->ending = true;
	tracer->callbacks->ending(tracer->options->arg, t->tid, t->pid, is_last(tracer, t));
	resume(t->tid, 0);
}

static void on_made(struct tracer *tracer, struct tracee *t)
{
	pid_t made = message_of(t->tid);

	if (made > 0)
		note_tracee(tracer, made, t->pid);
	resume(t->tid, 0);
}

static bool is_only(const struct tracer *tracer, const struct tracee *tracee)
{
	for (const struct tracee *t = tracer->tracees; t; t = t->hh.next)
		if (t->pid == tracee->pid && t != tracee && !t->is_gone)
			return false;
	return true;
}

/* Reported while it is stopped; other sources see what it does afterwards. */
static void on_released(struct tracer *tracer, struct tracee *t, int signal)
{
	if (is_only(tracer, t) && tracer->callbacks->released)
		tracer->callbacks->released(tracer->options->arg, t->pid);
	detach(tracer, t, signal);
}

/* The thread that called exec has the number of the process now, and replaces the first thread. */
static void on_exec(struct tracer *tracer, struct tracee *t)
{
	/* While detaching from all, this stop came instead of the requested one. */
	bool released = tracer->releasing || runs_tracer(tracer, t->tid);

	remove_others(tracer, t->tid);
	t->ending = false;
	tracer->callbacks->executed(tracer->options->arg, t->tid, released, clock_now_ns());
	if (released)
		detach(tracer, t, 0);
	else
		resume(t->tid, 0);
}

static void on_stop(struct tracer *tracer, struct tracee *t, int event, int signal)
{
	if (tracer->releasing && event != PTRACE_EVENT_EXIT && event != PTRACE_EVENT_EXEC) {
		if (event == PTRACE_EVENT_FORK || event == PTRACE_EVENT_VFORK ||
			event == PTRACE_EVENT_CLONE)
			note_tracee(tracer, message_of(t->tid), t->pid);
		on_released(tracer, t, event ? 0 : signal);
		return;
	}
	switch (event) {
	case PTRACE_EVENT_FORK:
	case PTRACE_EVENT_VFORK:
	case PTRACE_EVENT_CLONE: on_made(tracer, t); break;
	case PTRACE_EVENT_EXEC: on_exec(tracer, t); break;
	case PTRACE_EVENT_EXIT: on_ending(tracer, t); break;
	case PTRACE_EVENT_STOP:
		if (signal == SIGTRAP)
			resume(t->tid, 0);
		else
			ptrace(PTRACE_LISTEN, t->tid, NULL, NULL);
		break;
	default: resume(t->tid, signal);
	}
}

static bool is_ours(const struct tracer *tracer, pid_t tid)
{
	struct procfs_status status;

	return find(tracer, tid) ||
		(procfs_read_status(tracer->proc, tid, &status) == 0 && status.tracer == gettid());
}

/*
 * It is a zombie until the tracer waits for it. Its parent is notified only then, so later events
 * of the parent come after this end. A process that the tracer detached from may be our child all
 * the same.
 */
static void on_end(struct tracer *tracer, pid_t tid)
{
	struct tracee *t = is_ours(tracer, tid) ? note_tracee(tracer, tid, 0) : NULL;
	int64_t now_ns = clock_now_ns();
	int status = 0;

	if (t)
		tracer->callbacks->left(tracer->options->arg, tid, t->pid, t->ending);
	waitpid(tid, &status, __WALL | __WNOTHREAD);
	if (t)
		report_end(tracer, t, status, now_ns);
	if (tid == tracer->command)
		note_command(tracer, status);
}

/* ---- the command ---- */

static int begin(struct tracer *tracer, struct spawn *spawn)
{
	uintptr_t options = OPTIONS | (tracer->options->exit_kill ? PTRACE_O_EXITKILL : 0);

	tracer->command = spawn->pid;
	if (ptrace(PTRACE_SEIZE, spawn->pid, NULL, (void *)options) < 0)
		return -errno;
	note_tracee(tracer, spawn->pid, getpid());
	return spawn_go(spawn);
}

static void begin_release(struct tracer *tracer)
{
	tracer->releasing = true;
	for (struct tracee *t = tracer->tracees; t; t = t->hh.next)
		ptrace(PTRACE_INTERRUPT, t->tid, NULL, NULL);
}

static bool has_any(const struct tracer *tracer)
{
	for (const struct tracee *t = tracer->tracees; t; t = t->hh.next)
		if (!t->is_gone)
			return true;
	return false;
}

/*
 * Peeks at the next event (WNOWAIT); take_stop() consumes it, if it is a stop and the thread was
 * not killed in between. False: no tracee is left, or a signal arrived.
 */
static bool peek_next(siginfo_t *ret_info)
{
	*ret_info = (siginfo_t){ 0 };
	return waitid(P_ALL, 0, ret_info, WEXITED | WSTOPPED | WNOWAIT | __WALL | __WNOTHREAD) == 0;
}

static bool take_stop(siginfo_t *info)
{
	pid_t tid = info->si_pid;

	*info = (siginfo_t){ 0 };
	return waitid(P_PID, tid, info, WSTOPPED | WNOHANG | __WALL | __WNOTHREAD) == 0 &&
		info->si_pid == tid;
}

static void on_next(struct tracer *tracer, siginfo_t *info)
{
	struct tracee *t;

	if (info->si_code != CLD_TRAPPED && info->si_code != CLD_STOPPED) {
		on_end(tracer, info->si_pid);
		return;
	}
	if (!take_stop(info))
		return;
	t = note_tracee(tracer, info->si_pid, 0);
	if (t)
		on_stop(tracer, t, info->si_status >> 8, info->si_status & 0xff);
	else
		resume(info->si_pid, 0);
}

static void follow(struct tracer *tracer)
{
	const _Atomic bool *stop = tracer->options->stop;
	siginfo_t info;

	for (;;) {
		if (stop && atomic_load(stop) && !tracer->releasing)
			begin_release(tracer);
		if (tracer->releasing && !has_any(tracer))
			return; /* detached processes may be our children now and are not waited for */
		if (peek_next(&info))
			on_next(tracer, &info);
		else if (errno != EINTR)
			return; /* ECHILD: no tracee is left */
	}
}

int tracer_run(const struct tracer_options *options, int *ret_status)
{
	struct tracer tracer = { .options = options, .callbacks = options->callbacks };
	cleanup_fd int proc = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int r;

	if (proc < 0)
		return -errno;
	tracer.proc = proc;
	r = begin(&tracer, options->spawn);
	if (r == 0) {
		follow(&tracer);
		r = spawn_result(options->spawn);
		*ret_status = tracer.command_status;
	}
	while (tracer.tracees)
		remove_tracee(&tracer, tracer.tracees);
	return r;
}

static bool shows_io(pid_t pid)
{
	siginfo_t info;
	char path[32];

	snprintf(path, sizeof(path), "/proc/%d/io", pid);
	while (waitid(P_PID, pid, &info, WEXITED | WNOWAIT | __WALL) < 0 && errno == EINTR)
		;
	return access(path, R_OK) == 0;
}

int tracer_check(bool *ret_zombies)
{
	static char *const argv[] = { (char *)"true", NULL };
	struct spawn spawn;
	int r = spawn_begin(argv, NULL, NULL, &spawn);

	*ret_zombies = false;
	if (r < 0)
		return r;
	r = ptrace(PTRACE_SEIZE, spawn.pid, NULL, NULL) < 0 ? -errno : 0;
	spawn_finish(&spawn);
	kill(spawn.pid, SIGKILL);
	*ret_zombies = shows_io(spawn.pid);
	waitpid(spawn.pid, NULL, __WALL);
	return r;
}
