/* SPDX-License-Identifier: MIT */
#include "ftrac/options.h"

#include <errno.h>
#include <getopt.h>
#include <mntent.h>
#include <pwd.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/complete.h"
#include "base/err.h"
#include "base/vector.h"
#include "db/about.h"
#include "preload/preload.h"

enum { STOP = 1 };

enum long_option {
	LONG_DB = 256,
	LONG_FORCE,
	LONG_FIDELITY,
	LONG_STAT,
	LONG_INCLUDE,
	LONG_EXCLUDE,
	LONG_NO_OPS,
	LONG_NO_RECORD,
	LONG_DROP,
	LONG_ENV,
	LONG_JOB,
	LONG_XFORM,
	LONG_PROCESSES,
	LONG_LOCKS,
	LONG_IO_URING,
	LONG_SCOPE,
	LONG_USER,
	LONG_WAIT,
	LONG_MAKE,
	LONG_NO_MAKE,
	LONG_FILES,
	LONG_LAYER,
	LONG_DETAIL_ABOVE,
	LONG_STRICT,
	LONG_ALL,
	LONG_PID,
	LONG_CGROUP,
	LONG_FOR,
	LONG_CHANGES,
	LONG_IN_TOTO,
	LONG_METRICS,
	LONG_METRICS_INTERVAL,
	LONG_METRICS_LISTEN,
	LONG_TOP,
	LONG_LIKE,
};

/* Options of both the mount and ftrac run. */
#define RECORDING                                                    \
	{ "db", required_argument, NULL, LONG_DB },                  \
	{ "output", required_argument, NULL, LONG_DB },              \
	{ "force", no_argument, NULL, LONG_FORCE },                  \
	{ "fidelity", required_argument, NULL, LONG_FIDELITY },      \
	{ "stat", no_argument, NULL, LONG_STAT },                    \
	{ "include", required_argument, NULL, LONG_INCLUDE },        \
	{ "exclude", required_argument, NULL, LONG_EXCLUDE },        \
	{ "no-ops", no_argument, NULL, LONG_NO_OPS },                \
	{ "drop", no_argument, NULL, LONG_DROP },                    \
	{ "env", required_argument, NULL, LONG_ENV },                \
	{ "job", required_argument, NULL, LONG_JOB },                \
	{ "xform", required_argument, NULL, LONG_XFORM },            \
	{ "processes", required_argument, NULL, LONG_PROCESSES },    \
	{ "metrics", required_argument, NULL, LONG_METRICS },        \
	{ "metrics-interval", required_argument, NULL, LONG_METRICS_INTERVAL }, \
	{ "metrics-listen", required_argument, NULL, LONG_METRICS_LISTEN }, \
	{ "locks", required_argument, NULL, LONG_LOCKS },            \
	{ "io-uring", required_argument, NULL, LONG_IO_URING },      \
	{ "help", no_argument, NULL, 'h' },                          \
	{ "version", no_argument, NULL, 'V' }

static const struct option mount_options[] = {
	RECORDING,
	{ "no-record", no_argument, NULL, LONG_NO_RECORD },
	{ NULL, 0, NULL, 0 },
};

static const struct option run_options[] = {
	RECORDING,
	{ "scope", required_argument, NULL, LONG_SCOPE },
	{ "user", required_argument, NULL, LONG_USER },
	{ "wait", required_argument, NULL, LONG_WAIT },
	{ "make", no_argument, NULL, LONG_MAKE },
	{ "no-make", no_argument, NULL, LONG_NO_MAKE },
	{ "files", required_argument, NULL, LONG_FILES },
	{ "layer", required_argument, NULL, LONG_LAYER },
	{ "detail-above", required_argument, NULL, LONG_DETAIL_ABOVE },
	{ "strict", no_argument, NULL, LONG_STRICT },
	{ "quiet", no_argument, NULL, 'q' },
	{ "changes", no_argument, NULL, LONG_CHANGES },
	{ "in-toto", required_argument, NULL, LONG_IN_TOTO },
	{ "top", no_argument, NULL, LONG_TOP },
	{ "like", required_argument, NULL, LONG_LIKE },
	{ NULL, 0, NULL, 0 },
};

static const struct option record_options[] = {
	{ "all", no_argument, NULL, LONG_ALL },
	{ "pid", required_argument, NULL, LONG_PID },
	{ "cgroup", required_argument, NULL, LONG_CGROUP },
	{ "for", required_argument, NULL, LONG_FOR },
	{ "db", required_argument, NULL, LONG_DB },
	{ "output", required_argument, NULL, LONG_DB },
	{ "force", no_argument, NULL, LONG_FORCE },
	{ "scope", required_argument, NULL, LONG_SCOPE },
	{ "include", required_argument, NULL, LONG_INCLUDE },
	{ "exclude", required_argument, NULL, LONG_EXCLUDE },
	{ "no-ops", no_argument, NULL, LONG_NO_OPS },
	{ "metrics", required_argument, NULL, LONG_METRICS },
	{ "metrics-interval", required_argument, NULL, LONG_METRICS_INTERVAL },
	{ "metrics-listen", required_argument, NULL, LONG_METRICS_LISTEN },
	{ "env", required_argument, NULL, LONG_ENV },
	{ "job", required_argument, NULL, LONG_JOB },
	{ "xform", required_argument, NULL, LONG_XFORM },
	{ "strict", no_argument, NULL, LONG_STRICT },
	{ "quiet", no_argument, NULL, 'q' },
	{ "help", no_argument, NULL, 'h' },
	{ "version", no_argument, NULL, 'V' },
	{ NULL, 0, NULL, 0 },
};

