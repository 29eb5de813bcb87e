/* SPDX-License-Identifier: MIT */
#include "ftrac/umount.h"

#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <glob.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/cli.h"
#include "base/complete.h"
#include "base/err.h"
#include "base/helper.h"
#include "base/mountinfo.h"
#include "ftrac/umount_child.h"

#define SAY_MS 1000 /* then a message tells what umount waits for */
#define BUSY_MS 1000
#define NAP_MS 20

/* Makes the path absolute without resolving its last part: the daemon may be gone. */
static bool resolve(const char *path, char out[PATH_MAX])
{
	cleanup_free char *copy = strdup(path);
	char top[PATH_MAX], *slash;
	size_t len = copy ? strlen(copy) : 0;

	while (len > 1 && copy[len - 1] == '/')
		copy[--len] = '\0';
	slash = copy ? strrchr(copy, '/') : NULL;
	if (!copy || strcmp(copy, "/") == 0 || strcmp(copy, ".") == 0)
		return realpath(path, out);
	if (slash)
		*slash = '\0';
	if (!realpath(!slash ? "." : *copy ? copy : "/", top))
		return false;
	if (snprintf(out, PATH_MAX, "%s/%s", strcmp(top, "/") == 0 ? "" : top,
			slash ? slash + 1 : copy) < PATH_MAX)
		return true;
	errno = ENAMETOOLONG;
	return false;
}

struct target {
	const char *path;
	bool is_ours;
	unsigned connection;
	int64_t user, group; /* that made the mount */
};

static bool take_mount(void *arg, const struct mountinfo *mount)
{
	struct target *target = arg;

	if (strcmp(mount->path, target->path) == 0) { /* the last mount is on top */
		target->is_ours = strcmp(mount->fstype, "fuse.ftrac") == 0;
		target->connection = mount->minor;
		target->user = mountinfo_id(mount, "user_id", 0);
		target->group = mountinfo_id(mount, "group_id", 0);
	}
	return true;
}

/* ---- its daemon ---- */

/* Whether a file of /proc has a line with this beginning; parses the number that follows, in that
 * base. */
static bool has_line(const char *file, const char *begin, int base, unsigned long long *ret_value)
{
	cleanup_file FILE *f = fopen(file, "re");
	char line[256];

	while (f && fgets(line, sizeof(line), f))
		if (strncmp(line, begin, strlen(begin)) == 0) {
			*ret_value = strtoull(line + strlen(begin), NULL, base);
			return true;
		}
	return false;
}

static bool is_ended(const char *process)
{
	const unsigned long long kill = 1ULL << (SIGKILL - 1);
	unsigned long long pending = 0;
	char path[64];
	char state;
	cleanup_file FILE *f = NULL;

	snprintf(path, sizeof(path), "%s/status", process);
	if (has_line(path, "ShdPnd:", 16, &pending) && pending & kill)
		return true;
	snprintf(path, sizeof(path), "%s/stat", process);
	f = fopen(path, "re");
	return f && fscanf(f, "%*d (%*[^)]) %c", &state) == 1 && state == 'Z';
}

/* Whether a thread of the process has the device of this mount's connection open. */
static bool serves(const char *process, unsigned connection)
{
	char pattern[64];
	unsigned long long number;
	glob_t files;
	bool found = false;

	snprintf(pattern, sizeof(pattern), "%s/task/*/fdinfo/*", process);
	if (glob(pattern, GLOB_NOSORT, NULL, &files) != 0)
		return false;
	for (size_t i = 0; i < files.gl_pathc && !found; i++)
		found = has_line(files.gl_pathv[i], "fuse_connection:", 10, &number) && number == connection;
	globfree(&files);
	return found;
}

/* Whether the daemon was killed but a thread that cannot end keeps the mount alive (Linux 6.18
 * shows this). */
static bool is_dying(unsigned connection)
{
	glob_t processes;
	bool found = false;

	if (glob("/proc/[0-9]*", GLOB_NOSORT, NULL, &processes) != 0)
		return false;
	for (size_t i = 0; i < processes.gl_pathc && !found; i++)
		found = is_ended(processes.gl_pathv[i]) && serves(processes.gl_pathv[i], connection);
	globfree(&processes);
	return found;
}

static enum daemon_state state_of(struct umount_child *child, unsigned connection)
{
	enum daemon_state state = umount_child_ask(child);

	return state == DAEMON_SILENT && is_dying(connection) ? DAEMON_DYING : state;
}

/* Makes all requests fail from now on, so that waiting clients go on. */
static void abort_connection(const char *path, unsigned connection)
{
	char name[64];
	cleanup_fd int fd = -1;

	snprintf(name, sizeof(name), "/sys/fs/fuse/connections/%u/abort", connection);
	fd = open(name, O_WRONLY | O_CLOEXEC);
	if ((fd < 0 || write(fd, "1", 1) != 1) && geteuid() == 0)
		umount2(path, UMOUNT_NOFOLLOW | MNT_FORCE);
}

/* ---- unmounting ---- */

static int by_helper(const char *path, bool lazily)
{
	char *const argv[] = { (char *)"fusermount3", (char *)"-q", (char *)"-u",
		(char *)(lazily ? "-z" : "--"), (char *)path, NULL };
	int status;
	pid_t pid;

	if (helper_spawn(argv, -1, -1, &pid) < 0 || waitpid(pid, &status, 0) < 0)
		return -ENOENT;
	return status == 0 ? 0 : -EBUSY;
}

