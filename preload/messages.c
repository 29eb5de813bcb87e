/* SPDX-License-Identifier: MIT */
/*
 * Functions by which libc itself writes messages to stderr, where our functions of streams do not see it: getopt(3), perror(3), err(3), error(3).
 *
 * A stream counts the bytes that it writes in its offset, if that is known.  stderr's mostly is not: then it is 0 for the time of the call.  Where libc
 * writes in another way, the length of the message is counted here.
 */
#include <err.h>
#include <error.h>
#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "db/event.h"
#include "preload/function.h"
#include "preload/inside.h"
#include "preload/streams.h"

struct saying {
	struct call call;
	bool counts, knew;
	int64_t offset;
	struct stream_state out;
};

/* Another thread that uses stderr must not see the other offset. */
static void begin(struct saying *saying)
{
	int error = errno;

	saying->counts = object_enter_op(&saying->call, OP_WRITE);
	if (saying->counts && ftrylockfile(stderr) != 0) {
		object_leave(&saying->call);
		saying->counts = false;
	}
	if (saying->counts) {
		saying->knew = stderr->_offset >= 0;
		if (!saying->knew)
			stderr->_offset = 0;
		saying->offset = stderr->_offset;
		saying->out = streams_state(stdout);
	}
	errno = error;
}

static void put(struct saying *saying, FILE *stream, int64_t n)
{
	if (n > 0)
		operations_moved(&saying->call, OP_WRITE, fileno_unlocked(stream), n);
}

/* other: bytes that the offset of stderr does not count. */
static void end(struct saying *saying, int64_t other)
{
	int64_t written;

	if (!saying->counts)
		return;
	object_end(&saying->call);
	written = stderr->_offset >= 0 ? stderr->_offset - saying->offset : 0;
	if (!saying->knew)
		stderr->_offset = -1;
	funlockfile(stderr);
	if (stdout)
		put(saying, stdout, saying->out.unwritten - streams_state(stdout).unwritten); /* error(3) flushes it */
	put(saying, stderr, written + other);
	saying->call.op = 0;
	object_put(&saying->call);
}