/* Of several command lines. */
#define DB_HELP \
"      --db FILE, --output FILE   the trace (default: trace.db in the current\n" \
"                       directory); -o FILE in ftrac run and ftrac record\n" \
"      --force          replace an existing trace\n"
#define STAT_HELP \
"      --stat           record every stat: the kernel caches no names and\n" \
"                       attributes\n"
#define KEPT_HELP \
"      --include GLOB   record only paths that match (repeatable)\n" \
"      --exclude GLOB   do not record paths that match (repeatable)\n" \
"      --no-ops         record which process used which file, but no single\n" \
"                       operations\n"
#define METRICS_HELP \
"      --metrics FILE   write counters and histograms there during the run:\n" \
"                       OpenMetrics; FILE.prom: for Prometheus' node exporter\n" \
"      --metrics-listen ADDRESS:PORT  the same for programs that ask by HTTP;\n" \
"                       or unix:PATH. Without ADDRESS: for this machine only\n" \
"      --metrics-interval SECONDS  how often (default 10), and how long the\n" \
"                       intervals of the view metric are (default 1)\n"
#define DROP_HELP \
"      --drop           if recording cannot keep up, drop operations instead of\n" \
"                       delaying programs\n"
#define TRACE_HELP \
"      --env PATTERN    store environment variables that match (repeatable)\n" \
"      --job ID         the job that all processes belong to\n" \
"      --xform NAME     the kind of that job\n"
#define END_HELP \
"\n" \
CLI_COMPLETE_HELP \
"  -h, --help           print this\n" \
"  -V, --version        print the version\n" \
"\n" \
"See ftrac(1), and ftrac-db(5) for what the trace holds.\n"

static const char help[] =
"Usage: ftrac [options] [SOURCE] MOUNTPOINT\n"
"       ftrac run [options] COMMAND...       see ftrac run --help\n"
"       ftrac record [options]               processes that run already\n"
"       ftrac top [TRACE]                    a run that goes on\n"
"       ftrac umount MOUNTPOINT              unmount, and wait for the trace\n"
"       ftrac doctor                         print what can be traced here\n"
"       ftrac merge -o FILE TRACE...         make one trace of several\n"
"       ftrac redact -o FILE TRACE           make a trace without names\n"
"       ftrac import --FORMAT -o FILE FILE...  make one of what others recorded\n"
"       ftrac replay [options] TRACE         its operations once more, as a load\n"
"       ftrac wait [options] [TRACE]         until something is true of a run\n"
"\n"
"Mirrors / at MOUNTPOINT and records in trace.db which process does what to which\n"
"file there. Runs in the background once the mount works; 'fusermount3 -u\n"
"MOUNTPOINT' ends it.\n"
"\n"
"  -o source=DIR        mirror DIR instead of /\n"
"  -o OPTIONS           mount options, see mount.fuse3(8)\n"
"  -f                   stay in the foreground\n"
"  -d                   like -f, and print each request\n"
"\n"
DB_HELP
"      --fidelity MODE  exact: record each read and write as the program does it\n"
"                       (default if the kernel supports it); cached: record the\n"
"                       reads and writes of the page cache, faster; open: record\n"
"                       opens only, data at native speed (root, Linux 6.9);\n"
"                       call: like open, and programs in the kernel record each\n"
"                       call on an open file\n"
STAT_HELP
KEPT_HELP
METRICS_HELP
"      --no-record      mirror only, write no trace\n"
DROP_HELP
TRACE_HELP
"      --locks WHERE    kernel: file locks exclude programs inside the mount only\n"
"                       (default); native: also programs outside\n"
"      --io-uring WHEN  transport of requests: auto: io_uring where it works and\n"
"                       is safe (default); on: always; off: never\n"
"      --processes HOW  connector: the kernel reports processes; inband: ftrac\n"
"                       reads /proc during requests; auto: the first that works\n"
"                       (default)\n"
END_HELP;

