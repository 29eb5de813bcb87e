/* SPDX-License-Identifier: MIT */
#include "dag/output/pipe.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
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

/* slot: has the id of the process until it is waited for; NULL. */
static int wait_for(pid_t pid, int seconds, _Atomic pid_t *slot)
{
	cleanup_fd int fd = seconds ? (int)syscall(SYS_pidfd_open, pid, 0) : -1;
	struct pollfd ended = { .fd = fd, .events = POLLIN };
	siginfo_t info;
	int wait_status = 0, r = fd < 0 ? 1 : poll(&ended, 1, seconds * 1000);

	if (r == 0)
		kill(pid, SIGKILL);
	waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT);
	if (slot)
		*slot = 0; /* no other process can have its number yet */
	waitpid(pid, &wait_status, 0);
	if (r == 0)
		return -ETIMEDOUT;
	return WIFEXITED(wait_status) && WEXITSTATUS(wait_status) == 0 ? 0 : -EPROTO;
}

/* ---- a signal that ends this program ends its helpers, too ---- */

#define HELPERS_MOST 8

static _Atomic pid_t helpers[HELPERS_MOST]; /* 0: none */
static const int endings[] = { SIGHUP, SIGINT, SIGTERM };

static void end_all(int signal_number)
{
	for (int i = 0; i < HELPERS_MOST; i++)
		if (helpers[i] > 0)
			kill(helpers[i], SIGKILL);
	signal(signal_number, SIG_DFL);
	raise(signal_number);
}

static void watch_signals(void)
{
	struct sigaction now, end = { .sa_handler = end_all };

	for (size_t i = 0; i < sizeof(endings) / sizeof(endings[0]); i++)
		if (sigaction(endings[i], NULL, &now) == 0 && now.sa_handler == SIG_DFL)
			sigaction(endings[i], &end, NULL);
}

/* The slot, or NULL: more helpers than that are not ended. */
static _Atomic pid_t *remember(pid_t pid)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, watch_signals);
	for (int i = 0; i < HELPERS_MOST; i++) {
		pid_t none = 0;

		if (atomic_compare_exchange_strong(&helpers[i], &none, pid))
			return &helpers[i];
	}
	return NULL;
}

int pipe_run(char *const *argv, int output, int seconds, void (*write)(FILE *, void *), void *arg)
{
	_Atomic pid_t *slot;
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
	slot = remember(pid);
	feed(ends[1], write, arg);
	return wait_for(pid, seconds, slot);
}
