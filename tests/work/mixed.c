/* SPDX-License-Identifier: MIT */

/*
 * mixed FILE ROUNDS: in each page of a file two threads store through a mapping, two write(2), one syncs, all at the same
 * time and each its own eight bytes.  Prints how many stores and writes the file has lost at the end of a round.
 *
 * mixed FILE forget PAGES: a page is stored to, and all are written directly while they are in the page cache.
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { PAGE = 4096, PAGES = 64, EACH = 2, WORDS = PAGE / 8, WRITTEN = WORDS / 2 };

static const char *path;
static int fd;
static uint64_t *map, value;
static pthread_barrier_t barrier;

static void must(bool is_so, const char *what)
{
	if (is_so)
		return;
	perror(what);
	exit(1);
}

static void map_file(int pages)
{
	fd = open(path, O_RDWR | O_CREAT, 0600);
	must(fd >= 0 && ftruncate(fd, (off_t)pages * PAGE) == 0, path);
	map = mmap(NULL, (size_t)pages * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	must(map != MAP_FAILED, "mmap");
}

static void unmap_file(int pages)
{
	must(munmap(map, (size_t)pages * PAGE) == 0 && close(fd) == 0, "munmap");
}

static void *store(void *number)
{
	for (int page = 0; page < PAGES; page++) {
		pthread_barrier_wait(&barrier);
		((volatile uint64_t *)map)[page * WORDS + (intptr_t)number] = value;
	}
	return NULL;
}

static void *write_words(void *number)
{
	for (int page = 0; page < PAGES; page++) {
		pthread_barrier_wait(&barrier);
		must(pwrite(fd, &value, 8, (off_t)page * PAGE + 8 * (WRITTEN + (intptr_t)number)) == 8, "pwrite");
	}
	return NULL;
}

static void *sync_pages(void *unused)
{
	for (int page = 0; page < PAGES; page++) {
		pthread_barrier_wait(&barrier);
		must(msync(map + (size_t)page * WORDS, PAGE, MS_SYNC) == 0, "msync");
	}
	return unused;
}

static void race(void)
{
	pthread_t threads[2 * EACH + 1];
	int n = 0;

	pthread_barrier_init(&barrier, NULL, 2 * EACH + 1);
	for (intptr_t i = 0; i < EACH; i++) {
		pthread_create(&threads[n++], NULL, store, (void *)i);
		pthread_create(&threads[n++], NULL, write_words, (void *)i);
	}
	pthread_create(&threads[n++], NULL, sync_pages, NULL);
	while (n)
		pthread_join(threads[--n], NULL);
	pthread_barrier_destroy(&barrier);
}

static void count_lost(long *stores, long *writes)
{
	uint64_t page[WORDS];

	fd = open(path, O_RDONLY);
	for (int i = 0; i < PAGES; i++) {
		must(pread(fd, page, PAGE, (off_t)i * PAGE) == PAGE, "pread");
		for (int k = 0; k < EACH; k++) {
			*stores += page[k] != value;
			*writes += page[WRITTEN + k] != value;
		}
	}
	close(fd);
}

static void race_rounds(int rounds)
{
	long stores = 0, writes = 0;

	for (int i = 1; i <= rounds; i++) {
		if (i % 4 == 1)
			unlink(path);
		value = i;
		map_file(PAGES);
		race();
		unmap_file(PAGES);
		count_lost(&stores, &writes);
	}
	printf("of %d stores and as many writes: %ld stores lost, %ld writes lost\n", rounds * PAGES * EACH, stores, writes);
}

static void forget(int pages)
{
	volatile uint64_t sum = 0;

	map_file(pages);
	for (int i = 0; i < pages; i++)
		sum += map[(size_t)i * WORDS];
	(void)sum;
	for (int i = 0; i < pages; i++)
		must(pwrite(fd, "w", 1, (off_t)i * PAGE + 100) == 1, "pwrite");
	map[0] = 1;
	unmap_file(pages);
}

int main(int argc, char **argv)
{
	if (argc < 3)
		return 2;
	path = argv[1];
	if (strcmp(argv[2], "forget") == 0 && argc == 4)
		forget(atoi(argv[3]));
	else
		race_rounds(atoi(argv[2]));
	return 0;
}
