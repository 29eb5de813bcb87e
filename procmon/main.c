/* SPDX-License-Identifier: MIT */

/* procmon: profiles the processes of a command into a trace, without any mount. */

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/err.h"
#include "base/failure.h"
#include "base/progress.h"
#include "base/rights.h"
#include "base/wrap.h"
#include "db/event.h"
#include "db/facts.h"
#include "db/origin.h"
#include "db/recording.h"
#include "db/writer.h"
#include "procmon/monitor.h"
#include "preload/preload.h"
#include "procmon/options.h"
#include "serve/serve.h"

#define RING_SLOTS 16384 /* of 128 bytes each */
#define CALL_SLOTS 65536 /* with system calls */

struct run {
	const struct options *options;
	struct recording recording;
	struct serve *serve; /* NULL: none */
	struct monitor *monitor;
	struct spawn *command;
	struct preload *preload; /* NULL: no layer is recorded */
	struct origin origin;
	const char *ours[3];	 /* places that are not recorded */
	void (*on_file_limit)(int); /* the disposition of SIGXFSZ that we inherited */
};

/* ---- the trace ---- */

static int open_trace(struct run *run)
{
	const struct options *o = run->options;

	struct failure failure = { 0 };
	int status = recording_open(&run->recording, &(struct recording_options){ .db = o->db, .force = o->force,
		.slots = o->in_kernel || o->by_preload ? CALL_SLOTS : RING_SLOTS, .totals = o->listen, .metrics = o->metrics,
		.interval_ns = o->interval_ns });

	if (status == 0 && o->listen)
		serve_open(o->listen, &run->serve, &failure);
	return status ? status : failure_status(&failure);
}

/* What procmon needs after it has forked the command: to pass signals on, to write the trace wherever it lies, and to
 * schedule its threads. */
#define RIGHTS_KEPT (RIGHT(CAP_DAC_OVERRIDE) | RIGHT(CAP_DAC_READ_SEARCH) | RIGHT(CAP_KILL) | RIGHT(CAP_SYS_NICE))

static int start_in_kernel(struct run *run)
{
	struct failure failure = { 0 };

	monitor_start_in_kernel(&(struct monitor_in_kernel){ .ring = run->recording.ring,
		.env = run->options->env.word, .command = run->command, .rights = RIGHTS_KEPT }, &run->monitor, &failure);
	return failure.code ? err_status(EXIT_RUNNER, "%s", failure.text) : 0;
}

static int complain_monitor(const struct run *run, int error)
{
	enum monitor_source source = run->options->processes == MONITOR_PTRACE
		? MONITOR_SOURCE_PTRACE : MONITOR_SOURCE_CONNECTOR;

	return err_status(EXIT_RUNNER, "cannot follow processes: %s",
		monitor_explain(source, error));
}

static int start_monitor(struct run *run)
{
	const struct options *o = run->options;
	int r;

	if (o->in_kernel)
		return start_in_kernel(run);
	r = monitor_start(&(struct monitor_options){ .ring = run->recording.ring, .env = o->env.word,
		.processes = o->processes, .command = true }, &run->monitor);

	return r < 0 ? complain_monitor(run, r) : 0;
}

static void sync_monitor(void *arg)
{
	monitor_sync(((struct run *)arg)->monitor);
}

static uint64_t events_lost(void *arg)
{
	return monitor_lost(((struct run *)arg)->monitor);
}

static uint64_t ops_lost(void *arg)
{
	const struct run *run = arg;

	return monitor_ops_lost(run->monitor) + preload_count(run->preload).lost;
}

static uint64_t waited_ns(void *arg)
{
	return preload_count(((struct run *)arg)->preload).waited_ns;
}

static int put_facts(void *arg, struct store *store)
{
	return monitor_put_facts(((struct run *)arg)->monitor, store);
}

static bool may_wait(void *arg)
{
	return monitor_may_wait(((struct run *)arg)->monitor);
}

static void set_watched(void *arg, bool is_watched)
{
	monitor_set_watched(((struct run *)arg)->monitor, is_watched);
}

static uint64_t left(void *arg)
{
	return monitor_left(((struct run *)arg)->monitor);
}

