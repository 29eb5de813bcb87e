/* SPDX-License-Identifier: MIT */

/*
 * ftrac run without a mount and without privileges: the command runs natively, and an object that is preloaded into its programs hands
 * over the calls of libc that reach the file system (preload/preload.h).  Processes are followed as with a mount.
 *
 *   main thread                 threads of preload/, procmon/, writer      child
 *   options, memory, child ──────────────────────────────────────────────► becomes the user; waits
 *   trace, ring
 *   gives up capabilities
 *   starts these threads ─────► records -> events -> trace
 *   runs the command, waits ─────────────────────────────────────────────► executes the command
 *   ends remaining processes
 *   ends the threads ─────────► the rest of the records
 *   the end of the trace, summary
 */

#include "ftrac/run_internal.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>

#include "base/err.h"
#include "base/rights.h"
#include "db/facts.h"
#include "ftrac/view.h"
#include "procmon/monitor.h"

/* To follow processes, and as in run_kernel.c. */
#define RIGHTS_KEPT                                                                        \
	(RIGHT(CAP_DAC_OVERRIDE) | RIGHT(CAP_DAC_READ_SEARCH) | RIGHT(CAP_KILL) | RIGHT(CAP_NET_ADMIN) | \
		RIGHT(CAP_SYS_NICE) | RIGHT(CAP_SYS_PTRACE))

/* In the child. */
static int become_user(void *arg)
{
	const struct run *run = arg;

	return view_become(run->daemon.options.user);
}

static int spawn(struct run *run)
{
	int r;

	prctl(PR_SET_CHILD_SUBREAPER, 1); /* orphans of the command become our children */
	r = monitor_spawn(run->daemon.options.command, become_user, run, &run->command);
	/* For our own output; the command has been forked already. */
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN);
	if (r < 0)
		return err_status(EXIT_RUNNER, "cannot start a process: %s", strerror(-r));
	r = rights_keep(RIGHTS_KEPT, true);
	return r < 0 ? err_status(EXIT_RUNNER, "cannot give up capabilities: %s", strerror(-r)) : 0;
}

static void take_options(struct daemon *d)
{
	const struct options *o = &d->options;

	d->choice = (struct paths_options){ .source = "/", .include = o->include.word, .exclude = o->exclude.word,
		.scope = o->scope.word, .ours = d->ours };
	d->probe = monitor_probe_path;
}

static int start(struct run *run)
{
	struct daemon *d = &run->daemon;
	int status = spawn(run);

	take_options(d);
	if (status == 0)
		status = daemon_open_trace(d);
	if (status == 0)
		d->choice.own = run->own = realpath(d->options.db, NULL);
	if (status == 0 && daemon_start_monitor(d) < 0)
		status = EXIT_RUNNER;
	if (status == 0 && daemon_start_writer(d, &(struct facts){ .files = "preload",
		.fidelity = event_fidelity_names[FIDELITY_CALL] }) < 0)
		status = EXIT_RUNNER;
	return status;
}

int run_by_preload(struct run *run)
{
	struct daemon *d = &run->daemon;
	int status = start(run);

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