static int unmount(const char *path, bool lazily)
{
	if (geteuid() != 0)
		return by_helper(path, lazily);
	return umount2(path, UMOUNT_NOFOLLOW | (lazily ? MNT_DETACH : 0)) < 0 ? -errno : 0;
}

/*
 * A mount may stay in use for a moment after its clients have ended: by RELEASE requests, and by
 * reads of the clients' /proc.
 */
static int unmount_soon(const char *path, bool lazily)
{
	const struct timespec nap = { .tv_nsec = NAP_MS * 1000000 };
	int r = unmount(path, lazily);

	for (int i = 0; r == -EBUSY && i < BUSY_MS / NAP_MS; i++) {
		nanosleep(&nap, NULL);
		r = unmount(path, lazily);
	}
	return r;
}

/* What remains to be said of a mount that cannot be removed, or was. */
static int explain(const char *path, enum daemon_state state, int r)
{
	if (r == -EINVAL && state == DAEMON_DYING) /* MNT_FORCE has removed it */
		r = 0;
	if (r == -EBUSY && state == DAEMON_SILENT)
		return err_status(EXIT_OWN, "'%s' is in use, and its daemon does not answer; 'umount -f -l %s' "
			"removes it at once, for all its users", path, path);
	if (r == -EBUSY)
		return err_status(EXIT_OWN, "'%s' is in use; 'fuser -vm %s' shows by which processes", path, path);
	if (r < 0)
		return err_status(EXIT_OWN, "cannot unmount '%s': %s", path, strerror(-r));
	if (state == DAEMON_GONE || state == DAEMON_DYING)
		err_print("the daemon of '%s' was gone; its trace lacks at most the last tenths of a "
			  "second", path);
	return 0;
}

static int remove_mount(const struct target *target, struct umount_child *child)
{
	enum daemon_state state = state_of(child, target->connection);

	if (state == DAEMON_DYING)
		abort_connection(target->path, target->connection);
	return explain(target->path, state,
		unmount_soon(target->path, state == DAEMON_GONE || state == DAEMON_DYING));
}

static int await_trace(const char *path, struct umount_child *child)
{
	if (!child->trace[0])
		return 0;
	if (!umount_child_await(child, SAY_MS)) {
		err_print("waiting until '%s' is complete; --no-wait does not wait", child->trace);
		umount_child_await(child, -1);
	}
	return child->is_complete ? 0 : err_status(EXIT_OWN, "the daemon of '%s' ended before '%s' was complete; "
		"the trace lacks the end of the run", path, child->trace);
}

static int umount_mount(const char *mountpoint, bool waits)
{
	char path[PATH_MAX];
	struct target target = { .path = path };
	struct umount_child child;
	int status;

	if (!resolve(mountpoint, path))
		return err_status(EXIT_OWN, "cannot find '%s': %s", mountpoint, strerror(errno));
	mountinfo_each(take_mount, &target);
	if (!target.is_ours)
		return err_status(EXIT_OWN, "'%s' is no mount of ftrac; 'grep ftrac /proc/mounts' lists "
			"them", path);
	umount_child_start(path, target.user, target.group, &child);
	status = remove_mount(&target, &child);
	if (status == 0 && waits)
		status = await_trace(path, &child);
	umount_child_stop(&child);
	return status;
}

/* ---- the command line ---- */

static const char help[] =
"Usage: ftrac umount [--no-wait] MOUNTPOINT\n"
"\n"
"Unmounts a mount of ftrac, also if its daemon has ended, and waits until its\n"
"trace is complete.\n"
"\n"
"      --no-wait        do not wait for the trace\n"
"  -h, --help           print this\n";

static void print_help(void)
{
	fputs(help, stdout);
}

static bool add_mount(void *arg, const struct mountinfo *mount)
{
	(void)arg;
	if (strcmp(mount->fstype, "fuse.ftrac") == 0)
		complete_add(mount->path, strlen(mount->path), NULL);
	return true;
}

static void ask_mounts(const struct cli *cli)
{
	(void)cli;
	mountinfo_each(add_mount, NULL);
}

int umount_main(int argc, char **argv)
{
	static const struct completions completions = { NULL, ask_mounts, COMPLETE_NO_FILES };
	static const struct option options[] = {
		{ "no-wait", no_argument, NULL, 'n' },
		{ "help", no_argument, NULL, 'h' },
		{ NULL, 0, NULL, 0 },
	};
	const struct cli cli = { .name = "ftrac", .options = options, .print_help = print_help, .completions = &completions };
	bool waits = true;
	int option;

	if (complete_answer(&cli, argc, argv, "ftrac"))
		return cli_printed();
	opterr = 0;
	while ((option = getopt_long(argc, argv, ":h", options, NULL)) >= 0) {
		if (option == 'h') {
			print_help();
			return cli_printed();
		}
		if (option != 'n')
			return cli_complain("ftrac umount", argv, option);
		waits = false;
	}
	if (argc != optind + 1)
		return err_status(EXIT_USAGE, "name one mount point; see 'ftrac umount --help'");
	return umount_mount(argv[optind], waits);
}
