/* SPDX-License-Identifier: MIT */
#include "base/watched.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

/* SQLite locks 512 bytes from 0x40000000 on. */
#define PLACE 0x50000000

static struct flock lock_of(short type)
{
	return (struct flock){ .l_type = type, .l_whence = SEEK_SET, .l_start = PLACE, .l_len = 1 };
}

int watched_mark(const char *path)
{
	struct flock lock = lock_of(F_RDLCK);
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK), r;

	if (fd < 0)
		return -errno;
	if (fcntl(fd, F_OFD_SETLK, &lock) == 0)
		return fd;
	r = -errno;
	close(fd);
	return r;
}

bool watched_is(int fd)
{
	struct flock lock = lock_of(F_WRLCK);

	return fcntl(fd, F_OFD_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
}
