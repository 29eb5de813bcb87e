/* SPDX-License-Identifier: MIT */

/*
 * What the programs regress_*.c share.
 *
 * Each is run as PROGRAM DIR [SECTION...] and does its sections one after the other, each in a new
 * directory of its own below DIR and in a process of its own.  What each call returned is printed,
 * one line for each; nothing in these lines depends on the time, the place or the machine.  So the
 * text from a directory on a mount must be that from a directory of the source.
 */

#ifndef REGRESS_H
#define REGRESS_H

#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define PAGE 4096
#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define SECTION_SECONDS 60 /* after which a section is stuck */

struct section {
	const char *name;
	void (*run)(void);
};

static const char *section_name;

__attribute__((format(printf, 2, 3))) static inline void say(const char *what, const char *format,
	...)
{
	va_list args;

	printf("%s: %s: ", section_name, what);
	va_start(args, format);
	vprintf(format, args);
	va_end(args);
	putchar('\n');
}

/* What a call returned, or the name of its error. */
static inline long emit(const char *what, long result)
{
	if (result == -1)
		say(what, "%s", strerrorname_np(errno));
	else
		say(what, "%ld", result);
	return result;
}

/* For calls whose result, if there is one, is a descriptor or an address. */
static inline long emit_if(const char *what, long result)
{
	say(what, "%s", result == -1 ? strerrorname_np(errno) : "ok");
	return result;
}

#define EMIT(call) emit(#call, (long)(call))
#define EMIT_IF(call) emit_if(#call, (long)(call))

/* What a section needs before it can begin. */
static inline long must(long result)
{
	if (result == -1)
		err(1, "%s", section_name);
	return result;
}

static inline void fill(char *buf, size_t size, unsigned seed)
{
	for (size_t i = 0; i < size; i++)
		buf[i] = (char)(seed + i + i / 251);
}

/* A descriptor, at its begin, of a new file of that size without zeros in it. */
static inline int make(const char *path, size_t size)
{
	int fd = (int)must(open(path, O_RDWR | O_CREAT | O_TRUNC, 0644));
	char *buf = malloc(size + 1);

	for (size_t i = 0; i < size; i++)
		buf[i] = (char)(1 + i % 251);
	if (write(fd, buf, size) != (ssize_t)size)
		err(1, "%s: write", section_name);
	free(buf);
	must(lseek(fd, 0, SEEK_SET));
	return fd;
}

static inline uint64_t hash(uint64_t h, const void *data, size_t size)
{
	for (const unsigned char *p = data, *end = p + size; p < end; p++)
		h = (h ^ *p) * 0x100000001b3u;
	return h;
}

/* Size and content of an open file, read by pread. */
static inline void emit_content(const char *what, int fd)
{
	char buf[PAGE];
	uint64_t h = 0xcbf29ce484222325u;
	off_t at = 0;
	ssize_t n;
	struct stat st;

	while ((n = pread(fd, buf, sizeof(buf), at)) > 0) {
		h = hash(h, buf, n);
		at += n;
	}
	must(fstat(fd, &st));
	say(what, "size %ld, read %ld, content %016lx", (long)st.st_size, (long)at, (long)h);
}

/* emit_content() of a file by its path. */
static inline void emit_file(const char *path)
{
	int fd = (int)must(open(path, O_RDONLY));

	emit_content(path, fd);
	close(fd);
}

/* Until the clock by which files are stamped has gone on. */
static inline void tick(void)
{
	nanosleep(&(struct timespec){ .tv_nsec = 15000000 }, NULL);
}

static inline bool later(struct timespec a, struct timespec b)
{
	return a.tv_sec != b.tv_sec || a.tv_nsec != b.tv_nsec;
}

static inline void emit_moved(const char *what, const struct stat *was, const struct stat *is)
{
	say(what, "%s%s%s", later(was->st_atim, is->st_atim) ? "a" : "-",
		later(was->st_mtim, is->st_mtim) ? "m" : "-",
		later(was->st_ctim, is->st_ctim) ? "c" : "-");
}

/* Without the time of the last access. */
static inline void emit_changed(const char *what, const struct stat *was, const struct stat *is)
{
	say(what, "%s%s", later(was->st_mtim, is->st_mtim) ? "m" : "-",
		later(was->st_ctim, is->st_ctim) ? "c" : "-");
}

/* Which times of the file at path the call changes, as a stat right after it shows. */
#define EMIT_BY(emit, path, call)                                  \
	do {                                                       \
		struct stat was_, is_;                             \
                                                                   \
		must(stat(path, &was_));                           \
		tick();                                            \
		must((long)(call));                                \
		must(stat(path, &is_));                            \
		emit("times of " #path " by " #call, &was_, &is_); \
	} while (0)

#define EMIT_TIMES(path, call) EMIT_BY(emit_moved, path, call)
#define EMIT_CHANGED(path, call) EMIT_BY(emit_changed, path, call)

static inline void run_section(const struct section *section)
{
	section_name = section->name;
	if (mkdir(section->name, 0755) < 0 || chdir(section->name) < 0)
		err(1, "%s", section->name);
	alarm(SECTION_SECONDS);
	section->run();
	fflush(stdout);
	_exit(0);
}

static inline bool is_wanted(const char *name, char **wanted)
{
	if (!*wanted)
		return true;
	for (; *wanted; wanted++)
		if (strcmp(*wanted, name) == 0)
			return true;
	return false;
}

static inline int run_sections(const struct section *sections, size_t n, char **argv)
{
	int status;

	if (!argv[1] || chdir(argv[1]) < 0)
		errx(2, "usage: %s DIR [SECTION...]", argv[0]);
	umask(022);
	for (const struct section *s = sections; s < sections + n; s++) {
		pid_t pid;

		if (!is_wanted(s->name, argv + 2))
			continue;
		fflush(stdout);
		pid = fork();
		if (pid == 0)
			run_section(s);
		if (pid < 0 || waitpid(pid, &status, 0) < 0)
			err(1, "%s", s->name);
		if (WIFSIGNALED(status))
			printf("%s: ended by %s\n", s->name, sigabbrev_np(WTERMSIG(status)));
		else
			printf("%s: ended with %d\n", s->name, WEXITSTATUS(status));
	}
	return 0;
}

#endif
