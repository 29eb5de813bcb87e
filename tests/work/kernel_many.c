/* SPDX-License-Identifier: MIT */
/*
 * kernel_many N: runs N short commands with arguments of their own, four at a time.  Prints for each, when it has ended:
 * process, its argument, wait status, and what wait4(2) says that it has used: user and system time (us), peak memory
 * (KiB), minor and major faults, voluntary and other switches.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static pid_t start(int n)
{
	char text[16];
	pid_t pid = fork();

	if (pid == 0) {
		snprintf(text, sizeof(text), "%d", n);
		execl("/bin/sh", "sh", "-c", "i=0; while [ $i -lt $(($1 % 500)) ]; do i=$((i+1)); done; exit $(($1 % 7))",
			"sh", text, (char *)NULL);
		_exit(99);
	}
	return pid;
}

static long us(struct timeval t)
{
	return t.tv_sec * 1000000 + t.tv_usec;
}

static void finish(pid_t *pids, int n)
{
	struct rusage r;
	int status, which = 0;
	pid_t pid = wait4(-1, &status, 0, &r);

	while (which < n && pids[which] != pid)
		which++;
	printf("%d %d %d %ld %ld %ld %ld %ld %ld %ld\n", (int)pid, which, status, us(r.ru_utime), us(r.ru_stime), r.ru_maxrss,
		r.ru_minflt, r.ru_majflt, r.ru_nvcsw, r.ru_nivcsw);
	if (which < n)
		pids[which] = 0; /* the number may be used again */
}

int main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 0;
	pid_t *pids = calloc(n + 1, sizeof(*pids));

	for (int i = 0; i < n + 4; i++) {
		if (i < n)
			pids[i] = start(i);
		if (i >= 4 && i - 4 < n)
			finish(pids, n);
	}
	free(pids);
	return 0;
}
