/* SPDX-License-Identifier: MIT */
/*
 * within FILE COMMAND...: runs the command and writes into FILE when it began and when it had ended, as nanoseconds of
 * CLOCK_MONOTONIC. A tracer runs this instead of the command, so that its own start and end are not in the time between.
 * The exit status is the command's.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static long long now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000000ll + now.tv_nsec;
}

static void fail(const char *what)
{
	fprintf(stderr, "within: %s: %s\n", what, strerror(errno));
	exit(127);
}

static int run(char **command)
{
	int status;
	pid_t pid = vfork();

	if (pid == 0) {
		execvp(command[0], command);
		_exit(127);
	}
	if (pid < 0 || waitpid(pid, &status, 0) < 0)
		fail(command[0]);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

int main(int argc, char *argv[])
{
	long long begin;
	int fd, status;

	if (argc < 3) {
		fprintf(stderr, "usage: within FILE COMMAND...\n");
		return 2;
	}
	begin = now_ns();
	status = run(argv + 2);
	fd = open(argv[1], O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	if (fd < 0 || dprintf(fd, "%lld %lld\n", begin, now_ns()) < 0)
		fail(argv[1]);
	return status;
}
