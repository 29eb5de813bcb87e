/* SPDX-License-Identifier: MIT */
/*
 * kernel_shared FILE: threads read FILE by descriptors that another thread closes meanwhile, and replaces by others.  Prints
 * how many reads succeeded.  No number of a descriptor is used again: a call whose descriptor becomes another one between its
 * entry and its use is a matter of luck.
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

#define DESCRIPTORS 8
#define READERS 4
#define FIRST 64
#define TURNS 900

static const char *path;
static _Atomic int descriptors[DESCRIPTORS];
static _Atomic long done;
static _Atomic int over;

static int open_as(int least)
{
	int fd = open(path, O_RDONLY), copy = fcntl(fd, F_DUPFD, least);

	close(fd);
	return copy;
}

static void *read_all(void *arg)
{
	char byte;

	while (!over)
		for (int i = 0; i < DESCRIPTORS; i++)
			done += pread(descriptors[i], &byte, 1, 0) >= 0;
	return arg;
}

int main(int argc, char **argv)
{
	pthread_t readers[READERS];

	path = argc > 1 ? argv[1] : "/dev/null";
	for (int i = 0; i < DESCRIPTORS; i++)
		descriptors[i] = open_as(FIRST + i);
	for (int i = 0; i < READERS; i++)
		pthread_create(&readers[i], NULL, read_all, NULL);
	for (int i = 0; i < TURNS; i++) {
		int old = descriptors[i % DESCRIPTORS];

		descriptors[i % DESCRIPTORS] = open_as(FIRST + DESCRIPTORS + i);
		close(old);
	}
	over = 1;
	for (int i = 0; i < READERS; i++)
		pthread_join(readers[i], NULL);
	printf("%ld\n", done);
	return 0;
}
