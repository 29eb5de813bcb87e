/* SPDX-License-Identifier: MIT */

/*
 * layer_sums ROUNDS [one]: many short calls of libc, on files that take turns, whose descriptors and streams are used again for others.
 * Each thread of each process counts its own calls, and adds at its end a line for each function and descriptor to the file "told":
 *
 *   tid name fd calls asked moved
 */

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define KINDS 256

static _Thread_local struct {
	const char *name;
	int fd;
	long calls, asked, moved;
} told[KINDS];

static int rounds;

static void note(const char *name, int fd, long asked, long moved)
{
	int i = 0;

	while (i < KINDS - 1 && told[i].name && (strcmp(told[i].name, name) != 0 || told[i].fd != fd))
		i++;
	told[i].name = name;
	told[i].fd = fd;
	told[i].calls++;
	told[i].asked += asked;
	told[i].moved += moved;
}

static void write_told(void)
{
	int fd = (int)syscall(SYS_openat, AT_FDCWD, "told", O_WRONLY | O_APPEND | O_CREAT, 0600);

	for (int i = 0; i < KINDS && told[i].name; i++) {
		char line[100];
		int n = snprintf(line, sizeof(line), "%ld %s %d %ld %ld %ld\n", syscall(SYS_gettid), told[i].name, told[i].fd, told[i].calls,
			told[i].asked, told[i].moved);

		if (syscall(SYS_write, fd, line, n) != n)
			abort();
	}
	syscall(SYS_close, fd);
}

static void need(int fine)
{
	if (!fine)
		abort();
}

static FILE *open_stream(const char *name, const char *mode)
{
	FILE *f = fopen(name, mode);

	need(f != NULL);
	note("fopen", fileno(f), 0, 0);
	return f;
}

static void close_stream(FILE *f)
{
	note("fclose", fileno(f), 0, 0);
	need(fclose(f) == 0);
}

static void fill(FILE *f)
{
	char text[128];

	for (int i = 0; i < 300; i++) {
		int n = i * 7 % 90;

		memset(text, 'a' + i % 26, (size_t)n);
		strcpy(text + n, "\n");
		need(fputs(text, f) >= 0);
		note("fputs", fileno(f), n + 1, n + 1);
	}
	rewind(f);
	note("rewind", fileno(f), 0, 0);
}

static void note_printed(FILE *f, int n)
{
	need(n > 0);
	note("fprintf", fileno(f), n, n);
}

/* Other functions on streams, in turn. */
static void sometimes(int i, FILE *in, FILE *out, FILE *log)
{
	char block[6000];
	long n = i * 37 % 6000;

	memset(block, 'x', sizeof(block));
	if (i % 3 == 0)
		note_printed(log, fprintf(log, "%d %s %g\n", i, "words", i / 3.0));
	if (i % 40 == 1)
		note_printed(log, fprintf(log, "%*d\n", (int)n + 1, i));
	if (i % 5 == 0) {
		need(fputc('y', out) == 'y');
		note("fputc", fileno(out), 1, 1);
	}
	if (i % 17 == 0) {
		need(fwrite(block, 1, (size_t)n, log) == (size_t)n);
		note("fwrite", fileno(log), n, n);
	}
	if (i % 7 == 0)
		note("fread", fileno(in), 33, (long)fread(block, 11, 3, in) * 11);
	if (i % 11 == 0)
		note("fgetc", fileno(in), 1, fgetc(in) >= 0);
	if (i % 29 == 0) {
		need(ftell(out) >= 0);
		note("ftell", fileno(out), 0, 0);
	}
	if (i % 13 == 0) {
		need(fflush(log) == 0);
		note("fflush", fileno(log), 0, 0);
	}
}

static void streams(const char *name)
{
	char path[3][64], line[200], *whole = NULL;
	FILE *in, *out, *log;
	size_t room = 0;
	ssize_t n;

	for (int i = 0; i < 3; i++)
		snprintf(path[i], sizeof(path[i]), "%s.%d", name, i);
	in = open_stream(path[0], "w+");
	fill(in);
	out = open_stream(path[1], "w");
	log = open_stream(path[2], "w");
	for (int i = 0; fgets(line, sizeof(line), in); i++) {
		note("fgets", fileno(in), sizeof(line) - 1, (long)strlen(line));
		need(fputs(line, out) >= 0);
		note("fputs", fileno(out), (long)strlen(line), (long)strlen(line));
		sometimes(i, in, out, log);
	}
	note("fgets", fileno(in), sizeof(line) - 1, 0);
	close_stream(log);
	close_stream(out);
	close_stream(in);
	in = open_stream(path[1], "r");
	while ((n = getdelim(&whole, &room, '\n', in)) >= 0)
		note("getdelim", fileno(in), n, n);
	note("getdelim", fileno(in), 0, 0);
	free(whole);
	close_stream(in);
}

static void descriptors(const char *name)
{
	ssize_t (*put)(int, const void *, size_t) = (ssize_t(*)(int, const void *, size_t))dlsym(RTLD_DEFAULT, "write");
	int fd = open(name, O_RDWR | O_CREAT | O_TRUNC, 0600), other = dup(fd);
	char block[64] = { 0 };

	need(fd >= 0 && other >= 0 && put);
	note("open", fd, 0, 0);
	note("dup", fd, 0, 0);
	for (int i = 0; i < 50; i++) {
		int n = i % 64, to = i % 10 == 9 ? other : fd;

		need(put(to, block, (size_t)n) == n);
		note("write", to, n, n);
		if (i % 4 == 0) {
			need(lseek(fd, 0, SEEK_SET) == 0);
			note("lseek", fd, 0, 0);
			note("read", fd, 64, read(fd, block, sizeof(block)));
		}
		note("pread", fd, 32, pread(fd, block, 32, i));
		need(read(-1, block, 1) == -1 && errno == EBADF);
		note("read", -1, 1, 0);
	}
	need(dup2(fd, other) == other);
	note("dup2", fd, 0, 0);
	note("close", other, 0, 0);
	note("close", fd, 0, 0);
	need(close(other) == 0 && close(fd) == 0);
}

static void work(const char *name)
{
	char path[64];

	for (int i = 0; i < rounds; i++) {
		streams(name);
		snprintf(path, sizeof(path), "%s.d", name);
		descriptors(path);
	}
}

static void *thread(void *arg)
{
	work(arg);
	write_told();
	return NULL;
}

static void threads(void)
{
	static char names[][8] = { "thread1", "thread2", "thread3" };
	pthread_t ids[3];

	for (int i = 0; i < 3; i++)
		need(pthread_create(&ids[i], NULL, thread, names[i]) == 0);
	for (int i = 0; i < 3; i++)
		pthread_join(ids[i], NULL);
}

/* A child, which ends in one of several ways; none of them is a return from main(). */
static void child(const char *name, int way, char **argv)
{
	pid_t pid = fork();

	if (pid == 0) {
		memset(told, 0, sizeof(told));
		work(name);
		write_told();
		if (way == 0)
			_exit(0);
		if (way == 1)
			kill(getpid(), SIGKILL);
		execl(argv[0], argv[0], argv[1], "one", NULL);
		_exit(1);
	}
	need(waitpid(pid, NULL, 0) == pid);
}

int main(int argc, char **argv)
{
	rounds = argc > 1 ? atoi(argv[1]) : 1;
	if (argc > 2) {
		work("executed");
		write_told();
		return 0;
	}
	work("first");
	child("ended", 0, argv);
	child("killed", 1, argv);
	child("before", 2, argv);
	threads();
	work("last");
	write_told();
	return 0;
}
