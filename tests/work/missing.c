/* SPDX-License-Identifier: MIT */

/*
 * missing DIRECTORY COUNT BYTES [PROCESSES]: looks for COUNT names of BYTES bytes that are not in the directory,
 * each once; as many by each of the processes, which end one after the other.
 */

#include <err.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static void look_for(long first, long count, int bytes)
{
	char name[NAME_MAX + 1];
	struct stat st;

	memset(name, 'x', sizeof(name));
	for (long i = first; i < first + count; i++) {
		int n = snprintf(name, sizeof(name), "missing-%ld-", i);

		name[n] = 'x';
		name[bytes] = '\0';
		if (lstat(name, &st) == 0 || errno != ENOENT)
			err(1, "'%s' is not missing", name);
		name[bytes] = 'x';
	}
}

int main(int argc, char **argv)
{
	long count = argc > 2 ? atol(argv[2]) : 0, processes = argc > 4 ? atol(argv[4]) : 1;
	int bytes = argc > 3 ? atoi(argv[3]) : 0;

	if (count <= 0 || bytes < 32 || bytes > NAME_MAX || processes <= 0)
		errx(2, "usage: missing DIRECTORY COUNT BYTES(32-255) [PROCESSES]");
	if (chdir(argv[1]) < 0)
		err(1, "%s", argv[1]);
	for (long i = 0; i < processes; i++) {
		int status;
		pid_t child = processes > 1 ? fork() : 0;

		if (child < 0)
			err(1, "fork");
		if (child == 0) {
			look_for(i * (count / processes), count / processes, bytes);
			if (processes > 1)
				_exit(0);
		} else if (waitpid(child, &status, 0) < 0 || status) {
			errx(1, "a process failed");
		}
	}
	return 0;
}