static int start_server(struct run *run)
{
	struct failure failure = { 0 };

	if (run->serve && serve_start(run->serve, run->recording.totals, &failure) < 0)
		return failure_status(&failure);
	if (serve_chosen(run->serve))
		err_print("metrics are at http://%s/metrics", serve_chosen(run->serve));
	return 0;
}

static int start_writer(struct run *run)
{
	const struct options *o = run->options;
	cleanup_free char *command = cli_join(o->command), *cwd = getcwd(NULL, 0);
	struct facts facts = { .command = command, .cwd = cwd, .options = o->text, .job = o->job, .xform = o->xform,
		.process_tier = monitor_tier(run->monitor), .layers = o->layers ? o->layers_text : NULL, .origin = &run->origin };
	struct writer_options writer = { .sync = sync_monitor, .events_lost = events_lost, .ops_lost = ops_lost,
		.waited_ns = waited_ns, .put_facts = put_facts, .arg = run };
	int r;

	if (!command || (!cwd && errno == ENOMEM))
		return err_status(EXIT_RUNNER, "out of memory");
	if (o->in_kernel)
		writer.may_wait = may_wait;
	if (o->in_kernel || o->by_preload) {
		facts.files = o->in_kernel ? "kernel" : "preload";
		facts.fidelity = event_fidelity_names[FIDELITY_CALL];
		writer.set_watched = set_watched;
		writer.record.ops = true;
		writer.record.probe = monitor_probe_path;
		writer.record.paths.source = "/";
	}
	writer.record.paths.ours = run->ours;
	writer.record.start_ns = monitor_began_ns(run->monitor);
	if (recording_start(&run->recording, &facts, &writer) < 0)
		return EXIT_RUNNER;
	if (start_server(run))
		return EXIT_RUNNER;
	r = run->preload ? preload_start(run->preload, run->recording.ring) : 0;
	return r < 0 ? err_status(EXIT_RUNNER, "cannot start a thread: %s", strerror(-r)) : 0;
}

/* ---- rights ---- */

/*
 * The capabilities that procmon needs after it has forked the command: to read /proc of other
 * users' processes and to listen to the kernel, to raise its scheduling priority, to pass signals
 * on, and to write the trace wherever it lies. It executes nothing any more.
 */
static int give_up_rights(const struct run *run)
{
	int r = run->options->in_kernel ? 0 /* when the programs are loaded */ : rights_keep(RIGHT(CAP_DAC_OVERRIDE) | RIGHT(CAP_DAC_READ_SEARCH) | RIGHT(CAP_KILL) |
		RIGHT(CAP_NET_ADMIN) | RIGHT(CAP_SYS_NICE) | RIGHT(CAP_SYS_PTRACE), true);

	return r < 0 ? err_status(EXIT_RUNNER, "cannot give up capabilities: %s", strerror(-r)) : 0;
}

/* ---- the command ---- */

/* Before the command is forked, because it inherits the environment. */
static int take_origin(struct run *run)
{
	int r = origin_begin(&run->origin);

	return r < 0 ? err_status(EXIT_RUNNER, "cannot name the run: %s", strerror(-r)) : 0;
}

/* As above. */
static int take_layers(struct run *run)
{
	struct failure failure = { 0 };

	if (!run->options->layers && !run->options->by_preload)
		return 0;
	if (preload_prepare(&(struct preload_options){ .layers = run->options->layers, .files = run->options->by_preload,
			.detail_above_ns = run->options->detail_above_ns }, &run->preload, &failure) < 0)
		return err_status(EXIT_RUNNER, "%s", failure.text);
	run->ours[0] = preload_directory(run->preload);
	run->ours[1] = preload_object(run->preload);
	return 0;
}

static int spawn_command(struct run *run)
{
	int r;

	/*
	 * procmon ignores SIGXFSZ, so that a limit fails its own writes with EFBIG. The command
	 * gets the disposition that we inherited.
	 */
	signal(SIGXFSZ, run->on_file_limit);
	r = monitor_spawn(run->options->command, NULL, NULL, &run->command);
	signal(SIGXFSZ, SIG_IGN);
	signal(SIGPIPE, SIG_IGN);
	return r < 0 ? err_status(EXIT_RUNNER, "cannot start a process: %s", strerror(-r)) : 0;
}

