/* SPDX-License-Identifier: MIT */
/* kernel_reads N PROCESSES: each of them reads N times one byte of /dev/zero. */
#include <fcntl.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static int reads(long n)
{
	int fd = open("/dev/zero", O_RDONLY);
	char byte;

	for (long i = 0; i < n; i++)
		if (read(fd, &byte, 1) != 1)
			return 1;
	return 0;
}

int main(int argc, char **argv)
{
	for (int i = 0; argc > 2 && i < atoi(argv[2]); i++)
		if (fork() == 0)
			_exit(reads(atol(argv[1])));
	while (wait(NULL) > 0)
		;
	return 0;
}
