/* SPDX-License-Identifier: MIT */

/*
 * The threads and processes of ftrac run
 *
 *   main thread                    loop thread           child
 *   options, child ─────────────────────────────────────► its namespaces, its mount
 *   trace, session ◄─── device ──────────────────────────┘
 *   starts the loop ─────────────► replies; recording
 *   waits for that ◄── ready ────┘ begins
 *   has the view built ─────────────────────────────────► the tree in its place; waits
 *   runs the command, waits ────────────────────────────► executes the command
 *   ends remaining processes; the mount goes with them
 *   the end of the trace, summary
 */

#include "ftrac/run.h"

#include <errno.h>
#include <grp.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "base/err.h"
#include "db/summary.h"
#include "db/writer.h"
#include "ftrac/daemon.h"
#include "ftrac/notes.h"
#include "ftrac/view.h"
#include "procmon/monitor.h"

struct run {
	struct daemon daemon; /* first */
	struct view view;
	struct notes notes;
	struct spawn *command;
	struct inode_squash squash;
	pthread_t loop;
	bool has_loop;
	pthread_mutex_t lock;
	pthread_cond_t ready;
	bool is_ready;
	int error; /* set by ready() */
};

/* ---- the loop ---- */

static void on_ready(struct daemon *d, int error)
{
	struct run *run = (struct run *)d;

	pthread_mutex_lock(&run->lock);
	run->is_ready = true;
	run->error = error;
	pthread_cond_signal(&run->ready);
	pthread_mutex_unlock(&run->lock);
}

static void *loop(void *arg)
{
	struct run *run = arg;

	daemon_loop(&run->daemon);
	if (!run->is_ready)
		on_ready(&run->daemon, -EIO);
	return NULL;
}

static int start_loop(struct run *run)
{
	int r = pthread_create(&run->loop, NULL, loop, run);

	if (r)
		return err_status(EXIT_RUNNER, "cannot start a thread: %s", strerror(r));
	run->has_loop = true;
	pthread_mutex_lock(&run->lock);
	while (!run->is_ready)
		pthread_cond_wait(&run->ready, &run->lock);
	pthread_mutex_unlock(&run->lock);
	return run->error < 0 ? EXIT_RUNNER : 0;
}

/* ---- the view ---- */

static int mount_view(struct run *run)
{
	int device = -1;

	if (run->view.route != VIEW_HELPER) {
		device = view_device(&run->view);
		if (device < 0)
			return EXIT_RUNNER;
	}
	return daemon_mount(&run->daemon, device);
}

static void set_squash(struct run *run)
{
	struct inode_squash *squash = &run->squash;
	int n = getgroups(sizeof(squash->groups) / sizeof(squash->groups[0]), squash->groups);

	squash->uid = geteuid();
	squash->gid = getegid();
	squash->n_groups = n < 0 ? 0 : n;
	run->daemon.squash = squash;
}

static int spawn(struct run *run)
{
	struct daemon *d = &run->daemon;
	int status, r;

	run->view.paths = d->options.scope.word;
	run->view.cwd = d->cwd;
	run->view.user = d->options.user;
	run->view.dies_with_us = d->options.processes == MONITOR_CONNECTOR ||
		d->options.processes == MONITOR_INBAND;
	status = view_prepare(&run->view);
	if (status)
		return status;
	if (run->view.route == VIEW_HELPER)
		d->options.mountpoint = strdup(run->view.dir);
	if (run->view.route == VIEW_HELPER && !d->options.mountpoint)
		return err_status(EXIT_RUNNER, "out of memory");
	if (run->view.route == VIEW_INSIDE)
		set_squash(run);
	prctl(PR_SET_CHILD_SUBREAPER, 1); /* orphans of the command become our children */
	r = monitor_spawn(d->options.command, view_first, &run->view, &run->command);
	signal(SIGPIPE, SIG_IGN); /* for our own output; the command has been forked already */
	return r < 0 ? err_status(EXIT_RUNNER, "cannot start a process: %s", strerror(-r)) : 0;
}

/* ---- the command ---- */

static int run_it(struct run *run)
{
	const struct options *o = &run->daemon.options;
	int wait_status = EXIT_RUNNER << 8;
	int r = monitor_run(run->daemon.monitor, run->command,
		&(struct monitor_run){ .wait_ms = o->wait_ms, .end_rest = true }, &wait_status);

	if (r < 0)
		err_print("cannot run '%s': %s", o->command[0], strerror(-r));
	writer_exit_status(run->daemon.writer, cli_exit_status(wait_status));
	return cli_exit_status(wait_status);
}

static int find_place(struct daemon *d)
{
	d->cwd = getcwd(NULL, 0);
	d->command = cli_join(d->options.command);
	return d->cwd ? 0 : err_status(EXIT_RUNNER, "cannot find the current directory: %s; go to "
					"another one", strerror(errno));
}

/* Before the command is forked, because it inherits the environment. */
static int take_notes(struct run *run)
{
	int status = run->daemon.options.make ? notes_prepare(&run->notes) : 0;

	if (status == 0 && run->daemon.options.make)
		run->daemon.notes = run->notes.sub;
	return status;
}

static int start(struct run *run)
{
	int status = find_place(&run->daemon);

	if (status == 0)
		status = take_notes(run);
	if (status == 0)
		status = spawn(run);
	if (status == 0)
		status = daemon_open(&run->daemon);
	if (status == 0)
		status = mount_view(run);
	if (status == 0)
		status = start_loop(run);
	if (status == 0 && !view_build(&run->view))
		status = EXIT_RUNNER;
	if (status == 0 && run->view.route != VIEW_HELPER)
		view_finish(&run->view); /* so nothing remains if a process is killed */
	if (status == 0)
		daemon_record(&run->daemon); /* operations before this built the view */
	return status;
}

static void stop(struct run *run)
{
	view_release_child(&run->view);
	monitor_discard(run->command);
	if (run->has_loop) {
		view_unmount(&run->view);
		pthread_join(run->loop, NULL);
	}
	view_finish(&run->view);
}

int run_command(int argc, char **argv)
{
	struct run run = { .daemon = { .ready_fd = -1, .ready = on_ready, .is_aside = true },
		.lock = PTHREAD_MUTEX_INITIALIZER, .ready = PTHREAD_COND_INITIALIZER,
		.view = { .ours = -1, .childs = -1 } };
	struct daemon *d = &run.daemon;
	bool was_run;
	int status;

	if (options_parse_run(argc, argv, &d->options, &status) == 0) {
		status = start(&run);
		was_run = status == 0;
		status = was_run ? run_it(&run) : EXIT_RUNNER;
		stop(&run);
		if (daemon_finish(d) && status == 0)
			status = EXIT_RUNNER;
		if (was_run && d->has_trace && !d->options.quiet)
			summary_print(d->options.db, stderr);
		notes_finish(&run.notes);
		free(d->cwd);
		free(d->command);
	}
	options_finish(&d->options);
	return status;
}
