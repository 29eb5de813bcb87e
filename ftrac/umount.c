/* SPDX-License-Identifier: MIT */
#include "ftrac/umount.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <mntent.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/err.h"
#include "base/helper.h"

/* Absolute, and without a look at the last part: its daemon may be gone. */
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

static bool is_ours(const char *path)
{
	cleanup_file FILE *f = setmntent("/proc/self/mounts", "r");
	struct mntent *m;
	bool found = false, ours = false;

	while (f && (m = getmntent(f)))
		if (strcmp(m->mnt_dir, path) == 0) { /* the last one is on top */
			found = true;
			ours = strcmp(m->mnt_type, "fuse.ftrac") == 0;
		}
	return found && ours;
}

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

static int take_away(const char *path, bool lazily)
{
	if (geteuid() != 0)
		return by_helper(path, lazily);
	return umount2(path, UMOUNT_NOFOLLOW | (lazily ? MNT_DETACH : 0)) < 0 ? -errno : 0;
}

/* Asks the daemon itself: attributes of the root the kernel may still remember. */
static bool is_without_daemon(const char *path)
{
	struct statx sx;

	return statx(AT_FDCWD, path, AT_STATX_FORCE_SYNC, STATX_MODE, &sx) < 0 && errno == ENOTCONN;
}

int umount_mount(const char *mountpoint)
{
	char path[PATH_MAX];
	bool is_dead;
	int r;

	if (!resolve(mountpoint, path))
		return err_status(EXIT_OWN, "cannot find '%s': %s", mountpoint, strerror(errno));
	if (!is_ours(path))
		return err_status(EXIT_OWN, "'%s' is no mount of ftrac; 'grep ftrac /proc/mounts' shows "
			"those there are", path);
	is_dead = is_without_daemon(path);
	r = take_away(path, is_dead);
	if (r == -EBUSY)
		return err_status(EXIT_OWN, "'%s' is in use; 'fuser -vm %s' shows by whom", path, path);
	if (r < 0)
		return err_status(EXIT_OWN, "cannot unmount '%s': %s", path, strerror(-r));
	if (is_dead)
		err_print("the daemon of '%s' was gone; its trace holds everything up to some tenths "
			  "of a second before", path);
	return 0;
}