static int run_command(struct run *run)
{
	const struct options *o = run->options;
	int wait_status = EXIT_RUNNER << 8;
	int r = monitor_run(run->monitor, run->command,
		&(struct monitor_run){ .wait_ms = o->wait_ms }, &wait_status);

	if (r < 0) {
		err_print("cannot run '%s': %s", o->command[0], strerror(-r));
		recording_abandon(&run->recording);
	}
	writer_exit_status(run->recording.writer, cli_exit_status(wait_status));
	return cli_exit_status(wait_status);
}

/* ---- the end ---- */

static void warn(const struct run *run)
{
	const char *suppressed = monitor_unprivileged(run->monitor);
	uint64_t lost = monitor_lost(run->monitor), ops = monitor_ops_lost(run->monitor);

	if (suppressed)
		err_print("'%s' ran without the privilege of its setuid or setgid bit, because ptrace "
			  "removes it; use --processes connector", suppressed);
	if (lost)
		err_print("the kernel dropped process events (%llu times); procmon searched /proc for "
			  "them", (unsigned long long)lost);
	if (ops)
		err_print("the kernel dropped %llu records, because its buffer was full; the trace lacks them",
			(unsigned long long)ops);
}

static int finish(struct run *run, int status)
{
	struct progress *progress = run->recording.writer ? progress_start(left, run) : NULL;
	int r;

	monitor_discard(run->command);
	writer_begin_end(run->recording.writer);
	monitor_finish(run->monitor); /* pushes the last events, so before the writer stops */
	preload_finish(run->preload);
	r = recording_stop(&run->recording);
	progress_stop(progress);
	if (run->monitor)
		warn(run);
	monitor_stop(run->monitor);
	serve_close(run->serve);
	recording_close(&run->recording);
	preload_destroy(run->preload);
	return r < 0 && status == 0 ? EXIT_RUNNER : status;
}

static int profile(const struct options *options)
{
	struct run run = { .options = options, .on_file_limit = signal(SIGXFSZ, SIG_IGN) };
	int status = open_trace(&run);

	if (status == 0)
		status = take_layers(&run);
	if (status == 0)
		status = take_origin(&run);
	if (status == 0)
		status = spawn_command(&run);
	if (status == 0)
		status = give_up_rights(&run);
	if (status == 0)
		status = start_monitor(&run);
	if (status == 0)
		status = start_writer(&run);
	if (status == 0)
		status = run_command(&run);
	else
		status = EXIT_RUNNER;
	return finish(&run, status);
}

/* ---- --check ---- */

static void put_source(const char *name, bool works, const char *reason)
{
	char head[64];

	snprintf(head, sizeof(head), "%-10s %s", name, works ? "yes" : "no: ");
	wrap_print(stdout, head, "           ", works ? "" : reason);
}

static int print_source(const char *name, enum monitor_source source)
{
	int r = monitor_source_error(source);

	put_source(name, r == 0, r == 0 ? NULL : monitor_explain(source, r));
	return r;
}

static void check_kernel(void)
{
	struct failure failure = { 0 };
	bool works = monitor_explain_kernel(&failure) == 0;

	put_source("kernel", works, failure.text);
}

static int check(void)
{
	bool ptrace = print_source("ptrace", MONITOR_SOURCE_PTRACE) == 0;
	bool connector = print_source("connector", MONITOR_SOURCE_CONNECTOR) == 0;
	bool taskstats = print_source("taskstats", MONITOR_SOURCE_TASKSTATS) == 0;

	put_source("delays", taskstats && monitor_has_delays(), !taskstats ? "they need taskstats"
		: "the kernel does not time block I/O, swap and reclaim; enable it with 'sysctl kernel.task_delayacct=1'");
	check_kernel();
	printf("procmon records with %s%s\n",
		ptrace ? "ptrace" : connector ? "connector" : "nothing: it cannot run here",
		(ptrace || connector) && taskstats ? "+taskstats" : "");
	return ptrace || connector ? 0 : EXIT_RUNNER;
}

int main(int argc, char **argv)
{
	struct options options;
	int status;

	if (options_parse(argc, argv, &options, &status))
		status = options.check ? check() : profile(&options);
	options_finish(&options);
	return status;
}
