/* SPDX-License-Identifier: MIT */
#include "procmon/spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/helper.h"

/* The child's ends of the pipes: it waits at go, and writes an errno to error. */
struct child_ends {
	int go, error;
};

/* execvp(3) returns EACCES if it may not search a directory of PATH, also if no file has
 * that name. */
static bool exists_in_path(const char *name)
{
	const char *path = secure_getenv("PATH");
	char file[PATH_MAX];

	for (const char *at = path ? path : "/bin:/usr/bin"; at; at = strchr(at, ':')) {
		at += *at == ':';
		snprintf(file, sizeof(file), "%.*s/%s", (int)strcspn(at, ":"), at, name);
		if (access(file, F_OK) == 0)
			return true;
	}
	return false;
}

static int exec_error(const char *name, int error)
{
	if (error == EACCES && !strchr(name, '/') && !exists_in_path(name))
		return ENOENT;
	return error;
}

static void run_child(char *const *argv, int (*first)(void *arg), void *arg,
	const struct child_ends *child_ends)
{
	int status = first ? first(arg) : 0, error;
	char byte;

	if (status)
		_exit(status);
	/* recv(2), not read(2): the kernel would count that as I/O of the command. Fails if the
	 * parent gave up. */
	if (recv(child_ends->go, &byte, 1, 0) != 1)
		_exit(SPAWN_NOT_EXECUTABLE);
	helper_restore_environment();
	execvp(argv[0], argv);
	error = exec_error(argv[0], errno);
	if (write(child_ends->error, &error, sizeof(error)) < 0)
		_exit(SPAWN_NOT_EXECUTABLE);
	_exit(error == ENOENT ? SPAWN_NOT_FOUND : SPAWN_NOT_EXECUTABLE);
}

static void close_both(const int fds[2])
{
	close(fds[0]);
	close(fds[1]);
}

int spawn_begin(char *const *argv, int (*first)(void *arg), void *arg, struct spawn *ret_spawn)
{
	int go[2], error[2], r = 0;
	pid_t pid;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, go) < 0)
		return -errno;
	if (pipe2(error, O_CLOEXEC) < 0) {
		r = -errno;
		close_both(go);
		return r;
	}
	pid = fork();
	if (pid == 0) {
		close(go[1]); /* else it would wait for itself */
		run_child(argv, first, arg, &(struct child_ends){ go[0], error[1] });
	}
	if (pid < 0) {
		r = -errno;
		close_both(go);
		close_both(error);
		return r;
	}
	close(go[0]);
	close(error[1]);
	*ret_spawn = (struct spawn){ .pid = pid, .go = go[1], .error = error[0] };
	return 0;
}

int spawn_go(struct spawn *spawn)
{
	int r = send(spawn->go, "", 1, MSG_NOSIGNAL) == 1 ? 0 : -errno;

	if (r < 0)
		shutdown(spawn->go, SHUT_RDWR); /* the child stops waiting and ends */
	return r;
}

int spawn_result(const struct spawn *spawn)
{
	int error = 0;
	ssize_t n;

	do
		n = read(spawn->error, &error, sizeof(error));
	while (n < 0 && errno == EINTR);
	return n == sizeof(error) ? -error : 0;
}

void spawn_finish(struct spawn *spawn)
{
	close(spawn->go);
	close(spawn->error);
}
