/* SPDX-License-Identifier: MIT */

/*
 * layers WAY: calls of libc in a way that a preloaded object has to cope with. What each does is compared with what another
 * preloaded object (count_calls.c) saw of the same run.
 */

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static char *own;

static void streams(const char *name)
{
	char line[64], block[100];
	FILE *f = fopen(name, "w+");

	if (!f)
		exit(1);
	for (int i = 0; i < 100; i++)
		fputs("a line of a file\n", f);
	fwrite("0123456789", 5, 2, f);
	fputc('\n', f);
	fprintf(f, "%d %s\n", 17, "words");
	fflush(f);
	fseek(f, 0, SEEK_SET);
	if (!fgets(line, sizeof(line), f) || fgetc(f) != 'a' || fread(block, 10, 7, f) != 7)
		exit(1);
	if (ftell(f) != 17 + 1 + 70)
		exit(1);
	fclose(f);
}

static void descriptors(const char *name)
{
	char block[100];
	int fd = open(name, O_RDWR | O_CREAT | O_TRUNC, 0600), other;

	if (write(fd, "some bytes", 10) != 10 || pread(fd, block, 5, 2) != 5 || lseek(fd, 0, SEEK_SET) != 0)
		exit(1);
	other = dup(fd);
	if (read(other, block, sizeof(block)) != 10 || read(-1, block, 1) != -1 || errno != EBADF)
		exit(1);
	if (open("/no/such/file", O_RDONLY) != -1 || errno != ENOENT)
		exit(1);
	close(other);
	close(fd);
}

static void *thread(void *arg)
{
	char name[32];

	snprintf(name, sizeof(name), "thread%d", (int)(long)arg);
	for (int i = 0; i < 20; i++) {
		streams(name);
		descriptors(name);
	}
	return NULL;
}

static void threads(void)
{
	pthread_t ids[4];

	for (long i = 0; i < 4; i++)
		if (pthread_create(&ids[i], NULL, thread, (void *)i))
			exit(1);
	for (int i = 0; i < 4; i++)
		pthread_join(ids[i], NULL);
}

static void await(pid_t pid)
{
	int status;

	if (waitpid(pid, &status, 0) != pid)
		exit(1);
}

static void forks(void)
{
	pid_t pid = fork();

	if (pid == 0) {
		streams("child");
		if (fork() == 0) {
			descriptors("grandchild");
			_exit(3);
		}
		wait(NULL);
		exit(2);
	}
	await(pid);
	pid = fork();
	if (pid == 0) {
		streams("aborted");
		abort();
	}
	await(pid);
	streams("parent");
}

/* The child has our memory, and calls what libc allows there only by custom: shells and Python do. */
static void vfork_one(int fd, int executes)
{
	pid_t pid = vfork();

	if (pid == 0) {
		if (dup2(fd, 7) != 7 || write(7, "from the child\n", 15) != 15)
			_exit(1);
		if (executes)
			execl(own, own, "descriptors", NULL);
		_exit(0);
	}
	if (write(fd, "from the parent\n", 16) != 16)
		exit(1);
	await(pid);
}

static void vforks(void)
{
	for (int i = 0; i < 3; i++) {
		int fd = open("vforked", O_WRONLY | O_CREAT | O_APPEND, 0600);

		vfork_one(fd, i == 1);
		close(fd);
		descriptors("after");
	}
}

static sigjmp_buf out;
static int ends[2];

static void on_signal(int sig)
{
	if (write(ends[1], "s", 1) != 1)
		_exit(1);
	if (sig == SIGUSR2)
		siglongjmp(out, 1);
}

static void on_alarm(int sig)
{
	(void)sig;
	for (int i = 0; i < 3; i++)
		lseek(ends[0], 0, SEEK_SET); /* fails: it is a pipe */
}

static void signals(void)
{
	char c;

	if (pipe(ends) < 0)
		exit(1);
	signal(SIGUSR1, on_signal);
	signal(SIGUSR2, on_signal);
	raise(SIGUSR1);
	descriptors("signalled");
	if (!sigsetjmp(out, 1))
		raise(SIGUSR2);
	if (read(ends[0], &c, 1) != 1 || read(ends[0], &c, 1) != 1)
		exit(1);
	signal(SIGALRM, on_alarm);
	ualarm(200, 200);
	for (int i = 0; i < 60; i++)
		streams("interrupted");
	ualarm(0, 0);
}

/* By addresses that a program looked up itself. */
static void loads(void)
{
	void *whole = dlopen(NULL, RTLD_NOW), *libm = dlopen("libm.so.6", RTLD_NOW);
	ssize_t (*put)(int, const void *, size_t) = (ssize_t(*)(int, const void *, size_t))dlsym(RTLD_DEFAULT, "write");
	int fd = open("loaded", O_WRONLY | O_CREAT, 0600);

	if (!whole || !libm || !put || put(fd, "by address", 10) != 10)
		exit(1);
	dlclose(libm);
	close(fd);
}

/* Writes a number after each write, until it is killed. */
static void forever(void)
{
	int fd = open("forever", O_WRONLY | O_CREAT | O_TRUNC, 0600);

	for (unsigned i = 1;; i++) {
		if (write(fd, "x", 1) != 1 || write(1, &i, sizeof(i)) != sizeof(i))
			exit(1);
	}
}

/* What a program can see of its surroundings. */
static void surroundings(void)
{
	char path[64];
	int lowest = open("/dev/null", O_RDONLY), n = 0;

	close(lowest);
	for (int fd = 0; fd < 64; fd++)
		n += fcntl(fd, F_GETFD) >= 0;
	printf("%d descriptors, the next is %d\n", n, lowest);
	syscall(SYS_close_range, 3, ~0u, 0);
	snprintf(path, sizeof(path), "surroundings%d", 1);
	streams(path);
	descriptors(path);
	errno = 77;
	fputs("errno stays ", stdout);
	fflush(stdout);
	printf("%d\n", errno);
	for (char **at = environ; *at; at++)
		if (strncmp(*at, "LD_PRELOAD=", 11) != 0 && strncmp(*at, "FTRAC_", 6) != 0)
			puts(*at);
	if (fork() == 0) {
		printf("buffered twice? ");
		fflush(stdout);
		_exit(0);
	}
	wait(NULL);
	printf("no newline at the end");
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*run)(void);
	} ways[] = { { "threads", threads }, { "forks", forks }, { "vforks", vforks }, { "signals", signals }, { "loads", loads },
		{ "forever", forever }, { "surroundings", surroundings } };
	const char *way = argc > 1 ? argv[1] : "";

	own = argv[0];
	if (strcmp(way, "descriptors") == 0)
		descriptors("executed");
	else if (strcmp(way, "streams") == 0)
		streams("streams");
	for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++)
		if (strcmp(ways[i].name, way) == 0)
			ways[i].run();
	return 0;
}
