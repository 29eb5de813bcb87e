/* SPDX-License-Identifier: MIT */
#include "procmon/command.h"

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "procmon/connector.h"
#include "procmon/follow.h"
#include "procmon/monitor.h"
#include "procmon/procfs.h"
#include "procmon/scope.h"
#include "procmon/spawn.h"
#include "procmon/watch.h"

#define TURN_MS 50

/* ---- signals ---- */

static const int passed_on[] = { SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1 };
#define N_PASSED_ON (sizeof(passed_on) / sizeof(passed_on[0]))

static _Atomic pid_t command_pid; /* the command has ended */
/* do not wait any longer for processes that outlive the command */
static _Atomic bool stop_waiting;
static const _Atomic uint8_t *in_scope;

/*
 * Passes a signal that another process sent us on to the command. A signal of the terminal reaches
 * the command itself, and so does a signal that the command's own processes send to their process
 * group.
 */
static void pass_on(int signal, siginfo_t *info, void *context)
{
	pid_t pid = atomic_load(&command_pid);
	int saved = errno;

	(void)context;
	if (pid == 0)
		atomic_store(&stop_waiting, true);
	else if (info->si_code <= 0 && in_scope[info->si_pid] != KNOWN)
		kill(pid, signal);
	errno = saved;
}

static void pass_signals_on(const struct watch *watch, pid_t pid,
	struct sigaction ret_old[N_PASSED_ON])
{
	struct sigaction action = { .sa_sigaction = pass_on, .sa_flags = SA_SIGINFO };

	in_scope = watch->known;
	atomic_store(&stop_waiting, false);
	atomic_store(&command_pid, pid);
	/* A signal that is ignored (nohup) is ignored by the command, too. */
	for (size_t i = 0; i < N_PASSED_ON; i++)
		if (sigaction(passed_on[i], NULL, &ret_old[i]) == 0 &&
			ret_old[i].sa_handler != SIG_IGN)
			sigaction(passed_on[i], &action, NULL);
}

static void restore_signals(const struct sigaction old[N_PASSED_ON])
{
	for (size_t i = 0; i < N_PASSED_ON; i++)
		sigaction(passed_on[i], &old[i], NULL);
}

/* ---- by ptrace ---- */

struct traced {
	struct follow follow; /* first */
	int wait_ms;
	timer_t timer;
	bool has_timer;
};

static _Atomic int64_t until_ns; /* until when to wait for processes that outlive the command */

static void on_timer(int signal)
{
	(void)signal;
	if (clock_now_ns() >= atomic_load(&until_ns))
		atomic_store(&stop_waiting, true);
}

static struct timespec time_of_ms(int64_t ms)
{
	return (struct timespec){ .tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000 };
}

static int64_t end_of_wait(int wait_ms)
{
	return wait_ms < 0 ? INT64_MAX : clock_now_ns() + wait_ms * INT64_C(1000000);
}

/*
 * Starts the timeout for the processes that the command left behind. The timer ticks: a single
 * signal would be lost if it came between the tracer's check of stop and its wait.
 */
static void command_ended(void *arg, int status)
{
	struct traced *traced = arg;
	const struct itimerspec turns = { .it_value = time_of_ms(TURN_MS),
		.it_interval = time_of_ms(TURN_MS) };

	(void)status;
	atomic_store(&until_ns, end_of_wait(traced->wait_ms));
	atomic_store(&command_pid, 0); /* another process may get the number */
	if (traced->has_timer)
		timer_settime(traced->timer, 0, &turns, NULL);
}

static void prepare_timer(struct traced *traced, struct sigaction *ret_old)
{
	struct sigaction action = { .sa_handler = on_timer };
	struct sigevent event = { .sigev_notify = SIGEV_THREAD_ID, .sigev_signo = TRACER_SIGNAL };

	event._sigev_un._tid = gettid();
	sigaction(TRACER_SIGNAL, &action, ret_old);
	traced->has_timer = timer_create(CLOCK_MONOTONIC, &event, &traced->timer) == 0;
}

