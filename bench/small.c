/* SPDX-License-Identifier: MIT */
/*
 * small FILES: makes, looks at and removes FILES small files, in each of two processes at the same
 * time, in directories of their own below the current one. Prints how many calls that were.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { WORKERS = 2, SIZE = 1024, CALLS_PER_FILE = 5 };

static void fail(const char *what)
{
	perror(what);
	exit(1);
}

static void make(const char *name)
{
	static const char data[SIZE];
	int fd = open(name, O_WRONLY | O_CREAT | O_EXCL, 0644);

	if (fd < 0 || write(fd, data, sizeof(data)) != sizeof(data) || close(fd) < 0)
		fail(name);
}

static void look(const char *name)
{
	struct stat st;

	if (stat(name, &st) < 0 || st.st_size != SIZE)
		fail(name);
}

static void drop(const char *name)
{
	if (unlink(name) < 0)
		fail(name);
}

static void work(int worker, long files)
{
	static void (*const steps[])(const char *name) = { make, look, drop };
	char name[64];

	snprintf(name, sizeof(name), "small-%d", worker);
	if (mkdir(name, 0755) < 0)
		fail(name);
	for (size_t step = 0; step < sizeof(steps) / sizeof(steps[0]); step++)
		for (long i = 0; i < files; i++) {
			snprintf(name, sizeof(name), "small-%d/%ld", worker, i);
			steps[step](name);
		}
	snprintf(name, sizeof(name), "small-%d", worker);
	if (rmdir(name) < 0)
		fail(name);
	exit(0);
}

int main(int argc, char *argv[])
{
	long files = argc == 2 ? strtol(argv[1], NULL, 10) : 0;
	int status, failed = 0;

	if (files <= 0) {
		fprintf(stderr, "usage: small FILES\n");
		return 2;
	}
	for (int i = 0; i < WORKERS; i++) {
		pid_t pid = fork();

		if (pid < 0)
			fail("fork");
		if (pid == 0)
			work(i, files);
	}
	while (wait(&status) > 0)
		failed |= status;
	printf("%ld\n", WORKERS * files * CALLS_PER_FILE);
	return failed != 0;
}
