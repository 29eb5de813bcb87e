/* SPDX-License-Identifier: MIT */
#include "ftrac/run.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/failure.h"
#include "base/status_line.h"
#include "dag/answer/answer.h"
#include "dag/change/change.h"
#include "db/writer.h"
#include "ftrac/run_internal.h"
#include "ftrac/run_top.h"
#include "ftrac/top.h"
#include "preload/preload.h"
#include "procmon/monitor.h"

static int find_place(struct daemon *d)
{
	d->cwd = getcwd(NULL, 0);
	d->command = cli_join(d->options.command);
	return d->cwd ? 0 : err_status(EXIT_OWN, "cannot find the current directory: %s; go to "
					"another one", strerror(errno));
}

static bool is_make(const char *command)
{
	const char *slash = strrchr(command, '/'), *name = slash ? slash + 1 : command;

	return strcmp(name, "make") == 0 || strcmp(name, "gmake") == 0;
}

/* What is done there is no part of the command's work. */
static void leave_out(struct daemon *d, const char *place)
{
	size_t n = 0;

	while (d->ours[n])
		n++;
	d->ours[n] = place;
}

/* Before the command is forked, because it inherits the environment. */
static int take_notes(struct run *run)
{
	const struct options *o = &run->daemon.options;
	bool wanted = o->make == MAKE_YES || (o->make == MAKE_AUTO && is_make(o->command[0]));
	struct failure failure = { 0 };
	int r = wanted ? notes_prepare(&run->notes, &failure) : 0;

	if (r < 0 && o->make == MAKE_AUTO) {
		notes_finish(&run->notes);
		return 0;
	}
	if (r < 0)
		return err_status(EXIT_RUNNER, "%s", failure.text);
	run->daemon.notes = wanted ? run->notes.sub : NULL;
	if (wanted)
		leave_out(&run->daemon, run->notes.dir);
	return 0;
}

/* As above. */
static int take_origin(struct run *run)
{
	int r = origin_begin(&run->origin);

	run->daemon.origin = &run->origin;
	return r < 0 ? err_status(EXIT_RUNNER, "cannot name the run: %s", strerror(-r)) : 0;
}

/* As above. */
static int take_layers(struct run *run)
{
	struct daemon *d = &run->daemon;
	struct failure failure = { 0 };

	if (!d->options.layers && d->options.files != RUN_FILES_PRELOAD)
		return 0;
	if (preload_prepare(&(struct preload_options){ .layers = d->options.layers,
			.files = d->options.files == RUN_FILES_PRELOAD, .drop = d->options.drop,
			.detail_above_ns = d->options.detail_above_ns, .user = d->options.user },
			&d->preload, &failure) < 0)
		return err_status(EXIT_RUNNER, "%s", failure.text);
	leave_out(d, preload_directory(d->preload));
	leave_out(d, preload_object(d->preload));
	return 0;
}

static void say_how_far(void *arg, char *out, size_t size)
{
	const struct run *run = arg;
	struct writer_now now = writer_now(run->daemon.recording.writer);
	int64_t s = (clock_now_ns() - run->began_ns) / 1000000000;
	int n = snprintf(out, size, "ftrac: %d:%02d:%02d, %llu operations and %llu processes recorded", (int)(s / 3600),
		(int)(s / 60 % 60), (int)(s % 60), (unsigned long long)now.ops, (unsigned long long)now.processes);

	if (now.lost)
		snprintf(out + n, size - (size_t)n, ", %llu lost", (unsigned long long)now.lost);
}

int run_it(struct run *run)
{
	const struct options *o = &run->daemon.options;
	int wait_status = EXIT_RUNNER << 8, r;
	struct status_line *line;

	run->began_ns = clock_now_ns();
	run_top_ready(run->top_fd);
	line = o->quiet ? NULL : status_line_start(say_how_far, run);
	r = monitor_run(run->daemon.monitor, run->command,
		&(struct monitor_run){ .wait_ms = o->wait_ms, .end_rest = true, .quiet = o->quiet }, &wait_status);
	status_line_stop(line);
	if (r < 0) {
		err_print("cannot run '%s': %s", o->command[0], strerror(-r));
		recording_abandon(&run->daemon.recording);
	}
	writer_exit_status(run->daemon.recording.writer, cli_exit_status(wait_status));
	return cli_exit_status(wait_status);
}

/* By the kernel if the options allow it, else by a mount. */
static int run_somehow(struct run *run)
{
	const struct options *o = &run->daemon.options;
	struct failure refused = { 0 };
	int status = EXIT_RUNNER;

	if (o->files == RUN_FILES_MOUNT || o->files == RUN_FILES_BOTH)
		return run_by_mount(run);
	if (o->files == RUN_FILES_PRELOAD)
		return run_by_preload(run);
	if (o->mount_only)
		failure_set(&refused, FAILURE_USAGE, "cannot record in the kernel: %s needs a mount", o->mount_only);
	else
		status = run_by_kernel(run, &refused);
	if (!refused.code)
		return status;
	if (o->files == RUN_FILES_KERNEL)
		return err_status(EXIT_RUNNER, "%s", refused.text);
	err_print("%s; files are recorded by a mount", refused.text);
	return run_by_mount(run);
}

/* 0; or -errno after an error was printed. */
static int report_changes(const struct options *o)
{
	int r = o->changes ? change_print(o->db, CHANGE_OWN, stderr) : 0;

	return r == 0 && o->in_toto ? change_state(o->db, CHANGE_OWN, o->in_toto) : r;
}

static int run_and_report(struct run *run)
{
	struct daemon *d = &run->daemon;
	int status = run_somehow(run);

	if (run->was_run && d->has_trace && !d->options.quiet)
		answer_print(d->options.db, ANSWER_OWN, stderr);
	if (run->was_run && d->has_trace && report_changes(&d->options) < 0)
		status = EXIT_RUNNER;
	if (d->options.strict && d->lost)
		status = err_status(EXIT_RUNNER, "%llu operations or process events were lost (--strict)",
			(unsigned long long)d->lost);
	return status;
}

int run_command(int argc, char **argv)
{
	struct run run = { .daemon = { .ready_fd = -1 }, .top_fd = -1 };
	struct daemon *d = &run.daemon;
	int status;

	if (options_parse_run(argc, argv, &d->options, &status) == 0 &&
		(!d->options.top || run_top_fork(&d->options, top_waits, &run.top_fd, &status))) {
		status = find_place(d);
		if (status == 0)
			status = take_notes(&run);
		if (status == 0)
			status = take_layers(&run);
		if (status == 0)
			status = take_origin(&run);
		status = status == 0 ? run_and_report(&run) : EXIT_RUNNER;
		notes_finish(&run.notes);
		preload_destroy(d->preload);
		free(d->cwd);
		free(d->command);
	}
	options_finish(&d->options);
	return status;
}
