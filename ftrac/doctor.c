/* SPDX-License-Identifier: MIT */
#include "ftrac/doctor.h"

#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <fuse_lowlevel.h>
#include <pwd.h>
#include <sched.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/cli.h"
#include "base/complete.h"
#include "base/err.h"
#include "base/failure.h"
#include "base/version.h"
#include "base/wrap.h"
#include "ftrac/transport.h"
#include "ftrac/view.h"
#include "kernel/kernel.h"
#include "preload/preload.h"
#include "procmon/monitor.h"

struct finding {
	const char *name, *what;
	bool good;
	char text[320]; /* the state; if it is not good, the reason and what to do */
};

struct doctor {
	struct finding findings[24];
	int n;
	unsigned release; /* of the kernel: major << 8 | minor */
};

__attribute__((format(printf, 5, 6))) static bool find(struct doctor *d, const char *name,
	const char *what, bool good, const char *format, ...)
{
	struct finding *f = &d->findings[d->n++];
	va_list args;

	*f = (struct finding){ .name = name, .what = what, .good = good };
	va_start(args, format);
	vsnprintf(f->text, sizeof(f->text), format, args);
	va_end(args);
	return good;
}

/* The first line of a small file; "" if it cannot be read. */
static const char *line_of(const char *path, char line[64])
{
	cleanup_file FILE *f = fopen(path, "re");

	line[0] = '\0';
	if (f && fgets(line, 64, f))
		line[strcspn(line, "\n")] = '\0';
	return line;
}

/* ---- the mount ---- */

static bool check_device(struct doctor *d)
{
	cleanup_fd int fd = open("/dev/fuse", O_RDWR | O_CLOEXEC);

	if (fd >= 0)
		return find(d, "device", "/dev/fuse", true, "can be opened");
	if (errno == ENOENT)
		return find(d, "device", "/dev/fuse", false, "is missing: load it with 'modprobe fuse', "
			"or start the container with '--device /dev/fuse'");
	return find(d, "device", "/dev/fuse", false, "cannot be opened: %s; allow it with 'chmod 0666 "
		"/dev/fuse' (root)", strerror(errno));
}

static bool check_helper(struct doctor *d)
{
	if (geteuid() == 0)
		return find(d, "fusermount3", "fusermount3", true, "is not needed by root");
	if (view_has_helper())
		return find(d, "fusermount3", "fusermount3", true, "is there, and setuid");
	if (!getpwuid(getuid()))
		return find(d, "fusermount3", "fusermount3", false, "does not mount for a user without a "
			"name ('ftrac run' does without it): add uid %u to the passwd database", getuid());
	if (access("/etc/mtab", F_OK) < 0)
		return find(d, "fusermount3", "fusermount3", false, "needs /etc/mtab ('ftrac run' does "
			"without it): 'ln -s /proc/self/mounts /etc/mtab' (root)");
	return find(d, "fusermount3", "fusermount3", false, "is missing or not setuid, so 'ftrac "
		"MOUNTPOINT' cannot mount ('ftrac run' can): 'apt install fuse3'");
}

static void check_allow_other(struct doctor *d)
{
	cleanup_file FILE *f = fopen("/etc/fuse.conf", "re");
	char line[256];
	bool allowed = geteuid() == 0;

	while (f && !allowed && fgets(line, sizeof(line), f))
		allowed = strncmp(line, "user_allow_other", 16) == 0;
	find(d, "allow_other", "mounts for other users", allowed, allowed ? "are allowed"
		: "are not allowed to users: 'echo user_allow_other >>/etc/fuse.conf' (root)");
}

/* ---- namespaces ---- */

/* Tries it in a child process, because it cannot be undone. */
static int try_namespaces(int flags)
{
	uid_t uid = geteuid();
	gid_t gid = getegid();
	int status;
	pid_t pid = fork();

	if (pid == 0) {
		int r = unshare(flags) < 0 ? errno : 0;

		if (r == 0 && (flags & CLONE_NEWUSER))
			r = -view_map_ids(uid, gid);
		_exit(r);
	}
	if (pid < 0 || waitpid(pid, &status, 0) < 0)
		return errno;
	return WIFEXITED(status) ? WEXITSTATUS(status) : EIO;
}

