/* SPDX-License-Identifier: MIT */
#include "dag/output/pipe.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/helper.h"

/* If the reader ends before it has read all, SIGPIPE must not end this program. */
static void feed(int fd, void (*write)(FILE *, void *), void *arg)
{
	void (*pipe_handler)(int) = signal(SIGPIPE, SIG_IGN);
	FILE *out = fdopen(fd, "w");

	if (out) {
		write(out, arg);
		fclose(out);
	} else {
		close(fd);
	}
	signal(SIGPIPE, pipe_handler);
}

static int wait_for(pid_t pid, int seconds)
{
	cleanup_fd int fd = seconds ? (int)syscall(SYS_pidfd_open, pid, 0) : -1;
	struct pollfd ended = { .fd = fd, .events = POLLIN };
	int wait_status = 0, r = fd < 0 ? 1 : poll(&ended, 1, seconds * 1000);

	if (r == 0)
		kill(pid, SIGKILL);
	waitpid(pid, &wait_status, 0);
	if (r == 0)
		return -ETIMEDOUT;
	return WIFEXITED(wait_status) && WEXITSTATUS(wait_status) == 0 ? 0 : -EPROTO;
}

int pipe_run(char *const *argv, int output, int seconds, void (*write)(FILE *, void *), void *arg)
{
	int ends[2], r;
	pid_t pid;

	if (pipe2(ends, O_CLOEXEC) < 0)
		return -errno;
	r = helper_spawn(argv, ends[0], output, &pid);
	close(ends[0]);
	if (r < 0) {
		close(ends[1]);
		return r;
	}
	feed(ends[1], write, arg);
	return wait_for(pid, seconds);
}