static const char run_help[] =
"Usage: ftrac run [options] [--] COMMAND...\n"
"\n"
"Runs COMMAND in the current directory and records in trace.db which process does\n"
"what to which file. COMMAND gets a private view of the file system, in which the\n"
"current directory, /tmp and $TMPDIR go through ftrac. The exit status is that\n"
"of COMMAND.\n"
"Nothing stays mounted.\n"
"\n"
"      --scope PATH     the directory to trace; 'dir': the current one; 'full':\n"
"                       the whole file system (repeatable; default: dir, /tmp\n"
"                       and $TMPDIR, with --files kernel and preload full)\n"
"      --files SOURCE   mount: a mount in which COMMAND works (default); kernel:\n"
"                       programs in the kernel, COMMAND runs natively; auto:\n"
"                       kernel where that is possible, else mount; both: names\n"
"                       by a mount, data by programs in the kernel\n"
"                       (--fidelity call); preload: an object in each program,\n"
"                       COMMAND runs natively, without privileges\n"
"      --layer LAYERS   also record calls of libraries, by an object that is\n"
"                       preloaded into programs: lib: those of libc on files and\n"
"                       streams; mpi: those of MPI-IO; or both, lib,mpi\n"
"      --detail-above TIME  of --layer: a row for each call that takes longer,\n"
"                       like 10us; others are added up, which costs far less\n"
"      --user NAME      run COMMAND as another user (root only)\n"
"      --wait SECONDS   how long to wait for processes that outlive COMMAND;\n"
"                       then ftrac ends them; inf: without limit (default 10)\n"
"      --make           record targets and prerequisites of each make, for the\n"
"                       names of steps and 'wfdag check' (default if COMMAND is\n"
"                       make)\n"
"      --no-make        do not\n"
"      --strict         exit with 125 if anything could not be recorded\n"
"      --changes        print what COMMAND created, changed, renamed and removed,\n"
"                       as 'wfdag changes' does\n"
"      --in-toto FILE   write a statement of what COMMAND made, and of what, with\n"
"                       checksums: in-toto, SLSA provenance\n"
"      --top            show the run on the full screen while it goes on; what\n"
"                       COMMAND prints to the terminal comes after that\n"
"      --like TRACE     with --top: of an earlier run, by which the screen shows\n"
"                       how many jobs are to come, and when the run will end\n"
"  -q, --quiet          print no summary, and no line while COMMAND runs\n"
"\n"
DB_HELP
"      --fidelity MODE  exact, cached, open or call, see ftrac --help\n"
STAT_HELP
KEPT_HELP
METRICS_HELP
DROP_HELP
TRACE_HELP
"      --locks WHERE    kernel or native, see ftrac --help\n"
"      --io-uring WHEN  auto, on or off, see ftrac --help\n"
"      --processes HOW  ptrace: misses no process; connector: COMMAND runs\n"
"                       unmodified; inband: ftrac reads /proc during requests;\n"
"                       auto: the first that works (default)\n"
"\n"
"--fidelity, --stat, --drop, --processes, --locks and --io-uring say how a mount\n"
"works, and do not go with --files kernel; of them only --drop and --processes go\n"
"with --files preload.\n"
END_HELP;

static const char record_help[] =
"Usage: ftrac record --all | --pid PID... | --cgroup DIR [options]\n"
"\n"
"Records in trace.db what processes do that run already, and what they start, by\n"
"programs in the kernel: every system call that concerns files, pipes and\n"
"sockets, and every fork, exec and exit. Nothing about the processes changes.\n"
"Ends with Ctrl-C (or SIGTERM), after the time of --for, or when the processes\n"
"of --pid have ended. Needs root.\n"
"\n"
"      --all            all processes of this machine\n"
"      --pid PID        this process and its descendants (repeatable)\n"
"      --cgroup DIR     the processes in this control group of version 2, also\n"
"                       those that enter it later: a container, a service\n"
"      --for SECONDS    end after this time\n"
"      --scope PATH     record only what is below this directory (repeatable)\n"
"      --strict         exit with 3 if anything could not be recorded\n"
"  -q, --quiet          print no summary\n"
"\n"
DB_HELP
KEPT_HELP
METRICS_HELP
TRACE_HELP
END_HELP;

static const char *const locks_of[] = { "kernel", "native", NULL };
static const char *const io_urings[] = { "auto", "on", "off", NULL };
static const char *const fidelities[] = { "exact", "cached", "open", "call", NULL };
static const char *const mount_processes[] = { "auto", "connector", "inband", NULL };
static const char *const run_processes[] = { "auto", "ptrace", "connector", "inband", "kernel", NULL };
static const char *const scopes[] = { "dir", "full", NULL };
static const char *const waits[] = { "inf", NULL };
static const char *const files_of[] = { [RUN_FILES_MOUNT] = "mount", [RUN_FILES_KERNEL] = "kernel", [RUN_FILES_AUTO] = "auto",
	[RUN_FILES_BOTH] = "both", [RUN_FILES_PRELOAD] = "preload", NULL };
static const char *const layers[] = { "lib", "mpi", NULL };
static const char *const details[] = { "10us", "100us", "1ms", NULL };

static int parse_fidelity(struct options *options, const char *text)
{
	int fidelity = event_parse_fidelity(text);

	if (fidelity < 0)
		return err_status(EXIT_USAGE,
			"invalid value '%s' for --fidelity (exact, cached, open or call)", text);
	options->fidelity_given = true;
	options->fidelity = fidelity;
	return 0;
}

