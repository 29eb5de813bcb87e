/* SPDX-License-Identifier: MIT */
#include "procmon/command.h"

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "procmon/follow.h"
#include "procmon/monitor.h"
#include "procmon/scope.h"
#include "procmon/spawn.h"
#include "procmon/watch.h"

#define TURN_MS 50

static void tell_pid(const struct monitor_command *command, pid_t pid)
{
	if (command->pid)
		atomic_store(command->pid, pid);
}

/* ---- by ptrace ---- */

struct traced {
	struct follow follow; /* first */
	const struct monitor_command *command;
	_Atomic bool stop;
	timer_t timer;
	bool has_timer;
};

/* Of the timer, which knows whom it is for. */
static void on_timer(int signal, siginfo_t *info, void *context)
{
	(void)signal;
	(void)context;
	if (info->si_code == SI_TIMER)
		atomic_store((_Atomic bool *)info->si_value.sival_ptr, true);
}

static void began(void *arg, pid_t pid)
{
	tell_pid(((struct traced *)arg)->command, pid);
}

static struct timespec time_of_ms(int64_t ms)
{
	return (struct timespec){ .tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000 };
}

/* From now on what it left behind has so much time.  The timer goes on: a signal that comes between
 * the look at stop and the wait is lost. */
static void command_ended(void *arg, int status)
{
	struct traced *traced = arg;
	const struct monitor_command *command = traced->command;
	struct itimerspec when = { .it_value = time_of_ms(command->wait_ms + 1),
		.it_interval = time_of_ms(TURN_MS) };

	(void)status;
	tell_pid(command, 0);
	if (command->wait_ms >= 0 && traced->has_timer)
		timer_settime(traced->timer, 0, &when, NULL);
}

static void prepare_timer(struct traced *traced, struct sigaction *ret_old)
{
	struct sigaction action = { .sa_sigaction = on_timer, .sa_flags = SA_SIGINFO };
	struct sigevent event = { .sigev_notify = SIGEV_THREAD_ID, .sigev_signo = TRACER_SIGNAL,
		.sigev_value.sival_ptr = &traced->stop };

	event._sigev_un._tid = gettid();
	sigaction(TRACER_SIGNAL, &action, ret_old);
	traced->has_timer = timer_create(CLOCK_MONOTONIC, &event, &traced->timer) == 0;
}

static int prepare_child(void *arg)
{
	const struct monitor_command *command = ((struct traced *)arg)->command;

	return command->prepare ? command->prepare(command->arg) : 0;
}

static int run_traced(struct watch *watch, const struct monitor_command *command, int *ret_status)
{
	struct traced traced = { .follow.watch = watch, .command = command };
	struct tracer_options options = { .argv = command->argv, .prepare = prepare_child,
		.callbacks = &follow_callbacks, .arg = &traced, .began = began,
		.command_ended = command_ended, .stop = &traced.stop };
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

/* ---- as the connector hears of it ---- */

static void begin(struct watch *watch, pid_t pid)
{
	watch_lock(watch);
	scope_begin(watch->scope, pid, getpid(), false, clock_now_ns());
	watch_unlock(watch);
}

static bool anybody_lives(struct watch *watch)
{
	bool anybody;

	watch_lock(watch);
	anybody = scope_count_in(watch->scope) > 0;
	watch_unlock(watch);
	return anybody;
}

static void wait_for_rest(struct watch *watch, int wait_ms)
{
	const struct timespec turn = time_of_ms(TURN_MS);
	const int64_t end = clock_now_ns() + wait_ms * INT64_C(1000000);

	while (anybody_lives(watch) && (wait_ms < 0 || clock_now_ns() < end))
		nanosleep(&turn, NULL);
}

static int run_heard(struct watch *watch, const struct monitor_command *command, int *ret_status)
{
	struct spawn spawn;
	int r = spawn_begin(command->argv, command->prepare, command->arg, &spawn);

	if (r < 0)
		return r;
	begin(watch, spawn.pid);
	tell_pid(command, spawn.pid);
	r = spawn_go(&spawn);
	if (r == 0)
		r = spawn_result(&spawn);
	spawn_finish(&spawn);
	while (waitpid(spawn.pid, ret_status, 0) < 0 && errno == EINTR)
		;
	tell_pid(command, 0);
	if (r == 0)
		wait_for_rest(watch, command->wait_ms);
	return r;
}

int command_run(struct watch *watch, const struct monitor_command *command, int *ret_status)
{
	return watch->traces ? run_traced(watch, command, ret_status)
			     : run_heard(watch, command, ret_status);
}
