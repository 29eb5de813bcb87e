/* SPDX-License-Identifier: MIT */
/* Functions of libc on streams. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/types.h>

#include "preload/function.h"

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

/* ---- data ---- */

/* The product, or as much as a number can be: libc has looked at it. */
static uint64_t product(size_t size, size_t n)
{
	uint64_t bytes;

	return __builtin_mul_overflow(size, n, &bytes) ? UINT64_MAX : bytes;
}

#define ITEMS LENGTH(product(size, n)); FAILS(result < n && ferror_unlocked(stream), (int64_t)product(size, result))

#define BOTH(type, symbol, code, parameters, arguments, before, after)                     \
	FUNCTION(type, symbol, code, parameters, arguments, before, after)                 \
	FUNCTION(type, symbol##_unlocked, code, parameters, arguments, before, after)

BOTH(size_t, fread, FREAD, (void *to, size_t size, size_t n, FILE *stream), (to, size, n, stream), STREAM, ITEMS)
FUNCTION(size_t, __fread_chk, FREAD, (void *to, size_t room, size_t size, size_t n, FILE *stream), (to, room, size, n, stream),
	STREAM, ITEMS)
FUNCTION(size_t, __fread_unlocked_chk, FREAD, (void *to, size_t room, size_t size, size_t n, FILE *stream),
	(to, room, size, n, stream), STREAM, ITEMS)
BOTH(size_t, fwrite, FWRITE, (const void *from, size_t size, size_t n, FILE *stream), (from, size, n, stream), STREAM, ITEMS)

/* At the end of the file: 0 bytes. */
#define LINE LENGTH(n > 0 ? n - 1 : 0); FAILS(!result && ferror_unlocked(stream), result ? (int64_t)strlen(result) : 0)

BOTH(char *, fgets, FGETS, (char *to, int n, FILE *stream), (to, n, stream), STREAM, LINE)
FUNCTION(char *, __fgets_chk, FGETS, (char *to, size_t room, int n, FILE *stream), (to, room, n, stream), STREAM, LINE)
FUNCTION(char *, __fgets_unlocked_chk, FGETS, (char *to, size_t room, int n, FILE *stream), (to, room, n, stream), STREAM, LINE)

BOTH(int, fputs, FPUTS, (const char *text, FILE *stream), (text, stream), STREAM,
	if (result >= 0) LENGTH(strlen(text)); FAILS(result < 0, (int64_t)strlen(text)))
FUNCTION(int, puts, PUTS, (const char *text), (text), object_fd(&call, fd_of(stdout)),
	if (result >= 0) LENGTH(strlen(text) + 1); FAILS(result < 0, (int64_t)strlen(text) + 1))

#define GOT LENGTH(1); FAILS(result < 0 && ferror_unlocked(stream), result >= 0)
#define GOT_IN LENGTH(1); FAILS(result < 0 && ferror_unlocked(stdin), result >= 0)
#define PUT LENGTH(1); FAILS(result < 0, 1)

BOTH(int, fgetc, FGETC, (FILE *stream), (stream), STREAM, GOT)
BOTH(int, getc, GETC, (FILE *stream), (stream), STREAM, GOT)
FUNCTION(int, _IO_getc, GETC, (FILE *stream), (stream), STREAM, GOT)
BOTH(int, getchar, GETCHAR, (void), (), object_fd(&call, fd_of(stdin)), GOT_IN)
FUNCTION(int, ungetc, UNGETC, (int c, FILE *stream), (c, stream), STREAM, FAILS(result < 0, 0))
BOTH(int, fputc, FPUTC, (int c, FILE *stream), (c, stream), STREAM, PUT)
BOTH(int, putc, PUTC, (int c, FILE *stream), (c, stream), STREAM, PUT)
FUNCTION(int, _IO_putc, PUTC, (int c, FILE *stream), (c, stream), STREAM, PUT)
BOTH(int, putchar, PUTCHAR, (int c), (c), object_fd(&call, fd_of(stdout)), PUT)

#define WHOLE_LINE FAILS(result < 0 && ferror_unlocked(stream), result < 0 ? 0 : result)

FUNCTION(ssize_t, getline, GETLINE, (char **line, size_t *room, FILE *stream), (line, room, stream), STREAM, WHOLE_LINE)
FUNCTION(ssize_t, getdelim, GETDELIM, (char **line, size_t *room, int end, FILE *stream), (line, room, end, stream), STREAM, WHOLE_LINE)
/* What <bits/stdio.h> makes of getline(3). */
FUNCTION(ssize_t, __getdelim, GETDELIM, (char **line, size_t *room, int end, FILE *stream), (line, room, end, stream), STREAM, WHOLE_LINE)

/* ---- formats ---- */

/* Those with '...' are handed on to those with a va_list. */
#define FORMAT(symbol, vsymbol, code, parameters, vparameters, arguments, fd, after)       \
	OBJECT_EXPORT int front_##symbol parameters __asm__(#symbol);                      \
	int front_##symbol parameters                                                      \
	{                                                                                  \
		static void *_Atomic real;                                                 \
		int (*next) vparameters = (int (*) vparameters)object_find(&real, #vsymbol); \
		struct call call;                                                          \
		bool records = object_enter(&call, CALL_##code);                           \
		va_list rest;                                                              \
		int result;                                                                \
                                                                                           \
		if (records)                                                               \
			object_fd(&call, fd);                                              \
		va_start(rest, format);                                                    \
		result = next arguments;                                                   \
		va_end(rest);                                                              \
		if (!records)                                                              \
			return result;                                                     \
		object_end(&call);                                                         \
		after;                                                                     \
		object_put(&call);                                                         \
		return result;                                                             \
	}

#define PRINTED if (result >= 0) LENGTH(result); RESULT()

FORMAT(printf, vprintf, PRINTF, (const char *format, ...), (const char *, va_list), (format, rest), fd_of(stdout), PRINTED)
FORMAT(__printf_chk, __vprintf_chk, PRINTF, (int flag, const char *format, ...), (int, const char *, va_list), (flag, format, rest),
	fd_of(stdout), PRINTED)
FORMAT(fprintf, vfprintf, FPRINTF, (FILE *stream, const char *format, ...), (FILE *, const char *, va_list), (stream, format, rest),
	fd_of(stream), PRINTED)
FORMAT(__fprintf_chk, __vfprintf_chk, FPRINTF, (FILE *stream, int flag, const char *format, ...),
	(FILE *, int, const char *, va_list), (stream, flag, format, rest), fd_of(stream), PRINTED)
FORMAT(dprintf, vdprintf, DPRINTF, (int to, const char *format, ...), (int, const char *, va_list), (to, format, rest), to, PRINTED)
FORMAT(__dprintf_chk, __vdprintf_chk, DPRINTF, (int to, int flag, const char *format, ...), (int, int, const char *, va_list),
	(to, flag, format, rest), to, PRINTED)

FUNCTION(int, vprintf, VPRINTF, (const char *format, va_list rest), (format, rest), object_fd(&call, fd_of(stdout)), PRINTED)
FUNCTION(int, __vprintf_chk, VPRINTF, (int flag, const char *format, va_list rest), (flag, format, rest),
	object_fd(&call, fd_of(stdout)), PRINTED)
FUNCTION(int, vfprintf, VFPRINTF, (FILE *stream, const char *format, va_list rest), (stream, format, rest), STREAM, PRINTED)
FUNCTION(int, __vfprintf_chk, VFPRINTF, (FILE *stream, int flag, const char *format, va_list rest), (stream, flag, format, rest),
	STREAM, PRINTED)
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
BOTH(int, fflush, FFLUSH, (FILE *stream), (stream), STREAM, RESULT())

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
