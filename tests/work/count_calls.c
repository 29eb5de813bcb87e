/* SPDX-License-Identifier: MIT */

/*
 * Preloaded by tests/cases/layers: a line "tid name result" in the file $COUNT_CALLS for each call, when it ends, by system calls
 * of its own. result: 0 or more, -1 for a failure, - where only the call counts.  dlsym(3) takes a lock, and so must not be called
 * each time: a signal handler may interrupt it.
 */

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

static void put(const char *name, int has_result, long result)
{
	const char *path = getenv("COUNT_CALLS");
	int error = errno, n, fd;
	char line[80];

	if (!path)
		return;
	n = has_result ? snprintf(line, sizeof(line), "%ld %s %ld\n", syscall(SYS_gettid), name, result < 0 ? -1 : result)
		       : snprintf(line, sizeof(line), "%ld %s -\n", syscall(SYS_gettid), name);
	fd = (int)syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_APPEND | O_CLOEXEC, 0);
	if (fd >= 0 && syscall(SYS_write, fd, line, n) != n)
		abort();
	syscall(SYS_close, fd);
	errno = error;
}

#define COUNT(type, symbol, name, has_result, parameters, arguments)                            \
	__attribute__((visibility("default"))) type count_##symbol parameters __asm__(#symbol); \
	type count_##symbol parameters                                                          \
	{                                                                                       \
		static type(*next) parameters;                                                  \
		type result;                                                                    \
                                                                                                \
		if (!next)                                                                      \
			next = (type(*) parameters)dlsym(RTLD_NEXT, #symbol);                   \
		result = next arguments;                                                        \
		put(name, has_result, (long)result);                                            \
		return result;                                                                  \
	}

#define OPEN(symbol, name, parameters, arguments)                                               \
	__attribute__((visibility("default"))) int count_##symbol parameters __asm__(#symbol);  \
	int count_##symbol parameters                                                           \
	{                                                                                       \
		static int (*next) parameters;                                                  \
		va_list rest;                                                                   \
		mode_t mode;                                                                    \
		int result;                                                                     \
                                                                                                \
		if (!next)                                                                      \
			next = (int (*) parameters)dlsym(RTLD_NEXT, #symbol);                   \
		va_start(rest, flags);                                                          \
		mode = va_arg(rest, mode_t);                                                    \
		va_end(rest);                                                                   \
		result = next arguments;                                                        \
		put(name, 1, result);                                                           \
		return result;                                                                  \
	}

OPEN(open, "open", (const char *path, int flags, ...), (path, flags, mode))
OPEN(open64, "open", (const char *path, int flags, ...), (path, flags, mode))
OPEN(openat, "openat", (int dir, const char *path, int flags, ...), (dir, path, flags, mode))
OPEN(openat64, "openat", (int dir, const char *path, int flags, ...), (dir, path, flags, mode))
COUNT(int, __open_2, "open", 1, (const char *path, int flags), (path, flags))
COUNT(int, __open64_2, "open", 1, (const char *path, int flags), (path, flags))
COUNT(int, close, "close", 1, (int fd), (fd))
COUNT(ssize_t, read, "read", 1, (int fd, void *to, size_t n), (fd, to, n))
COUNT(ssize_t, write, "write", 1, (int fd, const void *from, size_t n), (fd, from, n))
COUNT(ssize_t, pread, "pread", 1, (int fd, void *to, size_t n, off_t at), (fd, to, n, at))
COUNT(ssize_t, pread64, "pread", 1, (int fd, void *to, size_t n, off_t at), (fd, to, n, at))
COUNT(off_t, lseek, "lseek", 1, (int fd, off_t at, int whence), (fd, at, whence))
COUNT(off_t, lseek64, "lseek", 1, (int fd, off_t at, int whence), (fd, at, whence))
COUNT(int, dup, "dup", 1, (int fd), (fd))
COUNT(int, dup2, "dup2", 1, (int fd, int to), (fd, to))
COUNT(int, pipe, "pipe", 1, (int *ends), (ends))
COUNT(int, pipe2, "pipe", 1, (int *ends, int flags), (ends, flags))
COUNT(ssize_t, __read_chk, "read", 1, (int fd, void *to, size_t n, size_t room), (fd, to, n, room))
COUNT(FILE *, fopen, "fopen", 0, (const char *path, const char *mode), (path, mode))
COUNT(FILE *, fopen64, "fopen", 0, (const char *path, const char *mode), (path, mode))
COUNT(int, fclose, "fclose", 1, (FILE *f), (f))
COUNT(size_t, fread, "fread", 0, (void *to, size_t size, size_t n, FILE *f), (to, size, n, f))
COUNT(size_t, fwrite, "fwrite", 0, (const void *from, size_t size, size_t n, FILE *f), (from, size, n, f))
COUNT(size_t, fread_unlocked, "fread", 0, (void *to, size_t size, size_t n, FILE *f), (to, size, n, f))
COUNT(size_t, fwrite_unlocked, "fwrite", 0, (const void *from, size_t size, size_t n, FILE *f), (from, size, n, f))
COUNT(size_t, __fread_chk, "fread", 0, (void *to, size_t room, size_t size, size_t n, FILE *f), (to, room, size, n, f))
COUNT(size_t, __fread_unlocked_chk, "fread", 0, (void *to, size_t room, size_t size, size_t n, FILE *f), (to, room, size, n, f))
COUNT(char *, __fgets_chk, "fgets", 0, (char *to, size_t room, int n, FILE *f), (to, room, n, f))
COUNT(char *, __fgets_unlocked_chk, "fgets", 0, (char *to, size_t room, int n, FILE *f), (to, room, n, f))
COUNT(char *, fgets, "fgets", 0, (char *to, int n, FILE *f), (to, n, f))
COUNT(char *, fgets_unlocked, "fgets", 0, (char *to, int n, FILE *f), (to, n, f))
COUNT(int, fputs, "fputs", 0, (const char *text, FILE *f), (text, f))
COUNT(int, fputs_unlocked, "fputs", 0, (const char *text, FILE *f), (text, f))
COUNT(int, fgetc, "fgetc", 0, (FILE *f), (f))
COUNT(int, fputc_unlocked, "fputc", 0, (int c, FILE *f), (c, f))
COUNT(int, fflush_unlocked, "fflush", 1, (FILE *f), (f))
COUNT(int, fputc, "fputc", 0, (int c, FILE *f), (c, f))
COUNT(int, fseek, "fseek", 1, (FILE *f, long at, int whence), (f, at, whence))
COUNT(int, fseeko, "fseek", 1, (FILE *f, off_t at, int whence), (f, at, whence))
COUNT(int, fseeko64, "fseek", 1, (FILE *f, off_t at, int whence), (f, at, whence))
COUNT(off_t, ftello, "ftell", 1, (FILE *f), (f))
COUNT(off_t, ftello64, "ftell", 1, (FILE *f), (f))
COUNT(long, ftell, "ftell", 1, (FILE *f), (f))
COUNT(int, fflush, "fflush", 1, (FILE *f), (f))
COUNT(int, puts, "puts", 0, (const char *text), (text))
