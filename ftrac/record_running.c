/* SPDX-License-Identifier: MIT */

/*
 * ftrac record: processes that run already, recorded by programs in the kernel until a signal comes, a time is over, or the
 * processes have ended.
 *
 *   main thread                 threads of kernel/, writer
 *   trace, ring
 *   programs, without which we give up their capabilities
 *   starts these threads ─────► records -> events -> trace
 *   reports the processes
 *   attaches, waits
 *   ends the programs ────────► the rest of the records
 *   the end of the trace, summary
 *
 * The processes go on as they did, however this process ends.
 */

#include "ftrac/record_running.h"

#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/failure.h"
#include "base/rights.h"
#include "db/facts.h"
#include "dag/answer/answer.h"
#include "ftrac/daemon.h"
#include "procmon/monitor.h"

/* To look at files and processes of others, to write the trace wherever it lies, and to schedule our threads. */
#define RIGHTS_KEPT (RIGHT(CAP_DAC_OVERRIDE) | RIGHT(CAP_DAC_READ_SEARCH) | RIGHT(CAP_SYS_PTRACE) | RIGHT(CAP_SYS_NICE))

#define TURN_MS 100

struct record_running {
	struct daemon daemon; /* the record alone */
	char *own;	      /* the path of the trace; NULL: not known */
	int *pidfds;	      /* of the processes that were named; -1: there was none left */
	sigset_t ends;	      /* signals that end it: blocked from before threads are made */
};

static void block_signals(struct record_running *run)
{
	static const int ends[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT };

	sigemptyset(&run->ends);
	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++)
		sigaddset(&run->ends, ends[i]);
	sigprocmask(SIG_BLOCK, &run->ends, NULL);
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN);
}

static void take_options(struct daemon *d)
{
	const struct options *o = &d->options;

	d->choice = (struct paths_options){ .source = "/", .include = o->include.word, .exclude = o->exclude.word,
		.scope = o->scope.word };
	d->probe = monitor_probe_path;
}

static int fail(const struct failure *failure)
{
	return err_status(EXIT_OWN, "%s", failure->text);
}

static int start(struct record_running *run)
{
	struct daemon *d = &run->daemon;
	struct failure failure = { 0 };
	int status;

	take_options(d);
	status = daemon_open_trace(d);
	if (status)
		return status;
	d->choice.own = run->own = realpath(d->options.db, NULL);
	if (monitor_start_in_kernel(&(struct monitor_in_kernel){ .ring = d->recording.ring, .env = d->options.env.word,
		    .rights = RIGHTS_KEPT }, &d->monitor, &failure) < 0)
		return fail(&failure);
	if (daemon_start_writer(d, &(struct facts){ .files = "kernel", .fidelity = event_fidelity_names[FIDELITY_CALL] }) < 0)
		return EXIT_OWN;
	return monitor_attach(d->monitor, &(struct monitor_attach){ .all = d->options.all, .pids = d->options.pids,
		.n_pids = d->options.n_pids, .cgroup = d->options.cgroup }, &failure) < 0 ? fail(&failure) : 0;
}

/* A process that has ended, waited for or not, makes its descriptor readable. */
static bool has_ended(int pidfd)
{
	struct pollfd one = { .fd = pidfd, .events = POLLIN };

	return pidfd < 0 || poll(&one, 1, 0) > 0;
}

static bool any_lives(const struct record_running *run)
{
	for (size_t i = 0; i < run->daemon.options.n_pids; i++)
		if (!has_ended(run->pidfds[i]))
			return true;
	return false;
}

static int open_processes(struct record_running *run)
{
	const struct options *o = &run->daemon.options;
	struct failure failure = { 0 };

	run->pidfds = calloc(o->n_pids + 1, sizeof(*run->pidfds));
	if (!run->pidfds)
		return err_status(EXIT_OWN, "out of memory");
	for (size_t i = 0; i < o->n_pids; i++) {
		if (monitor_check_process(o->pids[i], &failure) < 0)
			return fail(&failure);
		run->pidfds[i] = (int)syscall(SYS_pidfd_open, o->pids[i], 0);
	}
	return 0;
}

static void wait_for_end(const struct record_running *run)
{
	const struct options *o = &run->daemon.options;
	const struct timespec turn = { .tv_nsec = TURN_MS * 1000000 };
	int64_t end = o->for_ms < 0 ? INT64_MAX : clock_now_ns() + o->for_ms * INT64_C(1000000);
	struct timespec left;

	while (clock_now_ns() < end && (!o->n_pids || any_lives(run))) {
		int64_t rest = end - clock_now_ns();

		left = turn;
		if (rest < turn.tv_nsec)
			left.tv_nsec = rest > 0 ? rest : 0;
		if (sigtimedwait(&run->ends, NULL, &left) > 0)
			return;
	}
}

static int record(struct record_running *run)
{
	struct daemon *d = &run->daemon;
	int status;

	block_signals(run);
	status = open_processes(run);
	if (status == 0)
		status = start(run);
	if (status == 0)
		wait_for_end(run);
	else
		recording_abandon(&d->recording);
	if (daemon_stop_writer(d) < 0 && status == 0)
		status = EXIT_OWN;
	daemon_close_trace(d);
	if (status == 0 && d->has_trace && !d->options.quiet)
		answer_print(d->options.db, ANSWER_OWN, stderr);
	if (d->options.strict && d->lost)
		status = err_status(EXIT_STRICT, "%llu operations or process events were lost (--strict)",
			(unsigned long long)d->lost);
	return status;
}

int record_running_command(int argc, char **argv)
{
	struct record_running run = { .daemon = { .ready_fd = -1 } };
	struct daemon *d = &run.daemon;
	int status;

	if (options_parse_record(argc, argv, &d->options, &status) == 0) {
		d->cwd = getcwd(NULL, 0);
		status = record(&run);
		free(run.own);
		free(run.pidfds);
		free(d->cwd);
	}
	options_finish(&d->options);
	return status;
}