static bool check_namespaces(struct doctor *d)
{
	bool root = geteuid() == 0;
	int error = try_namespaces(CLONE_NEWNS | (root ? 0 : CLONE_NEWUSER));
	const char *what = root ? "mount namespaces" : "user namespaces";

	if (error == 0)
		return find(d, "namespaces", what, true, "can be made");
	return find(d, "namespaces", what, false, "%s", view_explain_namespace(error));
}

/* ---- processes ---- */

static bool check_source(struct doctor *d, const char *name, const char *what,
	enum monitor_source source)
{
	int r = monitor_source_error(source);

	return find(d, name, what, r == 0, "%s", r == 0 ? "works" : monitor_explain(source, r));
}

static void check_in_kernel(struct doctor *d)
{
	struct failure failure = { 0 };
	bool works = monitor_explain_kernel(&failure) == 0;

	find(d, "kernel_record", "ftrac run --files kernel", works, "%s", works ? "works" : failure.text);
}

static void check_preload(struct doctor *d, bool follows)
{
	struct failure failure = { 0 };
	bool works = preload_explain(&failure) == 0;

	find(d, "preload_record", "ftrac run --files preload", works && follows, "%s", !works ? failure.text : follows ? "works" :
		"needs ptrace or the process connector");
}

static void check_delays(struct doctor *d, bool taskstats)
{
	bool counted = monitor_has_delays();

	find(d, "delays", "delays by block I/O, swap, reclaim", counted && taskstats, "%s",
		!taskstats ? "need exit records (taskstats)" : counted ? "are counted"
		: "are not counted: 'sysctl kernel.task_delayacct=1' (root)");
}

static void check_ptrace_scope(struct doctor *d)
{
	char line[64];
	const char *value = line_of("/proc/sys/kernel/yama/ptrace_scope", line);

	find(d, "ptrace_scope", "kernel.yama.ptrace_scope", strcmp(value, "3") != 0, "%s%s",
		*value ? value : "not present", strcmp(value, "3") == 0
		? ": no process may trace; only a reboot can change it to 1" : "");
}

/* ---- the kernel ---- */

static void check_kernel(struct doctor *d)
{
	struct utsname un;
	unsigned major = 0, minor = 0;

	uname(&un);
	sscanf(un.release, "%u.%u", &major, &minor);
	d->release = major << 8 | minor;
	find(d, "kernel", "kernel", d->release >= (5 << 8 | 10), "Linux %s%s", un.release,
		d->release >= (5 << 8 | 10) ? "" : " is too old: ftrac needs 5.10");
	find(d, "libfuse", "libfuse", true, "%s", fuse_pkgversion());
}

static bool check_feature(struct doctor *d, const char *name, const char *what, unsigned major,
	unsigned minor, bool allowed)
{
	if (d->release < (major << 8 | minor))
		return find(d, name, what, false, "needs Linux %u.%u", major, minor);
	if (!allowed)
		return find(d, name, what, false, "works for root only");
	return find(d, name, what, true, "works");
}

/* A mount with it takes all that --fidelity open takes, too. */
static void check_call(struct doctor *d, bool open_works)
{
	struct failure failure = { 0 };
	struct kernel *kernel = NULL;
	bool works = open_works && kernel_load_for_mount(1, &kernel, &failure) == 0;

	kernel_destroy(kernel);
	find(d, "call", "--fidelity call", works, "%s", works ? "works" : open_works ? failure.text :
		"needs --fidelity open");
}

static void check_uring(struct doctor *d)
{
	struct transport_conditions conditions = transport_probe("/", false);
	const char *why;

	conditions.mirror = false; /* ignore a mirror that is mounted now */
	transport_choose(&conditions, TRANSPORT_URING, &why);
	find(d, "io_uring", "FUSE over io_uring", !why, "%s", why ? why : "works");
}

/* ---- all of it ---- */

