/* SPDX-License-Identifier: MIT */
/* kernel_forks N: N processes, eight at a time, which end at once with a status of 0 to 6.  Prints the sum of the statuses. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static long finish(void)
{
	int status;

	return wait(&status) > 0 && WIFEXITED(status) ? WEXITSTATUS(status) : 0;
}

int main(int argc, char **argv)
{
	long n = argc > 1 ? atol(argv[1]) : 0, sum = 0;

	for (long i = 0; i < n; i++) {
		if (i >= 8)
			sum += finish();
		if (fork() == 0)
			_exit(i % 7);
	}
	for (long i = 0; i < n && i < 8; i++)
		sum += finish();
	printf("%ld\n", sum);
	return 0;
}
