/* SPDX-License-Identifier: MIT */
#include "ftrac/umount.h"

#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <limits.h>
#include <poll.h>
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
#include "base/err.h"
#include "base/helper.h"
#include "base/mountinfo.h"

#define ANSWER_TIMEOUT_MS 5000 /* for a reply of the daemon */
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
};

static bool take_mount(void *arg, const struct mountinfo *mount)
{
	struct target *target = arg;

	if (strcmp(mount->path, target->path) == 0) { /* the last mount is on top */
		target->is_ours = strcmp(mount->fstype, "fuse.ftrac") == 0;
		target->connection = mount->minor;
	}
	return true;
}

/* ---- its daemon ---- */

enum state { ALIVE, GONE, DYING, SILENT };

/* Sends a request to the daemon: the kernel may have the root's attributes cached. */
static bool is_without_daemon(const char *path)
{
	struct statx sx;

	return statx(AT_FDCWD, path, AT_STATX_FORCE_SYNC, STATX_MODE, &sx) < 0 && errno == ENOTCONN;
}

/* Uses a child process, which may block forever. */
static enum state probe_daemon(const char *path)
{
	struct pollfd answer = { .events = POLLIN };
	enum state state = SILENT;
	cleanup_fd int ours = -1, childs = -1;
	char byte;
	int fds[2];
	pid_t pid;

	if (pipe2(fds, O_CLOEXEC) < 0)
		return SILENT;
	answer.fd = ours = fds[0];
	childs = fds[1];
	pid = fork();
	if (pid == 0) {
		byte = is_without_daemon(path) ? GONE : ALIVE;
		_exit(write(childs, &byte, 1) != 1);
	}
	if (pid > 0 && poll(&answer, 1, ANSWER_TIMEOUT_MS) == 1 && read(ours, &byte, 1) == 1) {
		state = byte;
		waitpid(pid, NULL, 0);
	}
	return state;
}

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

static enum state state_of(const char *path, unsigned connection)
{
	enum state state = probe_daemon(path);

	return state == SILENT && is_dying(connection) ? DYING : state;
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

int umount_mount(const char *mountpoint)
{
	char path[PATH_MAX];
	struct target target = { .path = path };
	enum state state;
	bool is_dead;
	int r;

	if (!resolve(mountpoint, path))
		return err_status(EXIT_OWN, "cannot find '%s': %s", mountpoint, strerror(errno));
	mountinfo_each(take_mount, &target);
	if (!target.is_ours)
		return err_status(EXIT_OWN, "'%s' is no mount of ftrac; 'grep ftrac /proc/mounts' lists "
			"them", path);
	state = state_of(path, target.connection);
	is_dead = state == GONE || state == DYING;
	if (state == DYING)
		abort_connection(path, target.connection);
	r = unmount_soon(path, is_dead);
	if (r == -EBUSY && state == SILENT)
		return err_status(EXIT_OWN, "'%s' is in use, and its daemon does not answer; 'umount -f -l %s' "
			"removes it at once, for all its users", path, path);
	if (r == -EBUSY)
		return err_status(EXIT_OWN, "'%s' is in use; 'fuser -vm %s' shows by which processes", path, path);
	if (r == -EINVAL && state == DYING) /* MNT_FORCE has removed it */
		r = 0;
	if (r < 0)
		return err_status(EXIT_OWN, "cannot unmount '%s': %s", path, strerror(-r));
	if (is_dead)
		err_print("the daemon of '%s' was gone; its trace lacks at most the last tenths of a "
			  "second", path);
	return 0;
}
