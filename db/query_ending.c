/* SPDX-License-Identifier: MIT */

/* Whether the writer of a trace has ended its run, and completes the trace. */

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/mountinfo.h"
#include "db/query_internal.h"

/* A writer holds the lock until its end, however it ends. */
bool query_is_written(const struct query_db *db)
{
	cleanup_fd int fd = open(db->files.path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

	return fd >= 0 && flock(fd, LOCK_SH | LOCK_NB) < 0 && errno == EWOULDBLOCK;
}

struct mount_search {
	const char *path;
	bool found;
};

static bool is_other(void *arg, const struct mountinfo *mount)
{
	struct mount_search *search = arg;

	search->found = strcmp(mount->path, search->path) == 0 && strcmp(mount->fstype, "fuse.ftrac") == 0;
	return !search->found;
}

/* Only where the file system is mounted that lists connections. */
static bool is_connected(int64_t connection)
{
	char name[64];

	snprintf(name, sizeof(name), "/sys/fs/fuse/connections/%lld", (long long)connection);
	return access(name, F_OK) == 0;
}

/* Whether the mount was here and has been removed; its writer may not know that yet. */
static bool is_unmounted(const struct query_db *db)
{
	struct mount_search search = { .path = query_fact_text(db, "mountpoint") };
	int64_t namespace = query_fact(db, "mount_namespace", 0);

	if (!search.path || !namespace || (uint64_t)namespace != mountinfo_namespace())
		return false;
	mountinfo_each(is_other, &search);
	return !search.found && !is_connected(query_fact(db, "mount_connection", -1));
}

int query_check_ended(struct query_db *db)
{
	bool says_so = query_fact(db, "ending", 0) == 1;

	if (query_fact(db, "complete", 0) || (!says_so && !is_unmounted(db)) || !query_is_written(db))
		return 0;
	return query_fail(db, says_so ? -EINPROGRESS : -EAGAIN, "the run has ended, and its writer completes '%s'%s",
		db->files.path, "");
}