static int parse_locks(struct options *options, const char *text)
{
	options->native_locks = strcmp(text, "native") == 0;
	if (options->native_locks || strcmp(text, "kernel") == 0)
		return 0;
	return err_status(EXIT_USAGE, "invalid value '%s' for --locks (kernel or native)",
		text);
}

static int parse_io_uring(struct options *options, const char *text)
{
	if (transport_parse(text, &options->io_uring) == 0)
		return 0;
	return err_status(EXIT_USAGE, "invalid value '%s' for --io-uring (auto, on or off)", text);
}

static int parse_processes(struct options *options, const char *text)
{
	int r = monitor_parse_processes(text, &options->processes);

	options->kernel_processes = options->command && strcmp(text, "kernel") == 0;
	if (options->kernel_processes)
		return 0;
	if (r < 0)
		return err_status(EXIT_USAGE, "invalid value '%s' for --processes (auto, %sconnector or "
			"inband)", text, options->command ? "ptrace, " : "");
	if (options->processes == MONITOR_PTRACE && !options->command)
		return err_status(EXIT_USAGE, "--processes ptrace works with 'ftrac run' only; use "
			"--processes auto");
	return 0;
}

static int add_fuse_option(struct options *options, const char *text)
{
	if (fuse_opt_add_arg(&options->fuse, "-o") < 0 ||
		fuse_opt_add_arg(&options->fuse, text) < 0)
		return err_status(EXIT_OWN, "out of memory");
	return 0;
}

static int parse_wait(struct options *options, const char *text)
{
	if (cli_parse_wait(text, &options->wait_ms) == 0)
		return 0;
	return err_status(EXIT_USAGE,
		"invalid value '%s' for --wait (a number of seconds from 0 on, or inf)", text);
}

static int parse_for(struct options *options, const char *text)
{
	if (cli_parse_wait(text, &options->for_ms) == 0)
		return 0;
	return err_status(EXIT_USAGE, "invalid value '%s' for --for (a number of seconds from 0 on)", text);
}

static int parse_interval(struct options *options, const char *text)
{
	if (cli_parse_interval(text, &options->interval_ns) == 0)
		return 0;
	return err_status(EXIT_USAGE, "invalid value '%s' for --metrics-interval (seconds from 0.1 to 86400)", text);
}

static int add_pid(struct options *options, const char *text)
{
	char *end;
	long pid = strtol(text, &end, 10);

	if (end == text || *end || pid <= 0 || pid > INT32_MAX)
		return err_status(EXIT_USAGE, "invalid value '%s' for --pid (the number of a process)", text);
	if (vector_push(options->pids, options->n_pids, (pid_t)pid) < 0)
		return err_status(EXIT_OWN, "out of memory");
	return 0;
}

static bool is_always_real(const char *path)
{
	static const char *const real[] = { "dev", "proc", "sys" };
	size_t n = strcspn(path + 1, "/");

	for (size_t i = 0; i < sizeof(real) / sizeof(real[0]); i++)
		if (strlen(real[i]) == n && strncmp(path + 1, real[i], n) == 0)
			return strcmp(path, "/dev/shm") != 0 && strncmp(path, "/dev/shm/", 9) != 0;
	return false;
}

static int add_scope(struct options *options, const char *text)
{
	char *path = strcmp(text, "full") == 0 ? strdup("/")
		: realpath(strcmp(text, "dir") == 0 ? "." : text, NULL);

	if (!path)
		return err_status(EXIT_OWN, "cannot trace '%s': %s; name a directory with --scope", text, strerror(errno));
	return words_add(&options->scope, path);
}

static int set_cgroup(struct options *options, const char *text)
{
	free(options->cgroup);
	options->cgroup = realpath(text, NULL);
	return options->cgroup ? 0 : err_status(EXIT_OWN, "cannot use control group '%s': %s", text, strerror(errno));
}

static int check_scope_of_mount(const struct options *options)
{
	for (int i = 0; i < options->scope.n; i++)
		if (is_always_real(options->scope.word[i]))
			return err_status(EXIT_OWN, "cannot trace '%s': /dev (except /dev/shm), /proc and /sys never "
				"go through a mount of ftrac; name another directory with --scope",
				options->scope.word[i]);
	return 0;
}

/* Is the path the directory, or below it? */
static bool is_below(const char *path, const char *dir)
{
	size_t n = strlen(dir);

	return strcmp(dir, "/") == 0 || (strncmp(path, dir, n) == 0 && (!path[n] || path[n] == '/'));
}

/* Directories of temporary files, which steps hand to each other; none that is not there. */
static int add_temporary(struct options *options, const char *dir)
{
	char *path = dir && *dir ? realpath(dir, NULL) : NULL;
	struct stat st;

	if (path && stat(path, &st) == 0 && S_ISDIR(st.st_mode) && !is_always_real(path))
		return words_add(&options->scope, path);
	free(path);
	return 0;
}

