/* SPDX-License-Identifier: MIT */
/* Functions of libc on streams. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/types.h>

#include "preload/function.h"
#include "preload/inside.h"

/* Of a stream that has one. */
static int fd_of(FILE *stream)
{
	return stream ? fileno_unlocked(stream) : -1;
}

#define STREAM object_fd(&call, fd_of(stream))
#define FAILS(failed, n) object_outcome(&call, failed, n)

/* ---- opens ---- */

#define OPENED object_fd(&call, fd_of(result)); TEXT(path); FAILS(!result, 0)

FUNCTION64(FILE *, fopen, FOPEN, (const char *path, const char *mode), (path, mode), , OPENED)
FUNCTION64(FILE *, freopen, FREOPEN, (const char *path, const char *mode, FILE *stream), (path, mode, stream), , OPENED)
FUNCTION64(FILE *, tmpfile, TMPFILE, (void), (), , object_fd(&call, fd_of(result)); FAILS(!result, 0))
FUNCTION(FILE *, fdopen, FDOPEN, (int fd, const char *mode), (fd, mode), , FD(fd); FAILS(!result, 0))
FUNCTION(int, fclose, FCLOSE, (FILE *stream), (stream), STREAM, RESULT())

/* ---- functions that mostly copy ---- */

/* What lies between the position and the end of a buffer, as the macros of <stdio.h> see it.  A stream without a buffer, one that is
 * written line by line and one that was used in the other direction have nothing there. */
struct room {
	const char *at;
	ptrdiff_t bytes;
};

static inline struct room to_read(const FILE *stream)
{
	return stream ? (struct room){ stream->_IO_read_ptr, stream->_IO_read_end - stream->_IO_read_ptr } : (struct room){ 0 };
}

static inline struct room to_write(const FILE *stream)
{
	return stream ? (struct room){ stream->_IO_write_ptr, stream->_IO_write_end - stream->_IO_write_ptr } : (struct room){ 0 };
}

static inline bool fits(struct room room, uint64_t n)
{
	return room.bytes > 0 && n < (uint64_t)room.bytes;
}

static inline bool has(struct room room, uint64_t n)
{
	return room.bytes > 0 && n - 1 < (uint64_t)room.bytes;
}

static inline bool has_line(struct room room, int end, uint64_t n)
{
	return has(room, n) || (room.bytes > 0 && memchr(room.at, end, (size_t)room.bytes));
}

/* A buffer that was filled has another end, or a position that is nearer to its begin. */
static inline bool only_copied(struct room before, struct room after, int64_t n)
{
	return n > 0 && after.at - before.at == n && after.at + after.bytes == before.at + before.bytes;
}

static inline uint64_t printed_at_most(const struct copies *copies)
{
	return copies->most > 128 ? 2 * (uint64_t)copies->most : 256;
}

static int64_t outcome(intptr_t result, uint64_t length)
{
	return result > 0 ? (int64_t)length : -(int64_t)(errno ? errno : EIO);
}

static void not_copied(enum layer_call code, struct copies *copies, FILE *stream, uint64_t length, intptr_t result)
{
	int64_t moved = outcome(result, length);

	if (moved > copies->most)
		copies->most = moved < UINT32_MAX ? (uint32_t)moved : UINT32_MAX;
	sums_not_measured(code, fd_of(stream), length, moved);
}

/* Those with '...' are handed on to those with a va_list. */
#define PLAIN(function, arguments) result = function arguments
#define WITH_REST(function, arguments)                                                     \
	do {                                                                               \
		va_list rest;                                                              \
                                                                                           \
		va_start(rest, format);                                                    \
		result = function arguments;                                               \
		va_end(rest);                                                              \
	} while (0)

/*
 *   how        PLAIN, or WITH_REST: then target is the function with a va_list, and of_target its parameters
 *   on         the stream;  direction  to_read or to_write
 *   need       bytes for which there must be room that the call does no more than to copy, which 'enough' says
 *   fine       whether it has done that;  moved  so many bytes, by the position of the stream
 *   length     bytes that were asked, known after the call
 */
