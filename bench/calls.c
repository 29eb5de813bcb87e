/* SPDX-License-Identifier: MIT */
/*
 * calls DIRECTORY [COUNT]: what one system call costs, in nanoseconds of CPU time of the thread that does it: the best of
 * several turns, each of which repeats the call. Prints a line "NAME NANOSECONDS" for each. It makes a file in the
 * directory and removes it.
 */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { TURNS = 15, SIZE = 4096 };

static const char name[] = "calls.data";
static int data = -1;

static void fail(const char *what)
{
	perror(what);
	exit(1);
}

static void getppid_(void)
{
	syscall(SYS_getppid);
}

static void read_byte(void)
{
	char byte;

	if (read(data, &byte, 1) < 0)
		fail("read");
}

static void pread_page(void)
{
	char page[SIZE];

	if (pread(data, page, sizeof(page), 0) != sizeof(page))
		fail("pread");
}

static void stat_(void)
{
	struct stat st;

	if (stat(name, &st) < 0)
		fail("stat");
}

static void open_close(void)
{
	int fd = open(name, O_RDONLY);

	if (fd < 0 || close(fd) < 0)
		fail("open");
}

static const struct {
	const char *name;
	void (*call)(void);
} calls[] = {
	{ "getppid", getppid_ },
	{ "read", read_byte },
	{ "pread-4k", pread_page },
	{ "stat", stat_ },
	{ "open+close", open_close },
};

static uint64_t cpu_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return now.tv_sec * 1000000000ull + now.tv_nsec;
}

/* The turns are short, so that some of them are not interrupted. */
static double best_of(void (*call)(void), long count)
{
	double best = 1e18;

	for (int turn = 0; turn < TURNS; turn++) {
		uint64_t begin;
		double each;

		lseek(data, 0, SEEK_SET);
		begin = cpu_ns();
		for (long i = 0; i < count; i++)
			call();
		each = (double)(cpu_ns() - begin) / count;
		best = each < best ? each : best;
	}
	return best;
}

static void make_file(void)
{
	static const char bytes[SIZE];

	data = open(name, O_RDWR | O_CREAT | O_TRUNC, 0644);
	if (data < 0 || write(data, bytes, SIZE) != SIZE)
		fail(name);
}

int main(int argc, char *argv[])
{
	long count = argc == 3 ? strtol(argv[2], NULL, 10) : 2000;

	if (argc < 2 || count <= 0) {
		fprintf(stderr, "usage: calls DIRECTORY [COUNT]\n");
		return 2;
	}
	if (chdir(argv[1]) < 0)
		fail(argv[1]);
	make_file();
	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++)
		printf("%s %.1f\n", calls[i].name, best_of(calls[i].call, count));
	return unlink(name) != 0;
}