#define SAYS(type, symbol, parameters, arguments)                                          \
	OBJECT_EXPORT type front_##symbol parameters __asm__(#symbol);                     \
	type front_##symbol parameters                                                     \
	{                                                                                  \
		static void *_Atomic real;                                                 \
		type(*next) parameters = (type(*) parameters)object_find(&real, #symbol);  \
		struct saying saying;                                                      \
		type result;                                                               \
                                                                                           \
		begin(&saying);                                                            \
		result = next arguments;                                                   \
		end(&saying, 0);                                                           \
		return result;                                                             \
	}

SAYS(int, getopt, (int n, char *const *words, const char *letters), (n, words, letters))
SAYS(int, getopt_long, (int n, char *const *words, const char *letters, const struct option *options, int *which),
	(n, words, letters, options, which))
SAYS(int, getopt_long_only, (int n, char *const *words, const char *letters, const struct option *options, int *which),
	(n, words, letters, options, which))

static int64_t length_of_number(int number)
{
	char room[256];

	return (int64_t)strlen(strerror_r(number, room, sizeof(room)));
}

/* Of a stream that is for neither kind of characters yet, libc writes to a copy, so that it stays so. */
OBJECT_EXPORT void front_perror(const char *prefix) __asm__("perror");
void front_perror(const char *prefix)
{
	static void *_Atomic real;
	void (*next)(const char *) = (void (*)(const char *))object_find(&real, "perror");
	int64_t copied = 0;
	struct saying saying;

	begin(&saying);
	if (saying.counts && stderr->_mode == 0)
		copied = (int64_t)(prefix && *prefix ? strlen(prefix) + 2 : 0) + length_of_number(errno) + 1;
	next(prefix);
	end(&saying, copied);
}

#define WARNS(symbol)                                                                      \
	static void say_##symbol(const char *format, va_list rest)                         \
	{                                                                                  \
		static void *_Atomic real;                                                 \
		void (*next)(const char *, va_list) = (void (*)(const char *, va_list))object_find(&real, #symbol); \
		struct saying saying;                                                      \
                                                                                           \
		begin(&saying);                                                            \
		next(format, rest);                                                        \
		end(&saying, 0);                                                           \
	}                                                                                  \
	OBJECT_EXPORT void front_##symbol(const char *format, va_list rest) __asm__(#symbol); \
	void front_##symbol(const char *format, va_list rest)                              \
	{                                                                                  \
		say_##symbol(format, rest);                                                \
	}

WARNS(vwarn)
WARNS(vwarnx)

#define WARNS_WITH_REST(symbol, target)                                                    \
	OBJECT_EXPORT void front_##symbol(const char *format, ...) __asm__(#symbol);       \
	void front_##symbol(const char *format, ...)                                       \
	{                                                                                  \
		va_list rest;                                                              \
                                                                                           \
		va_start(rest, format);                                                    \
		say_##target(format, rest);                                                \
		va_end(rest);                                                              \
	}

WARNS_WITH_REST(warn, vwarn)
WARNS_WITH_REST(warnx, vwarnx)

/* As libc has them: a warning, and the end. */
#define ENDS_BY(symbol, vsymbol, target)                                                   \
	OBJECT_EXPORT _Noreturn void front_##vsymbol(int status, const char *format, va_list rest) __asm__(#vsymbol); \
	_Noreturn void front_##vsymbol(int status, const char *format, va_list rest)       \
	{                                                                                  \
		say_##target(format, rest);                                                \
		exit(status);                                                              \
	}                                                                                  \
	OBJECT_EXPORT _Noreturn void front_##symbol(int status, const char *format, ...) __asm__(#symbol); \
	_Noreturn void front_##symbol(int status, const char *format, ...)                 \
	{                                                                                  \
		va_list rest;                                                              \
                                                                                           \
		va_start(rest, format);                                                    \
		say_##target(format, rest);                                                \
		exit(status);                                                              \
	}

ENDS_BY(err, verr, vwarn)
ENDS_BY(errx, verrx, vwarnx)

/* It flushes the stream, which then knows no offset. */
static int64_t error_length(int number, const char *text)
{
	int64_t before = error_print_progname ? 0 : (int64_t)strlen(program_invocation_name) + 2;

	return before + (int64_t)strlen(text) + (number ? 2 + length_of_number(number) : 0) + 1;
}

/* There is none with a va_list, so it gets the text.  */
static void say_error(int error_number, const char *text)
{
	static void *_Atomic real;
	void (*next)(int, int, const char *, ...) = (void (*)(int, int, const char *, ...))object_find(&real, "error");
	struct saying saying;

	int64_t length;

	begin(&saying);
	length = error_length(error_number, text);
	next(0, error_number, "%s", text);
	end(&saying, length);
}

/* A message is as long as it is, and the stack of the program may be small. */
static char *print(const char *format, va_list rest)
{
	va_list again;
	char *text;
	int n;

	va_copy(again, rest);
	n = vsnprintf(NULL, 0, format, again);
	va_end(again);
	if (n < 0)
		return NULL;
	text = (char *)syscall(SYS_mmap, NULL, n + 1UL, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0); // NOLINT(performance-no-int-to-ptr)
	if (text == MAP_FAILED)
		return NULL;
	vsnprintf(text, n + 1UL, format, rest);
	return text;
}

OBJECT_EXPORT void front_error(int status, int error_number, const char *format, ...) __asm__("error");
void front_error(int status, int error_number, const char *format, ...)
{
	va_list rest;
	char *text;

	va_start(rest, format);
	text = print(format, rest);
	va_end(rest);
	say_error(error_number, text ? text : format);
	if (text)
		syscall(SYS_munmap, text, strlen(text) + 1);
	if (status)
		exit(status);
}
