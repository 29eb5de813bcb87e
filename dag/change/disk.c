/* SPDX-License-Identifier: MIT */
#include "dag/change/disk.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "dag/change/changes.h"

const char disk_is_directory[] = "it is a directory";
const char disk_is_no_file[] = "it is no regular file";

#define HOW (O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)

/* The paths of a trace have no links in them.  Linux before 5.6 does not check that. */
static int open_plain(const char *path)
{
	struct open_how how = { .flags = HOW, .resolve = RESOLVE_NO_SYMLINKS };
	int fd = (int)syscall(SYS_openat2, AT_FDCWD, path, &how, sizeof(how));

	return fd < 0 && errno == ENOSYS ? open(path, HOW) : fd;
}

static bool is_later(const struct timespec *t, int64_t end_ns)
{
	return t->tv_sec > end_ns / 1000000000 || (t->tv_sec == end_ns / 1000000000 && t->tv_nsec > end_ns % 1000000000);
}

static bool is_equal(const struct stat *a, const struct stat *b)
{
	return a->st_size == b->st_size && a->st_ctim.tv_sec == b->st_ctim.tv_sec && a->st_ctim.tv_nsec == b->st_ctim.tv_nsec;
}

static const char *why_not_open(int error)
{
	switch (error) {
	case ENOENT:
	case ENOTDIR:
	case ELOOP:
		return "it is not there any more";
	case EACCES:
	case EPERM:
		return "this user may not read it";
	default:
		return strerror(error);
	}
}

const char *disk_hash(const struct changed_file *file, const char *path, int64_t end_ns, char hash[SHA256_TEXT])
{
	cleanup_fd int fd = open_plain(path);
	struct stat st, later;
	int r;

	if (fd < 0)
		return why_not_open(errno);
	if (fstat(fd, &st) < 0)
		return strerror(errno);
	if (S_ISDIR(st.st_mode))
		return disk_is_directory;
	if (!S_ISREG(st.st_mode))
		return disk_is_no_file;
	if ((file->ino && (uint64_t)file->ino != st.st_ino) || (file->size_last >= 0 && file->size_last != st.st_size) ||
		is_later(&st.st_ctim, end_ns))
		return "it has changed since the run";
	r = sha256_of(fd, hash);
	if (r < 0)
		return strerror(-r);
	return fstat(fd, &later) == 0 && is_equal(&st, &later) ? NULL : "it changed while it was read";
}