static int add_default_scope(struct options *options)
{
	int status = add_scope(options, "dir");

	if (status == 0)
		status = add_temporary(options, secure_getenv("TMPDIR"));
	return status ? status : add_temporary(options, "/tmp");
}

/* Of directories of which one is in the other, the outer one is enough. */
static void drop_inner(struct words *scope)
{
	int n = 0;

	for (int i = 0; i < scope->n; i++) {
		bool is_inner = false;

		for (int j = 0; j < scope->n && !is_inner; j++)
			is_inner = i != j && scope->word[j] && is_below(scope->word[i], scope->word[j]);
		if (is_inner) {
			free((char *)scope->word[i]);
			scope->word[i] = NULL;
		}
	}
	for (int i = 0; i < scope->n; i++)
		if (scope->word[i])
			scope->word[n++] = scope->word[i];
	for (int i = n; i < scope->n; i++)
		scope->word[i] = NULL;
	scope->n = n;
}

int options_scope_of_mount(struct options *options)
{
	int status = options->scope.n ? 0 : add_default_scope(options);

	drop_inner(&options->scope);

	return status ? status : check_scope_of_mount(options);
}

static int parse_files(struct options *options, const char *text)
{
	for (int i = 0; files_of[i]; i++)
		if (strcmp(text, files_of[i]) == 0) {
			options->files = (enum run_files)i;
			return 0;
		}
	return err_status(EXIT_USAGE, "invalid value '%s' for --files (auto, kernel, mount, both or preload)", text);
}

static int parse_detail(struct options *options, const char *text)
{
	if (preload_parse_detail(text, &options->detail_above_ns) == 0)
		return 0;
	return err_status(EXIT_USAGE, "invalid value '%s' for --detail-above (a time with its unit, like 10us: ns, us, ms or s)", text);
}

static int parse_layers(struct options *options, const char *text)
{
	options->layers_text = text;
	if (preload_parse(text, &options->layers) == 0)
		return 0;
	return err_status(EXIT_USAGE, "invalid value '%s' for --layer (lib, mpi)", text);
}

/* Remembers options that say how a mount works. */
static void note_mount_only(struct options *o, int option)
{
	static const struct {
		int option;
		const char *name;
	} ours[] = {
		{ LONG_FIDELITY, "--fidelity" }, { LONG_STAT, "--stat" },
		{ LONG_LOCKS, "--locks" }, { LONG_IO_URING, "--io-uring" },
	};

	for (size_t i = 0; i < sizeof(ours) / sizeof(ours[0]); i++)
		if (ours[i].option == option)
			o->mount_only = ours[i].name;
	if (option == LONG_PROCESSES && o->processes != MONITOR_AUTO && !o->mount_only)
		o->mount_only = "--processes";
}

static int apply(struct options *o, int option)
{
	switch (option) {
	case 'o':
		if (o->takes_fuse_options)
			return add_fuse_option(o, optarg);
		o->db = optarg;
		return 0;
	case 'f': o->foreground = true; return 0;
	case 'd': o->foreground = o->debug = true; return 0;
	case LONG_DB: o->db = optarg; return 0;
	case LONG_FORCE: o->force = true; return 0;
	case LONG_FIDELITY: return parse_fidelity(o, optarg);
	case LONG_STAT: o->stat = true; return 0;
	case LONG_INCLUDE: return words_add(&o->include, optarg);
	case LONG_EXCLUDE: return words_add(&o->exclude, optarg);
	case LONG_NO_OPS: o->no_ops = true; return 0;
	case LONG_METRICS: o->metrics = optarg; return 0;
	case LONG_METRICS_LISTEN: o->listen = optarg; return 0;
	case LONG_METRICS_INTERVAL: return parse_interval(o, optarg);
	case LONG_NO_RECORD: o->no_record = true; return 0;
	case LONG_DROP: o->drop = true; return 0;
	case LONG_ENV: return words_add(&o->env, optarg);
	case LONG_JOB: o->job = optarg; return 0;
	case LONG_XFORM: o->xform = optarg; return 0;
	case LONG_LOCKS: return parse_locks(o, optarg);
	case LONG_IO_URING: return parse_io_uring(o, optarg);
	case LONG_PROCESSES: return parse_processes(o, optarg);
	case LONG_SCOPE: return add_scope(o, optarg);
	case LONG_MAKE: o->make = MAKE_YES; return 0;
	case LONG_NO_MAKE: o->make = MAKE_NO; return 0;
	case LONG_FILES: return parse_files(o, optarg);
	case LONG_LAYER: return parse_layers(o, optarg);
	case LONG_DETAIL_ABOVE: return parse_detail(o, optarg);
	case LONG_TOP: o->top = true; return 0;
	case LONG_LIKE: o->like = optarg; return 0;
	case LONG_STRICT: o->strict = true; return 0;
	case LONG_ALL: o->all = true; return 0;
	case LONG_PID: return add_pid(o, optarg);
	case LONG_CGROUP: return set_cgroup(o, optarg);
	case LONG_FOR: return parse_for(o, optarg);
	case LONG_USER: o->user = optarg; return 0;
	case LONG_WAIT: return parse_wait(o, optarg);
	case 'q': o->quiet = true; return 0;
	case LONG_CHANGES: o->changes = true; return 0;
	case LONG_IN_TOTO: o->in_toto = optarg; return 0;
	default: return -1;
	}
}

