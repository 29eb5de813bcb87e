/* SPDX-License-Identifier: MIT */

/*
 * ftrac run without a mount: the command runs natively, in our namespaces, and programs in the kernel record what it does.
 *
 *   main thread                 threads of kernel/, writer      child
 *   options, child ───────────────────────────────────────────► becomes the user; waits
 *   trace, ring
 *   programs, without which we give up their capabilities
 *   starts these threads ─────► records -> events -> trace
 *   runs the command, waits ──────────────────────────────────► executes the command
 *   ends remaining processes
 *   ends the programs ────────► the rest of the records
 *   the end of the trace, summary
 *
 * If we are killed, the kernel removes the programs, and the command goes on.
 */

#include "ftrac/run_internal.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/failure.h"
#include "base/rights.h"
#include "db/facts.h"
#include "ftrac/view.h"
#include "procmon/monitor.h"

/*
 * To look at files of others (monitor_probe_path()) and to write the trace wherever it lies, to pass signals on to a command that is
 * another user's, and to schedule our threads.
 */
#define RIGHTS_KEPT \
	(RIGHT(CAP_DAC_OVERRIDE) | RIGHT(CAP_DAC_READ_SEARCH) | RIGHT(CAP_KILL) | RIGHT(CAP_SYS_NICE))

/* In the child. */
static int become_user(void *arg)
{
	const struct run *run = arg;

	return view_become(run->daemon.options.user);
}

static int spawn(struct run *run)
{
	int r = monitor_spawn(run->daemon.options.command, become_user, run, &run->command);

	/* For our own output; the command has been forked already. */
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN);
	return r < 0 ? err_status(EXIT_RUNNER, "cannot start a process: %s", strerror(-r)) : 0;
}

static void take_options(struct daemon *d)
{
	const struct options *o = &d->options;

	d->choice = (struct paths_options){ .source = "/", .include = o->include.word, .exclude = o->exclude.word,
		.scope = o->scope.word, .ours = d->ours };
	d->probe = monitor_probe_path;
}

static int start(struct run *run, struct failure *refused)
{
	struct daemon *d = &run->daemon;
	int status = spawn(run);

	take_options(d);
	if (status == 0)
		status = daemon_open_trace(d);
	if (status == 0)
		d->choice.own = run->own = realpath(d->options.db, NULL);
	if (status == 0 && monitor_start_in_kernel(&(struct monitor_in_kernel){ .ring = d->recording.ring,
		.env = d->options.env.word, .command = run->command, .rights = RIGHTS_KEPT }, &d->monitor, refused) < 0)
		return EXIT_RUNNER;
	if (status == 0 && daemon_start_writer(d, &(struct facts){ .files = "kernel",
		.fidelity = event_fidelity_names[FIDELITY_CALL] }) < 0)
		status = EXIT_RUNNER;
	return status;
}

int run_by_kernel(struct run *run, struct failure *refused)
{
	struct daemon *d = &run->daemon;
	int status = start(run, refused);

	run->was_run = status == 0;
	status = run->was_run ? run_it(run) : EXIT_RUNNER;
	monitor_discard(run->command);
	run->command = NULL;
	if (daemon_stop_writer(d) < 0 && status == 0)
		status = EXIT_RUNNER;
	recording_close(&d->recording);
	free(run->own);
	d->choice.own = run->own = NULL;
	return status;
}