#define COPYING_BY(how, type, symbol, target, code, parameters, of_target, arguments, on, direction, need, enough, fine, length, after) \
	static void *_Atomic real_##symbol;                                                \
	static __attribute__((noinline)) type measured_##symbol of_target                  \
	{                                                                                  \
		type(*next) of_target = (type(*) of_target)object_find(&real_##symbol, #target); \
		FILE *const used = on;                                                     \
		struct room room;                                                          \
		struct call call;                                                          \
		type result;                                                               \
                                                                                           \
		if (!object_enter(&call, CALL_##code))                                     \
			return next arguments;                                             \
		room = direction(used);                                                    \
		object_fd(&call, fd_of(used));                                             \
		result = next arguments;                                                   \
		object_end(&call);                                                         \
		after;                                                                     \
		if (only_copied(room, direction(used), call.record.result))                \
			call.stream = used;                                                \
		object_put(&call);                                                         \
		return result;                                                             \
	}                                                                                  \
	OBJECT_EXPORT type front_##symbol parameters __asm__(#symbol);                     \
	type front_##symbol parameters                                                     \
	{                                                                                  \
		FILE *const used = on;                                                     \
		struct copies *copies = sums_find(CALL_##code, used);                      \
		const uint64_t n_needed = copies ? need : 0;                               \
		const struct room room = copies ? direction(used) : (struct room){ 0 };    \
		type(*next) of_target;                                                     \
		ptrdiff_t moved;                                                           \
		type result;                                                               \
                                                                                           \
		(void)n_needed;                                                            \
		if (!copies || !(enough)) {                                                \
			how(measured_##symbol, arguments);                                 \
			return result;                                                     \
		}                                                                          \
		next = (type(*) of_target)object_find(&real_##symbol, #target);            \
		how(next, arguments);                                                      \
		moved = direction(used).at - room.at;                                      \
		if (!(fine))                                                               \
			not_copied(CALL_##code, copies, used, length, (intptr_t)result);   \
		else if (!sums_add(copies, CALL_##code, used, length, (uint64_t)moved))    \
			sums_copied(CALL_##code, used, fd_of(used), length, (uint64_t)moved); \
		return result;                                                             \
	}

/* The same, when the other arguments are macros, too. */
#define COPYING_AS(...) COPYING_BY(__VA_ARGS__)
#define COPYING(type, symbol, code, parameters, arguments, ...) \
	COPYING_BY(PLAIN, type, symbol, symbol, code, parameters, parameters, arguments, __VA_ARGS__)
#define COPYING_BOTH(type, symbol, code, parameters, arguments, ...) \
	COPYING(type, symbol, code, parameters, arguments, __VA_ARGS__) \
	COPYING(type, symbol##_unlocked, code, parameters, arguments, __VA_ARGS__)

/* ---- data ---- */

/* The product, or as much as a number can be: libc has looked at it. */
static inline uint64_t product(size_t size, size_t n)
{
	uint64_t bytes;

	return __builtin_mul_overflow(size, n, &bytes) ? UINT64_MAX : bytes;
}

#define ITEMS LENGTH(product(size, n)); FAILS(result < n && ferror_unlocked(stream), (int64_t)product(size, result))
#define READS_ITEMS stream, to_read, product(size, n), has(room, n_needed), result == n, n_needed, ITEMS
#define WRITES_ITEMS stream, to_write, product(size, n), n_needed && fits(room, n_needed), result == n, n_needed, ITEMS

COPYING_BOTH(size_t, fread, FREAD, (void *to, size_t size, size_t n, FILE *stream), (to, size, n, stream), READS_ITEMS)
COPYING(size_t, __fread_chk, FREAD, (void *to, size_t limit, size_t size, size_t n, FILE *stream), (to, limit, size, n, stream),
	READS_ITEMS)
COPYING(size_t, __fread_unlocked_chk, FREAD, (void *to, size_t limit, size_t size, size_t n, FILE *stream),
	(to, limit, size, n, stream), READS_ITEMS)
COPYING_BOTH(size_t, fwrite, FWRITE, (const void *from, size_t size, size_t n, FILE *stream), (from, size, n, stream), WRITES_ITEMS)

/* At the end of the file: 0 bytes. */
#define LINE LENGTH(n > 0 ? n - 1 : 0); FAILS(!result && ferror_unlocked(stream), result ? (int64_t)strlen(result) : 0)
#define READS_LINE stream, to_read, (uint64_t)n - 1, n > 1 && has_line(room, '\n', n_needed), result, n_needed, LINE

COPYING_BOTH(char *, fgets, FGETS, (char *to, int n, FILE *stream), (to, n, stream), READS_LINE)
COPYING(char *, __fgets_chk, FGETS, (char *to, size_t limit, int n, FILE *stream), (to, limit, n, stream), READS_LINE)
COPYING(char *, __fgets_unlocked_chk, FGETS, (char *to, size_t limit, int n, FILE *stream), (to, limit, n, stream), READS_LINE)

#define WRITES(n) to_write, n, fits(room, n_needed), result >= 0 && (uint64_t)moved == n_needed, n_needed

COPYING_BOTH(int, fputs, FPUTS, (const char *text, FILE *stream), (text, stream), stream, WRITES(strlen(text)),
	if (result >= 0) LENGTH(strlen(text)); FAILS(result < 0, call.record.length))
COPYING(int, puts, PUTS, (const char *text), (text), stdout, WRITES(strlen(text) + 1),
	if (result >= 0) LENGTH(strlen(text) + 1); FAILS(result < 0, call.record.length))

#define GOT LENGTH(1); FAILS(result < 0 && ferror_unlocked(used), result >= 0)
#define PUT LENGTH(1); FAILS(result < 0, 1)
#define READS_ONE(stream) stream, to_read, 1, has(room, 1), result >= 0, n_needed, GOT
#define WRITES_ONE(stream) stream, WRITES(1), PUT

COPYING_BOTH(int, fgetc, FGETC, (FILE *stream), (stream), READS_ONE(stream))
COPYING_BOTH(int, getc, GETC, (FILE *stream), (stream), READS_ONE(stream))
COPYING(int, _IO_getc, GETC, (FILE *stream), (stream), READS_ONE(stream))
COPYING_BOTH(int, getchar, GETCHAR, (void), (), READS_ONE(stdin))
FUNCTION(int, ungetc, UNGETC, (int c, FILE *stream), (c, stream), STREAM, FAILS(result < 0, 0))
COPYING_BOTH(int, fputc, FPUTC, (int c, FILE *stream), (c, stream), WRITES_ONE(stream))
COPYING_BOTH(int, putc, PUTC, (int c, FILE *stream), (c, stream), WRITES_ONE(stream))
COPYING(int, _IO_putc, PUTC, (int c, FILE *stream), (c, stream), WRITES_ONE(stream))
COPYING_BOTH(int, putchar, PUTCHAR, (int c), (c), WRITES_ONE(stdout))

#define WHOLE_LINE FAILS(result < 0 && ferror_unlocked(stream), result < 0 ? 0 : result)
#define READS_UP_TO(end) stream, to_read, 0, room.bytes > 0 && memchr(room.at, end, (size_t)room.bytes), result == moved, \
	(uint64_t)result, WHOLE_LINE

COPYING(ssize_t, getline, GETLINE, (char **line, size_t *n, FILE *stream), (line, n, stream), READS_UP_TO('\n'))
COPYING(ssize_t, getdelim, GETDELIM, (char **line, size_t *n, int end, FILE *stream), (line, n, end, stream), READS_UP_TO(end))
/* What <bits/stdio.h> makes of getline(3). */
COPYING(ssize_t, __getdelim, GETDELIM, (char **line, size_t *n, int end, FILE *stream), (line, n, end, stream), READS_UP_TO(end))

/* ---- formats ---- */

/* How much is printed is not known before: if it was more than is assumed here, its time is not known. */
#define PRINTED if (result >= 0) LENGTH(result); RESULT()
#define PRINTS(stream) stream, to_write, printed_at_most(copies), fits(room, n_needed), result == moved, (uint64_t)result, PRINTED

#define FORMAT(symbol, vsymbol, code, parameters, vparameters, arguments, fd, after)       \
	OBJECT_EXPORT int front_##symbol parameters __asm__(#symbol);                      \
	int front_##symbol parameters                                                      \
	{                                                                                  \
		static void *_Atomic real;                                                 \
		int (*next) vparameters = (int (*) vparameters)object_find(&real, #vsymbol); \
		struct call call;                                                          \
		bool records = object_enter(&call, CALL_##code);                           \
		int result;                                                                \
                                                                                           \
		if (records)                                                               \
			object_fd(&call, fd);                                              \
		WITH_REST(next, arguments);                                                 \
		if (!records)                                                              \
			return result;                                                     \
		object_end(&call);                                                         \
		after;                                                                     \
		object_put(&call);                                                         \
		return result;                                                             \
	}

#define PRINTING(symbol, target, code, parameters, of_target, arguments, stream) \
	COPYING_AS(WITH_REST, int, symbol, target, code, parameters, of_target, arguments, PRINTS(stream))

PRINTING(printf, vprintf, PRINTF, (const char *format, ...), (const char *format, va_list rest), (format, rest), stdout)
PRINTING(__printf_chk, __vprintf_chk, PRINTF, (int flag, const char *format, ...), (int flag, const char *format, va_list rest),
	(flag, format, rest), stdout)
PRINTING(fprintf, vfprintf, FPRINTF, (FILE *stream, const char *format, ...), (FILE *stream, const char *format, va_list rest),
	(stream, format, rest), stream)
PRINTING(__fprintf_chk, __vfprintf_chk, FPRINTF, (FILE *stream, int flag, const char *format, ...),
	(FILE *stream, int flag, const char *format, va_list rest), (stream, flag, format, rest), stream)
FORMAT(dprintf, vdprintf, DPRINTF, (int to, const char *format, ...), (int, const char *, va_list), (to, format, rest), to, PRINTED)
FORMAT(__dprintf_chk, __vdprintf_chk, DPRINTF, (int to, int flag, const char *format, ...), (int, int, const char *, va_list),
	(to, flag, format, rest), to, PRINTED)

COPYING(int, vprintf, VPRINTF, (const char *format, va_list rest), (format, rest), PRINTS(stdout))
COPYING(int, __vprintf_chk, VPRINTF, (int flag, const char *format, va_list rest), (flag, format, rest), PRINTS(stdout))
COPYING(int, vfprintf, VFPRINTF, (FILE *stream, const char *format, va_list rest), (stream, format, rest), PRINTS(stream))
COPYING(int, __vfprintf_chk, VFPRINTF, (FILE *stream, int flag, const char *format, va_list rest), (stream, flag, format, rest),
	PRINTS(stream))
FUNCTION(int, vdprintf, VDPRINTF, (int fd, const char *format, va_list rest), (fd, format, rest), FD(fd), PRINTED)
FUNCTION(int, __vdprintf_chk, VDPRINTF, (int fd, int flag, const char *format, va_list rest), (fd, flag, format, rest), FD(fd), PRINTED)

/* The number of items; how many bytes these were, libc does not tell. */
#define SCANNED(stream) FAILS(result < 0 && ferror_unlocked(stream), result < 0 ? 0 : result)

#define SCANS(prefix)                                                                      \
	FORMAT(prefix##scanf, prefix##vscanf, SCANF, (const char *format, ...), (const char *, va_list), (format, rest), \
		fd_of(stdin), SCANNED(stdin))                                              \
	FORMAT(prefix##fscanf, prefix##vfscanf, FSCANF, (FILE *stream, const char *format, ...), \
		(FILE *, const char *, va_list), (stream, format, rest), fd_of(stream), SCANNED(stream)) \
	FUNCTION(int, prefix##vscanf, VSCANF, (const char *format, va_list rest), (format, rest), \
		object_fd(&call, fd_of(stdin)), SCANNED(stdin))                            \
	FUNCTION(int, prefix##vfscanf, VFSCANF, (FILE *stream, const char *format, va_list rest), (stream, format, rest), \
		STREAM, SCANNED(stream))

SCANS()
SCANS(__isoc99_)
SCANS(__isoc23_)

/* ---- positions and buffers ---- */

FUNCTION(int, fseek, FSEEK, (FILE *stream, long offset, int whence), (stream, offset, whence), STREAM, OFFSET(offset); RESULT())
FUNCTION64(int, fseeko, FSEEK, (FILE *stream, off_t offset, int whence), (stream, offset, whence), STREAM, OFFSET(offset); RESULT())
FUNCTION(long, ftell, FTELL, (FILE *stream), (stream), STREAM, RESULT())
FUNCTION64(off_t, ftello, FTELL, (FILE *stream), (stream), STREAM, RESULT())
FUNCTION64(int, fgetpos, FGETPOS, (FILE *stream, void *at), (stream, at), STREAM, FAILS(result != 0, 0))
FUNCTION64(int, fsetpos, FSETPOS, (FILE *stream, const void *at), (stream, at), STREAM, FAILS(result != 0, 0))
FUNCTION(int, setvbuf, SETVBUF, (FILE *stream, char *buffer, int mode, size_t n), (stream, buffer, mode, n), STREAM,
	LENGTH(n); FAILS(result != 0, 0))
FUNCTION(int, fflush, FFLUSH, (FILE *stream), (stream), STREAM, RESULT())
FUNCTION(int, fflush_unlocked, FFLUSH, (FILE *stream), (stream), STREAM, RESULT())

OBJECT_EXPORT void front_rewind(FILE *stream) __asm__("rewind");
void front_rewind(FILE *stream)
{
	static void *_Atomic real;
	void (*next)(FILE *) = (void (*)(FILE *))object_find(&real, "rewind");
	struct call call;

	if (!object_enter(&call, CALL_REWIND)) {
		next(stream);
		return;
	}
	STREAM;
	next(stream);
	object_end(&call);
	object_result(&call, 0);
	object_put(&call);
}
