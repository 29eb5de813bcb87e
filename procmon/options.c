/* SPDX-License-Identifier: MIT */
#include "procmon/options.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/complete.h"
#include "base/err.h"
#include "db/about.h"
#include "preload/preload.h"

enum long_option {
	LONG_CHECK = 256,
	LONG_DB,
	LONG_ENV,
	LONG_FILES,
	LONG_FORCE,
	LONG_JOB,
	LONG_LAYER,
	LONG_DETAIL_ABOVE,
	LONG_METRICS,
	LONG_METRICS_INTERVAL,
	LONG_METRICS_LISTEN,
	LONG_PROCESSES,
	LONG_WAIT,
	LONG_XFORM,
};

static const struct option long_options[] = {
	{ "check", no_argument, NULL, LONG_CHECK },
	{ "db", required_argument, NULL, LONG_DB },
	{ "output", required_argument, NULL, 'o' },
	{ "env", required_argument, NULL, LONG_ENV },
	{ "files", required_argument, NULL, LONG_FILES },
	{ "force", no_argument, NULL, LONG_FORCE },
	{ "job", required_argument, NULL, LONG_JOB },
	{ "layer", required_argument, NULL, LONG_LAYER },
	{ "detail-above", required_argument, NULL, LONG_DETAIL_ABOVE },
	{ "metrics", required_argument, NULL, LONG_METRICS },
	{ "metrics-interval", required_argument, NULL, LONG_METRICS_INTERVAL },
	{ "metrics-listen", required_argument, NULL, LONG_METRICS_LISTEN },
	{ "processes", required_argument, NULL, LONG_PROCESSES },
	{ "wait", required_argument, NULL, LONG_WAIT },
	{ "xform", required_argument, NULL, LONG_XFORM },
	{ "help", no_argument, NULL, 'h' },
	{ "version", no_argument, NULL, 'V' },
	{ NULL, 0, NULL, 0 },
};

static const char help[] =
"Usage: procmon [options] [--] COMMAND...\n"
"       procmon --check\n"
"\n"
"Runs COMMAND and records each of its processes in trace.db: parent, program,\n"
"start and end, exit status, resource usage. Its exit status is that of COMMAND.\n"
"\n"
"  -o, --output FILE, --db FILE   the trace (default: trace.db in the current\n"
"                       directory)\n"
"      --force          replace an existing trace\n"
"      --files SOURCE   none: processes only (default); kernel: also each of\n"
"                       their system calls that concerns files, by programs in\n"
"                       the kernel (needs CAP_BPF and CAP_PERFMON); preload:\n"
"                       also their calls of libc that reach files, by an object\n"
"                       in the programs\n"
"      --layer LAYERS   also record calls of libraries, by an object that is\n"
"                       preloaded into programs: lib: those of libc on files and\n"
"                       streams; mpi: those of MPI-IO; or both, lib,mpi\n"
"      --detail-above TIME  of --layer: a row for each call that takes longer,\n"
"                       like 10us; others are added up, which costs far less\n"
"      --metrics FILE   write counters and histograms there during the run:\n"
"                       OpenMetrics; FILE.prom: for Prometheus' node exporter\n"
"      --metrics-listen ADDRESS:PORT  the same for programs that ask by HTTP;\n"
"                       or unix:PATH. Without ADDRESS: for this machine only\n"
"      --metrics-interval SECONDS  how often (default 10), and how long the\n"
"                       intervals of the view metric are (default 1)\n"
"      --env PATTERN    store environment variables that match (repeatable)\n"
"      --job ID         the job that all processes belong to\n"
"      --xform NAME     the kind of that job\n"
"      --processes HOW  ptrace: misses no process, needs no privilege;\n"
"                       connector: the kernel reports processes, COMMAND runs\n"
"                       unmodified; auto: the first that works (default)\n"
"      --wait SECONDS   how long to wait for processes that outlive COMMAND;\n"
"                       inf: without limit (default 10)\n"
"      --check          print what can be recorded here, and how to enable the\n"
"                       rest\n"
"\n"
CLI_COMPLETE_HELP
"  -h, --help           print this\n"
"  -V, --version        print the version\n"
"\n"
"See procmon(1), and ftrac-db(5) for what the trace holds.\n";

static const char *const files_of[] = { "none", "kernel", "preload", NULL };
static const char *const layers[] = { "lib", "mpi", NULL };
static const char *const details[] = { "10us", "100us", "1ms", NULL };
static const char *const processes[] = { "auto", "ptrace", "connector", "kernel", NULL };
static const char *const waits[] = { "inf", NULL };

static const struct complete_value values[] = {
	{ "db", COMPLETE_FILE, false, NULL, NULL },
	{ "output", COMPLETE_FILE, false, NULL, NULL },
	{ "metrics", COMPLETE_FILE, false, NULL, NULL },
	{ "files", COMPLETE_WORDS, false, files_of, NULL },
	{ "layer", COMPLETE_WORDS, true, layers, NULL },
	{ "detail-above", COMPLETE_WORDS, false, details, NULL },
	{ "processes", COMPLETE_WORDS, false, processes, NULL },
	{ "wait", COMPLETE_WORDS, false, waits, NULL },
	{ NULL, COMPLETE_WORDS, false, NULL, NULL },
};

