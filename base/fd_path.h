/* SPDX-License-Identifier: MIT */
#ifndef BASE_FD_PATH_H
#define BASE_FD_PATH_H

/* "/proc/self/fd/N": the path of what a descriptor refers to, for system calls that take a path only.  O_PATH
 * descriptors have one, too.  It is valid while the descriptor is open, in threads that share the descriptor table. */

#include <stdio.h>

struct fd_path {
	char text[32];
};

static inline struct fd_path fd_path(int fd)
{
	struct fd_path path;

	snprintf(path.text, sizeof(path.text), "/proc/self/fd/%d", fd);
	return path;
}

#endif
