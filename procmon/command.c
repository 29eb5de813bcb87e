/* SPDX-License-Identifier: MIT */
#include "procmon/command.h"

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/err.h"
#include "procmon/connector.h"
#include "procmon/family.h"
#include "procmon/follow.h"
#include "procmon/monitor.h"
#include "procmon/procfs.h"
#include "procmon/scope.h"
#include "procmon/signals.h"
#include "procmon/spawn.h"
#include "procmon/watch.h"

#define TURN_MS 50

static const _Atomic uint8_t *in_scope;

static bool is_in_scope(pid_t pid)
{
	return in_scope[pid] == KNOWN;
}

/* ---- what the user is told ---- */

#define PATIENCE_MS 1000

/* Also from a signal handler, so the text is made before. */
static struct {
	char text[160];
	_Atomic int64_t at_ns; /* when to say it; 0: not */
} notice;

static void prepare_notice(const struct monitor_run *run)
{
	char most[64] = "";

	if (run->quiet || (run->wait_ms >= 0 && run->wait_ms <= PATIENCE_MS))
		return;
	if (run->wait_ms >= 0)
		snprintf(most, sizeof(most), " for %.3g s at most", run->wait_ms / 1000.0);
	snprintf(notice.text, sizeof(notice.text), "%s: the command has ended; waiting%s for processes that it left behind (--wait)\n",
		program_invocation_short_name, most);
	atomic_store(&notice.at_ns, clock_now_ns() + PATIENCE_MS * INT64_C(1000000));
}

static void print_notice(void)
{
	int64_t at = atomic_load(&notice.at_ns);

	if (at && clock_now_ns() >= at && atomic_exchange(&notice.at_ns, 0) && write(STDERR_FILENO, notice.text, strlen(notice.text)) < 0)
		return;
}

/* ---- by ptrace ---- */

struct traced {
	struct follow follow; /* first */
	const struct monitor_run *run;
	timer_t timer;
	bool has_timer;
};

static _Atomic int64_t until_ns; /* until when to wait for processes that outlive the command */

static void on_timer(int signal)
{
	int saved = errno;

	(void)signal;
	print_notice();
	errno = saved;
	if (clock_now_ns() >= atomic_load(&until_ns))
		atomic_store(&signals_stop, true);
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
	prepare_notice(traced->run);
	atomic_store(&until_ns, end_of_wait(traced->run->wait_ms));
	signals_command_ended();
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
		.run = run };
	struct tracer_options options = { .spawn = spawn, .callbacks = &follow_callbacks,
		.arg = &traced, .command_ended = command_ended, .exit_kill = run->end_rest,
		.stop = &signals_stop };
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

/* ---- processes that outlive the command; watch NULL: all are descendants of ours ---- */

static bool any_alive(struct watch *watch)
{
	bool any;

	if (!watch)
		return family_is_alive();
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

	while (any_alive(watch) && !atomic_load(&signals_stop) && clock_now_ns() < end) {
		nanosleep(&turn, NULL);
		reap();
		print_notice();
	}
}

static void kill_all(struct watch *watch, int signal)
{
	pid_t pids[64];
	uint64_t at = 0;
	size_t n;

	if (!watch) {
		family_kill(signal);
		return;
	}
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
	atomic_store(&signals_stop, false); /* a second signal no longer shortens the wait */
	wait_for_rest(watch, 2000);
	atomic_store(&signals_stop, false);
	kill_all(watch, SIGKILL);
	wait_for_rest(watch, 2000);
}

/* ---- the command ---- */

static int let_go(struct spawn *spawn)
{
	int r = spawn_go(spawn);

	return r == 0 ? spawn_result(spawn) : r;
}

static void wait_for_command(const struct spawn *spawn, int *ret_status)
{
	while (waitpid(spawn->pid, ret_status, 0) < 0 && errno == EINTR)
		;
	signals_command_ended();
}

static int run_by_connector(struct watch *watch, struct spawn *spawn, int *ret_status)
{
	int r;

	begin(watch, spawn->pid);
	r = let_go(spawn);
	if (r == 0)
		emit_text(watch, spawn->pid);
	wait_for_command(spawn, ret_status);
	emit_end(watch, spawn->pid, *ret_status);
	return r;
}

static int run_untouched(struct spawn *spawn, int *ret_status)
{
	int r = let_go(spawn);

	wait_for_command(spawn, ret_status);
	return r;
}

int command_run(struct watch *watch, struct spawn *spawn, const struct monitor_run *run,
	int *ret_status)
{
	struct signals signals;
	int r;

	in_scope = watch ? watch->known : NULL;
	signals_pass_on(&signals, spawn->pid, watch ? is_in_scope : family_has);
	if (watch && watch->traces) {
		r = run_traced(watch, spawn, run, ret_status);
	} else {
		r = watch ? run_by_connector(watch, spawn, ret_status) : run_untouched(spawn, ret_status);
		prepare_notice(run);
		if (r == 0)
			wait_for_rest(watch, run->wait_ms);
	}
	atomic_store(&notice.at_ns, 0);
	if (run->end_rest && any_alive(watch)) {
		if (!run->quiet)
			err_print("ended the processes that the command left behind");
		end_rest(watch);
	}
	signals_restore(&signals);
	return r;
}
