/* SPDX-License-Identifier: MIT */

/* What run_kernel.c and run_preload.c share: a command that runs natively, in our namespaces. */

#include "ftrac/run_internal.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "ftrac/view.h"
#include "procmon/monitor.h"

/* In the child. */
static int become_user(void *arg)
{
	const struct run *run = arg;

	return view_become(run->daemon.options.user);
}

int run_spawn_natively(struct run *run)
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

int run_open_trace(struct run *run)
{
	struct daemon *d = &run->daemon;
	int status;

	take_options(d);
	status = daemon_open_trace(d);
	if (status == 0)
		d->choice.own = run->own = realpath(d->options.db, NULL);
	return status;
}

int run_natively(struct run *run, int status)
{
	struct daemon *d = &run->daemon;

	run->was_run = status == 0;
	status = run->was_run ? run_it(run) : EXIT_RUNNER;
	monitor_discard(run->command);
	run->command = NULL;
	if (daemon_stop_writer(d) < 0 && status == 0)
		status = EXIT_RUNNER;
	daemon_close_trace(d);
	free(run->own);
	d->choice.own = run->own = NULL;
	return status;
}