static bool examine(struct doctor *d)
{
	bool device, helper, namespaces, ptrace, connector, taskstats;

	check_kernel(d);
	device = check_device(d);
	helper = check_helper(d);
	check_allow_other(d);
	namespaces = check_namespaces(d);
	ptrace = check_source(d, "ptrace", "ptrace", MONITOR_SOURCE_PTRACE);
	check_ptrace_scope(d);
	connector = check_source(d, "connector", "process connector", MONITOR_SOURCE_CONNECTOR);
	taskstats = check_source(d, "taskstats", "exit records (taskstats)",
		MONITOR_SOURCE_TASKSTATS);
	check_delays(d, taskstats);
	check_in_kernel(d);
	check_preload(d, ptrace || connector);
	check_feature(d, "exact", "--fidelity exact", 6, 6, true);
	check_call(d, check_feature(d, "open", "--fidelity open", 6, 9, geteuid() == 0));
	check_uring(d);
	find(d, "mount", "ftrac MOUNTPOINT", device && helper, device && helper
		? "works here; processes: %s%s" : "does not work here, see above",
		connector ? "connector" : "inband", taskstats ? "+taskstats" : "");
	return find(d, "run", "ftrac run", device && namespaces, device && namespaces
		? "works here; processes: %s%s" : "does not work here, see above",
		ptrace ? "ptrace" : connector ? "connector" : "inband", taskstats ? "+taskstats" : "");
}

static void print_quoted(const char *text)
{
	putchar('"');
	for (; *text; text++) {
		if (*text == '"' || *text == '\\')
			putchar('\\');
		putchar(*text);
	}
	putchar('"');
}

static void print_json(const struct doctor *d)
{
	printf("{\n  \"schema\": \"ftrac.doctor/1\",\n  \"version\": \"" FTRAC_VERSION
	       "\",\n  \"findings\": [\n");
	for (int i = 0; i < d->n; i++) {
		const struct finding *f = &d->findings[i];

		printf("    {\"name\": \"%s\", \"what\": \"%s\", \"good\": %s, \"text\": ", f->name,
			f->what, f->good ? "true" : "false");
		print_quoted(f->text);
		printf("}%s\n", i + 1 < d->n ? "," : "");
	}
	printf("  ]\n}\n");
}

static void put_finding(const struct finding *finding)
{
	char head[128];

	snprintf(head, sizeof(head), "%-4s %s: ", finding->good ? "yes" : "NO", finding->what);
	wrap_print(stdout, head, "     ", finding->text);
}

static void print_text(const struct doctor *d)
{
	for (int i = 0; i < d->n; i++)
		put_finding(&d->findings[i]);
}

static const char help[] =
"Usage: ftrac doctor [--json]\n"
"\n"
"Prints what can be traced here and, for everything that cannot, the command that\n"
"enables it.\n"
"\n"
"      --json           print JSON\n"
"  -h, --help           print this\n";

static void print_help(void)
{
	fputs(help, stdout);
}

int doctor_main(int argc, char **argv)
{
	static const struct option options[] = {
		{ "json", no_argument, NULL, 'j' },
		{ "help", no_argument, NULL, 'h' },
		{ NULL, 0, NULL, 0 },
	};
	static const struct completions completions = { NULL, NULL, COMPLETE_NO_FILES };
	const struct cli cli = { .name = "ftrac", .options = options, .print_help = print_help, .completions = &completions };
	struct doctor d = { 0 };
	bool json = false, works;
	int option;

	if (complete_answer(&cli, argc, argv, "ftrac"))
		return cli_printed();
	opterr = 0;
	while ((option = getopt_long(argc, argv, ":h", options, NULL)) >= 0) {
		if (option == 'h') {
			print_help();
			return cli_printed();
		}
		if (option != 'j')
			return cli_complain("ftrac doctor", argv, option);
		json = true;
	}
	if (argv[optind])
		return err_status(EXIT_USAGE, "unexpected argument '%s'; see 'ftrac doctor --help'",
			argv[optind]);
	works = examine(&d);
	(json ? print_json : print_text)(&d);
	return works ? 0 : EXIT_OWN;
}
