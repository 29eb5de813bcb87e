/* SPDX-License-Identifier: MIT */
/*
 * kernel_shared FILE: threads read FILE by descriptors that another thread closes and opens again meanwhile.  Prints how
 * many reads succeeded.
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

#define DESCRIPTORS 8
#define READERS 4
#define TURNS 1500

static const char *path;
static _Atomic int descriptors[DESCRIPTORS];
static _Atomic long done;
static _Atomic int over;

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
		descriptors[i] = open(path, O_RDONLY);
	for (int i = 0; i < READERS; i++)
		pthread_create(&readers[i], NULL, read_all, NULL);
	for (int i = 0; i < TURNS; i++) {
		close(descriptors[i % DESCRIPTORS]);
		descriptors[i % DESCRIPTORS] = open(path, O_RDONLY);
	}
	over = 1;
	for (int i = 0; i < READERS; i++)
		pthread_join(readers[i], NULL);
	printf("%ld\n", done);
	return 0;
}
