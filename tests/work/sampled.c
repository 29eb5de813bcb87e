/* SPDX-License-Identifier: MIT */

/*
 * Processes whose memory and CPU time change in known ways, for tests of samples.  Prints "name pid" of each as it begins, and
 * waits for them all: some six seconds.
 *
 *	grows       its memory grows by 16 MiB each 0.6 s, up to 80 MiB, and is given back
 *	burns       uses a processor
 *	sleeps      does nothing
 *	threads     two threads burn and end, a third one burns on
 *	leaderless  its first thread ends at once; another one has 24 MiB, and burns
 *	executes    another thread than the first one executes a program, which burns and has 8 MiB
 *	short       ends after 0.5 s
 */

#include <err.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MB (1 << 20)

static int64_t now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000LL + ts.tv_nsec / 1000000;
}

static void burn(int ms)
{
	int64_t end = now_ms() + ms;

	while (now_ms() < end)
		for (volatile int i = 0; i < 10000; i++)
			;
}

static char *take(size_t bytes)
{
	char *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (at == MAP_FAILED)
		err(1, "mmap");
	memset(at, 1, bytes);
	return at;
}

static void *burn_thread(void *arg)
{
	burn((int)(intptr_t)arg);
	return NULL;
}

static pthread_t thread(void *(*function)(void *), void *arg)
{
	pthread_t id;

	if (pthread_create(&id, NULL, function, arg) != 0)
		errx(1, "pthread_create");
	return id;
}

static void grows(void)
{
	char *parts[5];

	for (int i = 0; i < 5; i++) {
		parts[i] = take(16 * MB);
		usleep(600000);
	}
	for (int i = 0; i < 5; i++)
		munmap(parts[i], 16 * MB);
	usleep(2600000); /* a whole second after the sample of this */
}

static void burns(void)
{
	burn(4500);
}

static void sleeps(void)
{
	sleep(5);
}

static void threads(void)
{
	pthread_t ids[3];

	for (int i = 0; i < 3; i++)
		ids[i] = thread(burn_thread, (void *)(intptr_t)(i ? 1500 : 4000));
	for (int i = 0; i < 3; i++)
		pthread_join(ids[i], NULL);
}

static void *burn_to_the_end(void *arg)
{
	(void)arg;
	take(24 * MB);
	burn(4200);
	exit(0);
}

static void leaderless(void)
{
	thread(burn_to_the_end, NULL);
	pthread_exit(NULL);
}

static void *execute(void *arg)
{
	(void)arg;
	burn(1300);
	execl("/proc/self/exe", "sampled", "executed", NULL);
	err(1, "cannot execute /proc/self/exe");
}

static void executes(void)
{
	pthread_join(thread(execute, NULL), NULL);
}

static void short_one(void)
{
	usleep(500000);
}

static void start(const char *name, void (*work)(void))
{
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (pid < 0)
		err(1, "fork");
	if (pid == 0) {
		work();
		exit(0);
	}
	printf("%s %d\n", name, (int)pid);
}

int main(int argc, char **argv)
{
	(void)argv;
	if (argc > 1) {
		take(8 * MB);
		burn(3000);
		return 0;
	}
	start("grows", grows);
	start("burns", burns);
	start("sleeps", sleeps);
	start("threads", threads);
	start("leaderless", leaderless);
	start("executes", executes);
	start("short", short_one);
	fflush(stdout);
	while (wait(NULL) > 0)
		;
	return 0;
}
