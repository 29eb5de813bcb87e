/* SPDX-License-Identifier: MIT */
#ifndef BASE_CLEANUP_H
#define BASE_CLEANUP_H

/*
 * Locals that are freed or closed when they go out of scope.  steal_fd() and steal_ptr() move the value out; then the
 * caller owns it.
 */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static inline void cleanup_free_fn(void *p)
{
	free(*(void **)p);
}

/* Keeps errno: the close on an error path must not hide the error. */
static inline void cleanup_fd_fn(int *fd)
{
	int saved = errno;

	if (*fd >= 0)
		close(*fd);
	errno = saved;
}

static inline void cleanup_file_fn(FILE **f)
{
	if (*f)
		fclose(*f);
}

#define cleanup_free __attribute__((cleanup(cleanup_free_fn)))
#define cleanup_fd __attribute__((cleanup(cleanup_fd_fn)))
#define cleanup_file __attribute__((cleanup(cleanup_file_fn)))

static inline int steal_fd(int *fd)
{
	int taken = *fd;

	*fd = -1;
	return taken;
}

#define steal_ptr(pp)                           \
	({                                      \
		__typeof__(*(pp)) taken = *(pp); \
		*(pp) = NULL;                   \
		taken;                          \
	})

#endif
