/* SPDX-License-Identifier: MIT */

/*
 * Children of known work, for tests that measure them: each line printed is
 *
 *	name pid status utime_us stime_us maxrss_kb minflt majflt nvcsw nivcsw rchar wchar
 *
 * of one that has ended: wait4(2)'s figures, then the bytes it is known to have read and written, -1
 * where that is not known.  A child of threads or of another program gives the sum, as wait4(2) does.
 */

#include <err.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MB (1 << 20)

static long long cpu_ms(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return ts.tv_sec * 1000LL + ts.tv_nsec / 1000000;
}

static void burn(clockid_t clock, int ms)
{
	volatile unsigned long n = 0;

	while (cpu_ms(clock) < ms)
		for (int i = 0; i < 100000; i++)
			n += i;
	(void)n;
}

static int user(void)
{
	burn(CLOCK_PROCESS_CPUTIME_ID, 200);
	return 0;
}

static int kernel(void)
{
	while (cpu_ms(CLOCK_PROCESS_CPUTIME_ID) < 200)
		for (int i = 0; i < 1000; i++)
			syscall(SYS_getppid);
	return 0;
}

static void touch(size_t size)
{
	char *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	for (size_t at = 0; at < size; at += 4096)
		memory[at] = 1;
	munmap(memory, size);
}

static int memory(void)
{
	touch(96 * MB);
	return 0;
}

static void move(int in, int out, size_t reads, size_t writes)
{
	char buffer[65536];

	for (size_t n; reads; reads -= n) {
		n = reads < sizeof(buffer) ? reads : sizeof(buffer);
		if (read(in, buffer, n) != (ssize_t)n)
			_exit(99);
	}
	for (size_t n; writes; writes -= n) {
		n = writes < sizeof(buffer) ? writes : sizeof(buffer);
		if (write(out, buffer, n) != (ssize_t)n)
			_exit(99);
	}
}

#define READS 3000001
#define WRITES 1234567

static int io(void)
{
	move(open("/dev/zero", O_RDONLY), open("/dev/null", O_WRONLY), READS, WRITES);
	return 0;
}

static int sleeper(void)
{
	const struct timespec ms = { .tv_nsec = 1000000 };

	for (int i = 0; i < 50; i++)
		nanosleep(&ms, NULL);
	return 0;
}

static void *work(void *arg)
{
	(void)arg;
	burn(CLOCK_THREAD_CPUTIME_ID, 40);
	move(open("/dev/zero", O_RDONLY), open("/dev/null", O_WRONLY), 100000, 50000);
	return NULL;
}

/* Some end long before others. */
static int threads(void)
{
	pthread_t all[6];

	for (int round = 0; round < 2; round++) {
		for (int i = 0; i < 3; i++)
			pthread_create(&all[3 * round + i], NULL, work, NULL);
		for (int i = 0; round == 0 && i < 3; i++)
			pthread_join(all[i], NULL);
	}
	for (int i = 3; i < 6; i++)
		pthread_join(all[i], NULL);
	return 3;
}

/* The first thread ends first. */
static void *outlive(void *arg)
{
	(void)arg;
	usleep(20000);
	burn(CLOCK_PROCESS_CPUTIME_ID, 50);
	exit(6);
}

static int leaderless(void)
{
	pthread_t thread;

	pthread_create(&thread, NULL, outlive, NULL);
	pthread_exit(NULL);
}

static int code(void)
{
	return 37;
}

static int terminated(void)
{
	raise(SIGTERM);
	return 0;
}

static int killed(void)
{
	burn(CLOCK_PROCESS_CPUTIME_ID, 30);
	raise(SIGKILL);
	return 0;
}

/* What is thrown away at the exec has been used all the same. */
static int program(void)
{
	touch(32 * MB);
	execl("/bin/true", "true", NULL);
	return 99;
}

static void *spin(void *arg)
{
	for (;;)
		burn(CLOCK_THREAD_CPUTIME_ID, 1000000);
	return arg;
}

/* All end at once, in the middle of what they do. */
static int group(void)
{
	pthread_t thread;

	for (int i = 0; i < 3; i++)
		pthread_create(&thread, NULL, spin, NULL);
	burn(CLOCK_THREAD_CPUTIME_ID, 30);
	move(open("/dev/zero", O_RDONLY), open("/dev/null", O_WRONLY), READS, WRITES);
	_exit(4);
}

static void *go_on_as_program(void *arg)
{
	usleep(30000);
	execl("/bin/true", "true", NULL);
	return arg;
}

/* The exec of one thread ends the others. */
static int relay(void)
{
	pthread_t thread;

	pthread_create(&thread, NULL, spin, NULL);
	pthread_create(&thread, NULL, go_on_as_program, NULL);
	spin(NULL);
	return 99;
}

static const struct {
	const char *name;
	int (*work)(void);
	long reads, writes;
} children[] = {
	{ "user", user, 0, 0 },
	{ "kernel", kernel, 0, 0 },
	{ "memory", memory, 0, 0 },
	{ "io", io, READS, WRITES },
	{ "sleeper", sleeper, 0, 0 },
	{ "threads", threads, 600000, 300000 },
	{ "leaderless", leaderless, -1, -1 }, /* pthread_exit(3) loads a library */
	{ "code", code, 0, 0 },
	{ "terminated", terminated, 0, 0 },
	{ "killed", killed, 0, 0 },
	{ "program", program, -1, -1 },
	{ "group", group, READS, WRITES },
	{ "relay", relay, -1, -1 },
};

static long long us(struct timeval tv)
{
	return tv.tv_sec * 1000000LL + tv.tv_usec;
}

int main(void)
{
	for (size_t i = 0; i < sizeof(children) / sizeof(children[0]); i++) {
		struct rusage ru;
		int status;
		pid_t pid = fork();

		if (pid == 0)
			_exit(children[i].work());
		if (pid < 0 || wait4(pid, &status, 0, &ru) != pid)
			err(1, "%s", children[i].name);
		printf("%s %d %d %lld %lld %ld %ld %ld %ld %ld %ld %ld\n", children[i].name, pid,
			status, us(ru.ru_utime), us(ru.ru_stime), ru.ru_maxrss, ru.ru_minflt,
			ru.ru_majflt, ru.ru_nvcsw, ru.ru_nivcsw, children[i].reads,
			children[i].writes);
		fflush(stdout);
	}
	return 0;
}