enum { KEY_REFUSED };

/* Options that libfuse accepts but ignores, or carries out without our knowledge (see
 * --io-uring). */
static int refuse(void *data, const char *word, int key, struct fuse_args *rest)
{
	(void)data;
	(void)rest;
	if (key != KEY_REFUSED)
		return 1;
	err_print("mount option '%s' is not supported; leave it out", word);
	return -1;
}

/* Options of mount(8) that other programs handle, and ours. */
static int take_mount_options(struct options *options)
{
	struct {
		char *source, *db;
	} ours = { 0 };
	const struct fuse_opt spec[] = {
		{ "source=%s", offsetof(__typeof__(ours), source), 0 },
		{ "db=%s", offsetof(__typeof__(ours), db), 0 },
		FUSE_OPT_KEY("user", FUSE_OPT_KEY_DISCARD),
		FUSE_OPT_KEY("max_read=", KEY_REFUSED),
		FUSE_OPT_KEY("auto_unmount", KEY_REFUSED),
		FUSE_OPT_KEY("io_uring", KEY_REFUSED),
		FUSE_OPT_KEY("io_uring_q_depth=", KEY_REFUSED),
		FUSE_OPT_END,
	};
	int r;

	r = fuse_opt_parse(&options->fuse, &ours, spec, refuse);
	/* Options before the refused one may have been set. */
	if (ours.source)
		options->source = ours.source;
	if (ours.db)
		options->db = options->mount_db = ours.db;
	return r < 0 ? EXIT_USAGE : 0;
}

static int check_directory(const char *what, const char *path, char **ret_path)
{
	struct stat st;
	int r;

	*ret_path = realpath(path, NULL);
	r = *ret_path && stat(*ret_path, &st) == 0 ? 0 : errno;
	if (r == ENOTCONN)
		return err_status(EXIT_OWN, "cannot use %s '%s': a mount is there whose daemon is gone; "
			"remove it with 'fusermount3 -u -z %s'", what, path, path);
	if (r)
		return err_status(EXIT_OWN, "cannot use %s '%s': %s%s", what, path, strerror(r),
			r == ENOENT ? "; make the directory first" : "");
	if (!S_ISDIR(st.st_mode))
		return err_status(EXIT_OWN, "cannot use %s '%s': it is not a directory", what, path);
	return 0;
}

/* A second mount over the first would mirror and hide the first. */
static int check_free(const char *mountpoint)
{
	cleanup_file FILE *f = setmntent("/proc/self/mounts", "r");
	struct mntent *m;

	while (f && (m = getmntent(f)))
		if (strcmp(m->mnt_dir, mountpoint) == 0 && strcmp(m->mnt_type, "fuse.ftrac") == 0)
			return err_status(EXIT_OWN, "mount point '%s' is busy: ftrac is mounted there; "
				"unmount it with 'fusermount3 -u %s'", mountpoint, mountpoint);
	return 0;
}

static int check_places(struct options *options, int argc, char **argv)
{
	char *source = options->source;
	int status;

	if (optind >= argc)
		return err_status(EXIT_USAGE, "no mount point given; see 'ftrac --help'");
	if ((options->metrics || options->listen) && options->no_record)
		return err_status(EXIT_USAGE, "%s says what is recorded; leave --no-record out", options->metrics ? "--metrics" : "--metrics-listen");
	if (optind + 2 < argc || (optind + 1 < argc && source))
		return err_status(EXIT_USAGE,
			"unexpected argument '%s': there is one mount point, '%s'", argv[argc - 1],
			argv[argc - 2]);
	if (optind + 1 < argc && !(source = strdup(argv[optind++]))) /* mount(8) calls us so */
		return err_status(EXIT_OWN, "out of memory");
	options->source = NULL;
	status = check_directory("source", source ? source : "/", &options->source);
	free(source);
	if (status == 0)
		status = check_directory("mount point", argv[optind], &options->mountpoint);
	return status ? status : check_free(options->mountpoint);
}

/* ---- completions ---- */

static void ask_users(const struct cli *cli)
{
	const struct passwd *user;

	(void)cli;
	setpwent();
	while ((user = getpwent()))
		complete_add(user->pw_name, strlen(user->pw_name), NULL);
	endpwent();
}

