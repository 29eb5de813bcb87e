/* SPDX-License-Identifier: MIT */

/*
 * The threads and processes of ftrac run with a mount
 *
 *   main thread                    loop thread           child
 *   options, child ─────────────────────────────────────► waits
 *   trace; programs in the kernel
 *   has the mount made ─────────────────────────────────► its namespaces, its mount
 *   session ◄────────── device ──────────────────────────┘
 *   starts the loop ─────────────► replies; recording
 *   waits for that ◄── ready ────┘ begins
 *   has the view built ─────────────────────────────────► the tree in its place; waits
 *   runs the command, waits ────────────────────────────► executes the command
 *   ends remaining processes; the mount goes with them
 *   the end of the trace, summary
 */

#include "ftrac/run_internal.h"

#include <errno.h>
#include <grp.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "base/err.h"
#include "db/writer.h"
#include "ftrac/daemon.h"
#include "ftrac/view.h"
#include "preload/preload.h"
#include "procmon/monitor.h"

struct mounted {
	struct run *run;
	struct view view;
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
	struct mounted *mounted = d->ready_arg;

	pthread_mutex_lock(&mounted->lock);
	mounted->is_ready = true;
	mounted->error = error;
	pthread_cond_signal(&mounted->ready);
	pthread_mutex_unlock(&mounted->lock);
}

static void *loop(void *arg)
{
	struct mounted *mounted = arg;

	daemon_loop(&mounted->run->daemon);
	if (!mounted->is_ready)
		on_ready(&mounted->run->daemon, -EIO);
	return NULL;
}

static int start_loop(struct mounted *mounted)
{
	int r = pthread_create(&mounted->loop, NULL, loop, mounted);

	if (r)
		return err_status(EXIT_RUNNER, "cannot start a thread: %s", strerror(r));
	mounted->has_loop = true;
	pthread_mutex_lock(&mounted->lock);
	while (!mounted->is_ready)
		pthread_cond_wait(&mounted->ready, &mounted->lock);
	pthread_mutex_unlock(&mounted->lock);
	return mounted->error < 0 ? EXIT_RUNNER : 0;
}

/* ---- the view ---- */

static int mount_view(struct mounted *mounted)
{
	int device = -1;

	if (mounted->view.route != VIEW_HELPER) {
		device = view_device(&mounted->view);
		if (device < 0)
			return EXIT_RUNNER;
		mounted->run->daemon.device = mounted->view.device;
	}
	return daemon_mount(&mounted->run->daemon, device);
}

static void set_squash(struct mounted *mounted)
{
	struct inode_squash *squash = &mounted->squash;
	int n = getgroups(sizeof(squash->groups) / sizeof(squash->groups[0]), squash->groups);

	squash->uid = geteuid();
	squash->gid = getegid();
	squash->n_groups = n < 0 ? 0 : n;
	mounted->run->daemon.squash = squash;
}

static int spawn(struct mounted *mounted)
{
	struct daemon *d = &mounted->run->daemon;
	int status, r;

	mounted->view.paths = d->options.scope.word;
	mounted->view.cwd = d->cwd;
	mounted->view.real = d->preload ? preload_directory(d->preload) : NULL;
	mounted->view.user = d->options.user;
	mounted->view.dies_with_us = d->options.processes == MONITOR_CONNECTOR ||
		d->options.processes == MONITOR_INBAND;
	status = view_prepare(&mounted->view);
	if (status)
		return status;
	if (mounted->view.route == VIEW_HELPER)
		d->options.mountpoint = strdup(mounted->view.dir);
	if (mounted->view.route == VIEW_HELPER && !d->options.mountpoint)
		return err_status(EXIT_RUNNER, "out of memory");
	if (mounted->view.route == VIEW_INSIDE)
		set_squash(mounted);
	prctl(PR_SET_CHILD_SUBREAPER, 1); /* orphans of the command become our children */
	r = monitor_spawn(d->options.command, view_first, &mounted->view, &mounted->run->command);
	signal(SIGPIPE, SIG_IGN); /* for our own output; the command has been forked already */
	return r < 0 ? err_status(EXIT_RUNNER, "cannot start a process: %s", strerror(-r)) : 0;
}

/* ---- start and end ---- */

static int start(struct mounted *mounted)
{
	struct daemon *d = &mounted->run->daemon;
	int status = spawn(mounted);

	if (status == 0)
		status = daemon_open(d);
	if (status == 0)
		status = mount_view(mounted);
	if (status == 0)
		status = start_loop(mounted);
	if (status == 0 && !view_build(&mounted->view))
		status = EXIT_RUNNER;
	if (status == 0 && mounted->view.route != VIEW_HELPER)
		view_finish(&mounted->view); /* so nothing remains if a process is killed */
	if (status == 0)
		daemon_record(d); /* operations before this built the view */
	return status;
}

static void stop(struct mounted *mounted)
{
	view_release_child(&mounted->view);
	monitor_discard(mounted->run->command);
	if (mounted->has_loop) {
		view_unmount(&mounted->view);
		pthread_join(mounted->loop, NULL);
	}
	view_finish(&mounted->view);
}

int run_by_mount(struct run *run)
{
	struct mounted mounted = { .run = run, .lock = PTHREAD_MUTEX_INITIALIZER,
		.ready = PTHREAD_COND_INITIALIZER, .view = { .ours = -1, .childs = -1 } };
	struct daemon *d = &run->daemon;
	int status = options_scope_of_mount(&d->options);

	d->ready = on_ready;
	d->ready_arg = &mounted;
	d->is_aside = true;
	if (status == 0)
		status = start(&mounted);
	run->was_run = status == 0;
	status = run->was_run ? run_it(run) : EXIT_RUNNER;
	stop(&mounted);
	return daemon_finish(d) && status == 0 ? EXIT_RUNNER : status;
}