static void print_help(void)
{
	fputs(help, stdout);
}

static int parse_processes(struct options *options, const char *text)
{
	options->kernel_processes = strcmp(text, "kernel") == 0;
	if (options->kernel_processes)
		return 0;
	if (monitor_parse_processes(text, &options->processes) < 0)
		return err_status(EXIT_RUNNER, "invalid value '%s' for --processes (auto, ptrace or "
			"connector)", text);
	if (options->processes == MONITOR_INBAND)
		return err_status(EXIT_RUNNER, "--processes inband needs a mount; use --processes auto");
	return 0;
}

static int parse_files(struct options *options, const char *text)
{
	options->in_kernel = strcmp(text, "kernel") == 0;
	options->by_preload = strcmp(text, "preload") == 0;
	if (options->in_kernel || options->by_preload || strcmp(text, "none") == 0)
		return 0;
	return err_status(EXIT_RUNNER, "invalid value '%s' for --files (none, kernel or preload)", text);
}

static int parse_detail(struct options *options, const char *text)
{
	if (preload_parse_detail(text, &options->detail_above_ns) == 0)
		return 0;
	return err_status(EXIT_RUNNER, "invalid value '%s' for --detail-above (a time with its unit, like 10us: ns, us, ms or s)", text);
}

static int parse_layers(struct options *options, const char *text)
{
	options->layers_text = text;
	if (preload_parse(text, &options->layers) == 0)
		return 0;
	return err_status(EXIT_RUNNER, "invalid value '%s' for --layer (lib, mpi)", text);
}

static int parse_interval(struct options *options, const char *text)
{
	if (cli_parse_interval(text, &options->interval_ns) == 0)
		return 0;
	return err_status(EXIT_RUNNER, "invalid value '%s' for --metrics-interval (seconds from 0.1 to 86400)", text);
}

static int parse_wait(struct options *options, const char *text)
{
	if (cli_parse_wait(text, &options->wait_ms) == 0)
		return 0;
	return err_status(EXIT_RUNNER,
		"invalid value '%s' for --wait (a number of seconds from 0 on, or inf)", text);
}

static int apply(struct options *o, int option)
{
	switch (option) {
	case LONG_CHECK: o->check = true; return 0;
	case LONG_DB:
	case 'o': o->db = optarg; return 0;
	case LONG_ENV: return words_add(&o->env, optarg);
	case LONG_FILES: return parse_files(o, optarg);
	case LONG_FORCE: o->force = true; return 0;
	case LONG_JOB: o->job = optarg; return 0;
	case LONG_LAYER: return parse_layers(o, optarg);
	case LONG_DETAIL_ABOVE: return parse_detail(o, optarg);
	case LONG_METRICS: o->metrics = optarg; return 0;
	case LONG_METRICS_LISTEN: o->listen = optarg; return 0;
	case LONG_METRICS_INTERVAL: return parse_interval(o, optarg);
	case LONG_PROCESSES: return parse_processes(o, optarg);
	case LONG_WAIT: return parse_wait(o, optarg);
	case LONG_XFORM: o->xform = optarg; return 0;
	default: return -1;
	}
}

static int take_command(struct options *options, char **argv)
{
	options->command = argv + optind;
	if (options->check && *options->command)
		return err_status(EXIT_RUNNER, "--check takes no command: leave '%s' out",
			*options->command);
	if (!options->check && !*options->command)
		return err_status(EXIT_RUNNER, "no command given; see 'procmon --help'");
	if (options->detail_above_ns && !options->layers)
		return err_status(EXIT_RUNNER, "--detail-above says which calls of libraries have rows; add --layer lib or mpi");
	if (options->kernel_processes && !options->in_kernel)
		return err_status(EXIT_RUNNER, "--processes kernel goes with --files kernel; use --processes auto");
	if (options->in_kernel && options->processes != MONITOR_AUTO)
		return err_status(EXIT_RUNNER, "--files kernel records the processes in the kernel, too; leave --processes "
			"out");
	return 0;
}

bool options_parse(int argc, char **argv, struct options *ret_options, int *ret_status)
{
	static const struct completions completions = { values, NULL, COMPLETE_COMMAND };
	static const struct cli cli = { .name = "procmon", .options = long_options, .print_help = print_help, .completions = &completions };
	int option, status = 0;

	*ret_options = (struct options){ .db = "trace.db", .wait_ms = CLI_WAIT_MS };
	if (complete_answer(&cli, argc, argv, cli.name)) {
		*ret_status = cli_printed();
		return false;
	}
	ret_options->text = cli_join(argv + 1);
	opterr = 0;
	while (status == 0 && (option = getopt_long(argc, argv, "+:ho:V", long_options, NULL)) >= 0) {
		if (option == 'h' || option == 'V') {
			if (option == 'h')
				print_help();
			else
				about_print("procmon");
			*ret_status = 0;
			return false;
		}
		status = option == '?' || option == ':' ? cli_complain("procmon", argv, option)
							 : apply(ret_options, option);
	}
	if (status == 0)
		status = take_command(ret_options, argv);
	*ret_status = status ? EXIT_RUNNER : 0;
	return status == 0;
}

void options_finish(struct options *options)
{
	words_free(&options->env);
	free(options->text);
}