static void ask_verbs(const struct cli *cli)
{
	static const char *const verbs[][2] = { { "run", "trace a command" }, { "record", "trace processes that run already" },
		{ "top", "show a run that goes on" }, { "umount", "unmount, and wait for the trace" }, { "doctor", "print what can be traced here" },
		{ "merge", "make one trace of several" }, { "redact", "make a trace without names" },
		{ "replay", "do the operations of a trace once more" }, { "import", "make a trace of what others recorded" },
		{ "wait", "wait until something is true of a run" } };

	(void)cli;
	for (size_t i = 0; i < sizeof(verbs) / sizeof(verbs[0]) && !complete_word(0); i++)
		complete_add(verbs[i][0], strlen(verbs[i][0]), verbs[i][1]);
}

#define RECORDING_VALUES                                                                                              \
	{ "db", COMPLETE_FILE, false, NULL, NULL }, { "output", COMPLETE_FILE, false, NULL, NULL },                   \
		{ "metrics", COMPLETE_FILE, false, NULL, NULL },                                                 \
	{ "fidelity", COMPLETE_WORDS, false, fidelities, NULL }, { "locks", COMPLETE_WORDS, false, locks_of, NULL },  \
	{ "io-uring", COMPLETE_WORDS, false, io_urings, NULL }, { "include", COMPLETE_FILE, false, NULL, NULL },      \
	{ "exclude", COMPLETE_FILE, false, NULL, NULL }, { "scope", COMPLETE_DIRECTORY, false, scopes, NULL }

static const struct complete_value mount_values[] = {
	RECORDING_VALUES,
	{ "processes", COMPLETE_WORDS, false, mount_processes, NULL },
	{ NULL, COMPLETE_WORDS, false, NULL, NULL },
};

static const struct complete_value run_values[] = {
	RECORDING_VALUES,
	{ "like", COMPLETE_FILE, false, NULL, NULL },
	{ "processes", COMPLETE_WORDS, false, run_processes, NULL },
	{ "files", COMPLETE_WORDS, false, files_of, NULL },
	{ "layer", COMPLETE_WORDS, true, layers, NULL },
	{ "detail-above", COMPLETE_WORDS, false, details, NULL },
	{ "user", COMPLETE_WORDS, false, NULL, ask_users },
	{ "wait", COMPLETE_WORDS, false, waits, NULL },
	{ "cgroup", COMPLETE_DIRECTORY, false, NULL, NULL },
	{ NULL, COMPLETE_WORDS, false, NULL, NULL },
};

static const struct completions mount_completions = { mount_values, ask_verbs, COMPLETE_DIRECTORIES };
static const struct completions run_completions = { run_values, NULL, COMPLETE_COMMAND };
static const struct completions record_completions = { run_values, NULL, COMPLETE_NO_FILES };

/* A command line: short options, help and long options. */
struct form {
	const char *name;
	const char *letters;
	void (*print_help)(void);
	const struct option *options;
	const struct completions *completions;
};

static void print_help(void)
{
	fputs(help, stdout);
}

static void print_run_help(void)
{
	fputs(run_help, stdout);
}

static void print_record_help(void)
{
	fputs(record_help, stdout);
}

static int print_requested(int option, void (*print)(void))
{
	if (option == 'h')
		print();
	else
		about_print("ftrac");
	return cli_printed() ? EXIT_OWN : -STOP;
}

static int parse(int argc, char **argv, const struct form *form, struct options *options)
{
	const struct cli cli = { .name = "ftrac", .options = form->options, .print_help = form->print_help, .completions = form->completions };
	int option, status = 0;

	if (complete_answer(&cli, argc, argv, "ftrac"))
		return cli_printed() ? EXIT_OWN : -STOP;
	options->text = cli_join(argv + 1);
	if (!options->text || fuse_opt_add_arg(&options->fuse, "ftrac") < 0)
		return err_status(EXIT_OWN, "out of memory");
	opterr = 0;
	while (status == 0 &&
		(option = getopt_long(argc, argv, form->letters, form->options, NULL)) >= 0) {
		if (option == 'h' || option == 'V')
			return print_requested(option, form->print_help);
		status = option == '?' || option == ':' ? cli_complain(form->name, argv, option)
							 : apply(options, option);
		note_mount_only(options, option);
	}
	return status;
}

int options_parse(int argc, char **argv, struct options *options, int *ret_status)
{
	int status;

	*options = (struct options){ .db = "trace.db", .fidelity = FIDELITY_EXACT, .takes_fuse_options = true };
	status = parse(argc, argv, &(struct form){ "ftrac", ":o:fdhV", print_help, mount_options, &mount_completions }, options);
	if (status == 0)
		status = take_mount_options(options);
	if (status == 0)
		status = check_places(options, argc, argv);
	if (status == 0)
		return 0;
	*ret_status = status == -STOP ? 0 : status;
	return STOP;
}

/* Two names of one thing. */
static int join_both(struct options *options)
{
	if (options->files == RUN_FILES_MOUNT && options->fidelity == FIDELITY_CALL)
		options->files = RUN_FILES_BOTH;
	if (options->files != RUN_FILES_BOTH)
		return 0;
	if (options->fidelity_given && options->fidelity != FIDELITY_CALL)
		return err_status(EXIT_USAGE, "--files both records with --fidelity call; leave --fidelity %s out",
			event_fidelity_names[options->fidelity]);
	options->fidelity = FIDELITY_CALL;
	return 0;
}

