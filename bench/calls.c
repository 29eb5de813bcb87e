/* SPDX-License-Identifier: MIT */
/*
 * calls CALL TURNS COUNT: does a system call COUNT times in each of TURNS turns, and prints what one of them costs: the
 * nanoseconds of CPU time of this thread, in the best turn. It makes a file in the current directory and removes it.
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

static char name[32];
static int data = -1;

static void fail(const char *what)
{
	perror(what);
	exit(1);
}

static void other(void)
{
	syscall(SYS_getppid);
}

static void read_byte(void)
{
	char byte;

	if (read(data, &byte, 1) != 1)
		fail("read");
}

static void look(void)
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
	{ "other", other }, /* one that is not recorded */
	{ "read", read_byte },
	{ "stat", look },
	{ "open+close", open_close },
};

static void (*find_call(const char *word))(void)
{
	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++)
		if (strcmp(calls[i].name, word) == 0)
			return calls[i].call;
	return NULL;
}

static uint64_t cpu_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return now.tv_sec * 1000000000ull + now.tv_nsec;
}

static double one_turn(void (*call)(void), long count)
{
	uint64_t begin;

	if (lseek(data, 0, SEEK_SET) < 0)
		fail("lseek");
	begin = cpu_ns();
	for (long i = 0; i < count; i++)
		call();
	return (double)(cpu_ns() - begin) / count;
}

static void make_file(long bytes)
{
	snprintf(name, sizeof(name), "calls.%d", getpid());
	data = open(name, O_RDWR | O_CREAT | O_TRUNC, 0644);
	if (data < 0 || posix_fallocate(data, 0, bytes) != 0)
		fail(name);
}

int main(int argc, char *argv[])
{
	void (*call)(void) = argc == 4 ? find_call(argv[1]) : NULL;
	long turns = argc == 4 ? strtol(argv[2], NULL, 10) : 0, count = argc == 4 ? strtol(argv[3], NULL, 10) : 0;
	double best = 1e18, each;

	if (!call || turns <= 0 || count <= 0) {
		fprintf(stderr, "usage: calls other|read|stat|open+close TURNS COUNT\n");
		return 2;
	}
	make_file(count);
	for (long i = 0; i < turns; i++) {
		each = one_turn(call, count);
		best = each < best ? each : best;
	}
	printf("%.1f\n", best);
	return unlink(name) != 0;
}