static int run_traced(struct watch *watch, struct spawn *spawn, const struct monitor_run *run,
	int *ret_status)
{
	struct traced traced = { .follow = { .watch = watch,
			.ledger = { .proc = watch->proc, .keep_open = !watch->sees_zombies } },
		.wait_ms = run->wait_ms };
	struct tracer_options options = { .spawn = spawn, .callbacks = &follow_callbacks,
		.arg = &traced, .command_ended = command_ended, .exit_kill = run->end_rest,
		.stop = &stop_waiting };
	struct sigaction old;
	int r;

	prepare_timer(&traced, &old);
	r = tracer_run(&options, ret_status);
	if (traced.has_timer)
		timer_delete(traced.timer);
	sigaction(TRACER_SIGNAL, &old, NULL);
	follow_finish(&traced.follow);
	return r;
}

/* ---- by the connector ---- */

static void begin(struct watch *watch, pid_t pid)
{
	struct procfs_stat stat = { 0 };
	int64_t start = 0;

	if (procfs_read_stat(watch->proc, pid, &stat) == 0)
		start = procfs_ticks_ns(stat.start_ticks);
	watch_lock(watch);
	scope_begin(watch->scope, pid, getpid(), false, start, clock_now_ns());
	atomic_store(&watch->begun, true);
	watch_unlock(watch);
}

/* Without the connector no other source reports this. */
static void emit_text(struct watch *watch, pid_t pid)
{
	struct follow follow = { .watch = watch };

	if (!watch->connector)
		follow_callbacks.executed(&follow, pid, false, clock_now_ns());
	follow_finish(&follow);
}

static void emit_end(struct watch *watch, pid_t pid, int status)
{
	if (watch->connector)
		return;
	watch_lock(watch);
	scope_on_ptrace(watch->scope, &(struct connector_event){ .kind = CONNECTOR_EXIT, .tid = pid,
		.pid = pid, .status = status, .time_ns = clock_now_ns() });
	watch_unlock(watch);
}

static bool any_alive(struct watch *watch)
{
	bool any;

	watch_lock(watch);
	any = scope_count_in(watch->scope) > 0;
	watch_unlock(watch);
	return any;
}

/* Orphaned processes may be our children now. */
static void reap(void)
{
	while (waitpid(-1, NULL, WNOHANG) > 0)
		;
}

static void wait_for_rest(struct watch *watch, int wait_ms)
{
	const struct timespec turn = time_of_ms(TURN_MS);
	const int64_t end = end_of_wait(wait_ms);

	while (any_alive(watch) && !atomic_load(&stop_waiting) && clock_now_ns() < end) {
		nanosleep(&turn, NULL);
		reap();
	}
}

static void kill_all(struct watch *watch, int signal)
{
	pid_t pids[64];
	uint64_t at = 0;
	size_t n;

	do {
		watch_lock(watch);
		n = scope_list(watch->scope, INT64_MAX, &at, pids, sizeof(pids) / sizeof(pids[0]));
		for (size_t i = 0; i < n; i++)
			kill(pids[i], signal); /* under the lock, so the scope knows of no end yet */
		watch_unlock(watch);
	} while (n);
}

static void end_rest(struct watch *watch)
{
	kill_all(watch, SIGTERM);
	atomic_store(&stop_waiting, false); /* a second signal no longer shortens the wait */
	wait_for_rest(watch, 2000);
	atomic_store(&stop_waiting, false);
	kill_all(watch, SIGKILL);
	wait_for_rest(watch, 2000);
}

static int run_by_connector(struct watch *watch, struct spawn *spawn, const struct monitor_run *run,
	int *ret_status)
{
	int r;

	begin(watch, spawn->pid);
	r = spawn_go(spawn);
	if (r == 0)
		r = spawn_result(spawn);
	if (r == 0)
		emit_text(watch, spawn->pid);
	while (waitpid(spawn->pid, ret_status, 0) < 0 && errno == EINTR)
		;
	atomic_store(&command_pid, 0);
	emit_end(watch, spawn->pid, *ret_status);
	if (r == 0)
		wait_for_rest(watch, run->wait_ms);
	return r;
}

int command_run(struct watch *watch, struct spawn *spawn, const struct monitor_run *run,
	int *ret_status)
{
	struct sigaction old[N_PASSED_ON];
	int r;

	pass_signals_on(watch, spawn->pid, old);
	r = watch->traces ? run_traced(watch, spawn, run, ret_status)
			  : run_by_connector(watch, spawn, run, ret_status);
	if (run->end_rest && any_alive(watch))
		end_rest(watch);
	restore_signals(old);
	return r;
}