static int check_files(struct options *options)
{
	int status = options->layers && options->no_ops ? err_status(EXIT_USAGE, "--layer records single calls; leave --no-ops out")
							  : join_both(options);
	bool has_mount = options->files == RUN_FILES_MOUNT || options->files == RUN_FILES_BOTH;

	if (options->drop && !options->layers && options->files != RUN_FILES_PRELOAD && !options->mount_only)
		options->mount_only = "--drop";
	if (status)
		return status;
	if (options->detail_above_ns && !options->layers)
		return err_status(EXIT_USAGE, "--detail-above says which calls of libraries have rows; add --layer lib or mpi");
	if ((has_mount || options->files == RUN_FILES_PRELOAD) && options->kernel_processes)
		return err_status(EXIT_USAGE, "--processes kernel goes with --files kernel; use --processes auto");
	if (has_mount)
		return check_scope_of_mount(options);
	if (options->files == RUN_FILES_PRELOAD && options->processes == MONITOR_INBAND)
		return err_status(EXIT_USAGE, "--processes inband reads /proc during requests of a mount, and --files preload makes none; "
			"use --processes auto");
	if (options->files == RUN_FILES_PRELOAD && options->mount_only && strcmp(options->mount_only, "--processes") == 0)
		return 0;
	if (options->files != RUN_FILES_AUTO && options->mount_only)
		return err_status(EXIT_USAGE, "%s says how a mount works, and --files %s makes none; leave one of them out",
			options->mount_only, files_of[options->files]);
	return 0;
}

static int take_command(struct options *options, char **argv)
{
	options->command = argv + optind;
	if (!*options->command)
		return err_status(EXIT_USAGE, "no command given; see 'ftrac run --help'");
	if (options->user && geteuid() != 0)
		return err_status(EXIT_OWN, "cannot use --user '%s': only root may run a command as another user",
			options->user);
	if (options->like && !options->top)
		return err_status(EXIT_USAGE, "--like is for the screen of --top: give that, too");
	if (options->no_ops && (options->changes || options->in_toto))
		return err_status(EXIT_USAGE, "%s follows from single operations; leave --no-ops out",
			options->changes ? "--changes" : "--in-toto");
	options->source = strdup("/");
	if (!options->source)
		return err_status(EXIT_OWN, "out of memory");
	return check_files(options);
}

int options_parse_run(int argc, char **argv, struct options *options, int *ret_status)
{
	int status;

	*options = (struct options){ .db = "trace.db", .fidelity = FIDELITY_EXACT,
		.wait_ms = CLI_WAIT_MS, .command = argv /* parse() sets it */ };
	status = parse(argc, argv, &(struct form){ "ftrac run", "+:ho:qV", print_run_help, run_options, &run_completions }, options);
	if (status == 0)
		status = take_command(options, argv);
	if (status == 0)
		return 0;
	*ret_status = status == -STOP ? 0 : EXIT_RUNNER;
	return STOP;
}

static int check_record(const struct options *options, char **argv)
{
	int ways = options->all + (options->n_pids > 0) + (options->cgroup != NULL);

	if (argv[optind])
		return err_status(EXIT_USAGE, "unexpected argument '%s'; a command is for ftrac run", argv[optind]);
	if (ways != 1)
		return err_status(EXIT_USAGE, "%s; see 'ftrac record --help'", ways ? "--all, --pid and --cgroup exclude each other"
			: "one of --all, --pid and --cgroup must say which processes to record");
	for (size_t i = 0; i < options->n_pids; i++)
		if (options->pids[i] == getpid())
			return err_status(EXIT_USAGE, "cannot record process %d: that is ftrac itself", (int)getpid());
	return 0;
}

int options_parse_record(int argc, char **argv, struct options *options, int *ret_status)
{
	int status;

	*options = (struct options){ .db = "trace.db", .fidelity = FIDELITY_EXACT, .files = RUN_FILES_KERNEL, .for_ms = -1 };
	status = parse(argc, argv, &(struct form){ "ftrac record", ":ho:qV", print_record_help, record_options, &record_completions }, options);
	if (status == 0)
		status = check_record(options, argv);
	if (status == 0)
		return 0;
	*ret_status = status == -STOP ? 0 : status;
	return STOP;
}

void options_finish(struct options *options)
{
	free(options->mountpoint);
	free(options->source);
	free(options->include.word);
	free(options->exclude.word);
	free(options->env.word);
	for (int i = 0; i < options->scope.n; i++)
		free((char *)options->scope.word[i]);
	words_free(&options->scope);
	free(options->pids);
	free(options->cgroup);
	free(options->text);
	free(options->mount_db);
	fuse_opt_free_args(&options->fuse);
}
