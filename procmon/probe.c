/* SPDX-License-Identifier: MIT */
/* What there is at a path: see monitor.h. */

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/clock.h"
#include "db/event.h"
#include "procmon/monitor.h"

/* The target, if it fits with its NUL; else "". */
static void read_target(const char *path, char *ret_target, size_t size)
{
	ssize_t n = readlink(path, ret_target, size);

	ret_target[n > 0 && (size_t)n < size ? n : 0] = '\0';
}

int monitor_probe_path(void *arg, const char *path, struct event_node *ret_node, char *ret_target, size_t size,
	int64_t *ret_changed_ns)
{
	struct statx sx;

	(void)arg;
	if (statx(AT_FDCWD, path, AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT | AT_STATX_DONT_SYNC,
		STATX_BASIC_STATS | STATX_MNT_ID, &sx) < 0)
		return -errno;
	/* As the kernel's events have it: without a birth time. */
	*ret_node = (struct event_node){ .dev = makedev(sx.stx_dev_major, sx.stx_dev_minor), .ino = sx.stx_ino,
		.size = (int64_t)sx.stx_size, .mode = sx.stx_mode, .nlink = sx.stx_nlink, .mount = sx.stx_mnt_id };
	*ret_changed_ns = sx.stx_ctime.tv_sec * 1000000000LL + sx.stx_ctime.tv_nsec - clock_epoch_offset_ns();
	if (S_ISLNK(sx.stx_mode))
		read_target(path, ret_target, size);
	else
		ret_target[0] = '\0';
	return 0;
}
