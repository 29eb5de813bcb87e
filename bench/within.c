/* SPDX-License-Identifier: MIT */
/*
 * within FILE COMMAND...: runs the command and writes into FILE when it began and when it had ended, as nanoseconds of
 * CLOCK_MONOTONIC, and the nanoseconds of CPU time that it and its descendants have used. A tracer runs this instead of the command, so that its own start and end are not in the time between.
 * The exit status is the command's.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static long long now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000000ll + now.tv_nsec;
}

/* Of all that has been waited for. */
static long long used_ns(void)
{
	struct rusage used;

	getrusage(RUSAGE_CHILDREN, &used);
	return (used.ru_utime.tv_sec + used.ru_stime.tv_sec) * 1000000000ll +
		(used.ru_utime.tv_usec + used.ru_stime.tv_usec) * 1000ll;
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
	long long begin, end;
	int fd, status;

	if (argc < 3) {
		fprintf(stderr, "usage: within FILE COMMAND...\n");
		return 2;
	}
	begin = now_ns();
	status = run(argv + 2);
	end = now_ns();
	fd = open(argv[1], O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	if (fd < 0 || dprintf(fd, "%lld %lld %lld\n", begin, end, used_ns()) < 0)
		fail(argv[1]);
	return status;
}
