/* SPDX-License-Identifier: MIT */

/*
 * exec_cloexec FILE ROUNDS: opens FILE with O_CLOEXEC from two threads' worth of descriptors,
 * forks, and execs /bin/true in the child, so that the exec closes them; every other round the
 * child just exits.  Prints the number of rounds.
 */

#include <err.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static void one_round(const char *path, int i)
{
	int fds[4], status;
	pid_t pid;

	for (int j = 0; j < 4; j++)
		if ((fds[j] = open(path, O_RDONLY | O_CLOEXEC)) < 0)
			err(1, "open");
	pid = fork();
	if (pid < 0)
		err(1, "fork");
	if (pid == 0) {
		if (i % 2)
			_exit(0);
		execl("/bin/true", "true", (char *)NULL);
		_exit(127);
	}
	for (int j = 0; j < 4; j++)
		close(fds[j]);
	if (waitpid(pid, &status, 0) < 0 || status != 0)
		errx(1, "child: status %d", status);
}

int main(int argc, char **argv)
{
	int rounds = argc == 3 ? atoi(argv[2]) : 0;

	if (rounds <= 0)
		errx(2, "usage: exec_cloexec FILE ROUNDS");
	for (int i = 0; i < rounds; i++)
		one_round(argv[1], i);
	printf("%d\n", rounds);
	return 0;
}
