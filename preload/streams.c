/* SPDX-License-Identifier: MIT */
/* Functions of libc on streams. */
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/types.h>

#include "db/event.h"
#include "preload/function.h"
#include "preload/inside.h"
#include "preload/streams.h"

/* Of a stream that has one. */
static int fd_of(FILE *stream)
{
	return stream ? fileno_unlocked(stream) : -1;
}

#define STREAM object_fd(&call, fd_of(stream))
#define FAILS(failed, n) object_outcome(&call, failed, n)

/* ---- what reaches the kernel: operations ---- */

struct stream_state streams_state(const FILE *stream)
{
	if (!stream)
		return (struct stream_state){ 0 };
	return (struct stream_state){ .unread = stream->_IO_read_end - stream->_IO_read_ptr,
		.unwritten = stream->_IO_write_ptr - stream->_IO_write_base, .at = stream->_IO_read_ptr, .end = stream->_IO_read_end,
		.offset = stream->_offset };
}

/* How many bytes a call has put into the buffer or taken out of it, whatever it has returned. */
static int64_t delivered(const struct call *call)
{
	return call->record.result > 0 && layer_calls[call->record.code].moves ? call->record.result : 0;
}

static bool is_scan(const struct call *call)
{
	return call->op == OP_READ && !layer_calls[call->record.code].moves;
}

/* What was read into the buffer in a call of which the bytes that it took are not known: at least the new content of the buffer. */
static int64_t refilled(const FILE *stream, const struct stream_state *before, const struct stream_state *after)
{
	bool same = after->end == before->end && after->at >= before->at && after->offset == before->offset;

	return same || !stream ? 0 : stream->_IO_read_end - stream->_IO_read_base;
}

/* Whether the call has asked the kernel, and got nothing. */
static bool found_end(const struct call *call, const struct stream_state *after)
{
	bool asked = call->record.known & WIRE_HAS_LENGTH && call->record.length > 0;

	return asked && after->unread == 0 && delivered(call) < call->record.length;
}

static void put_read(const struct call *call, const FILE *stream, int fd, const struct stream_state *after)
{
	int64_t taken = call->op == OP_READ ? delivered(call) : 0, n = taken + after->unread - call->before.unread;

	if (is_scan(call) || call->op == OP_LSEEK)
		n = refilled(stream, &call->before, after);
	if (n > 0 || (call->op == OP_READ && found_end(call, after)))
		operations_moved(call, OP_READ, fd, n > 0 ? n : call->record.result < 0 ? call->record.result : 0);
}

static void put_written(const struct call *call, int fd, const struct stream_state *after)
{
	int64_t n = call->before.unwritten + (call->op == OP_WRITE ? delivered(call) : 0) - after->unwritten;

	if (n > 0)
		operations_moved(call, OP_WRITE, fd, n);
	else if (call->op == OP_WRITE && call->record.result < 0)
		operations_moved(call, OP_WRITE, fd, call->record.result);
}

/* After a call; that is not recorded as an operation itself. */
static void put_below(struct call *call, const FILE *stream, int fd)
{
	struct stream_state after;

	if (!call->op)
		return;
	after = streams_state(stream);
	put_written(call, fd, &after);
	put_read(call, stream, fd, &after);
	call->op = 0;
}

/* A call that was expected to do no more than to copy. */
static void put_unexpected(enum layer_call code, FILE *stream, const struct stream_state *before, uint64_t length, int64_t result)
{
	struct call call;

	if (!object_enter_op(&call, operations_of[code]))
		return;
	call.record.code = (uint16_t)code;
	object_end(&call);
	call.before = *before;
	object_length(&call, length);
	object_result(&call, result);
	put_below(&call, stream, fd_of(stream));
	object_put(&call);
}

/* The buffer was written when the stream was closed. */
static void put_rest(const struct call *call, int fd)
{
	if (call->op && call->before.unwritten > 0)
		operations_moved(call, OP_WRITE, fd, call->record.result < 0 ? call->record.result : call->before.unwritten);
}

void streams_closed(const struct call *call)
{
	put_rest(call, call->record.fd);
}

/* All streams: fflush(NULL), and what libc does at the end of a process. */
extern FILE *_IO_list_all __attribute__((weak));

#define STREAMS_MOST 4096 /* the list may change meanwhile */

static void each_unwritten(const struct call *call)
{
	const FILE *stream = &_IO_list_all ? _IO_list_all : NULL;

	for (int i = 0; stream && i < STREAMS_MOST; i++, stream = (const FILE *)stream->_chain) {
		struct stream_state state = streams_state(stream);

		if (state.unwritten > 0 && stream->_fileno >= 0)
			operations_moved(call, OP_WRITE, stream->_fileno, state.unwritten);
	}
}

void streams_emit_unwritten(void)
{
	struct call call;

	if (!object_enter_op(&call, OP_WRITE))
		return;
	object_end(&call);
	each_unwritten(&call);
	object_leave(&call);
}

/* ---- opens ---- */

static unsigned flags_of(const char *mode)
{
	unsigned flags = *mode == 'r' ? O_RDONLY : *mode == 'w' ? O_WRONLY | O_CREAT | O_TRUNC : O_WRONLY | O_CREAT | O_APPEND;

	for (const char *at = mode + 1; *at && *at != ','; at++) {
		if (*at == '+')
			flags = (flags & ~(unsigned)O_ACCMODE) | O_RDWR;
		else if (*at == 'x')
			flags |= O_EXCL;
		else if (*at == 'e')
			flags |= O_CLOEXEC;
	}
	return flags;
}

#define OPENS operations_before_open(&call, AT_FDCWD, path, flags_of(mode), 0666)
#define OPENED object_fd(&call, fd_of(result)); TEXT(path); FAILS(!result, 0); operations_opened(&call, fd_of(result))

FUNCTION64(FILE *, fopen, FOPEN, (const char *path, const char *mode), (path, mode), OPENS, OPENED)

/* The file that the stream had is closed; without a path it is opened once more. */
#define REOPENS const int old = fd_of(stream); call.before = streams_state(stream); if (!path) call.op = 0; if (call.op) OPENS
#define REOPENED object_fd(&call, fd_of(result)); TEXT(path); FAILS(!result, 0); if (call.op) put_reopened(&call, old)

static void put_reopened(struct call *call, int old)
{
	struct call former = *call;

	former.record.result = 0;
	put_rest(&former, old);
	if (old >= 0)
		operations_closed(&former, old);
	operations_opened(call, call->record.known & WIRE_HAS_FD ? call->record.fd : -1);
}

/* In the directory P_tmpdir, without a name. */
static void put_unnamed(struct call *call, int fd)
{
	if (!call->op || fd < 0)
		return;
	call->text = "/tmp";
	call->more.flags = O_RDWR | O_EXCL | O_TMPFILE;
	call->more.mode = 0600;
	operations_opened(call, fd);
}

FUNCTION64(FILE *, freopen, FREOPEN, (const char *path, const char *mode, FILE *stream), (path, mode, stream), REOPENS, REOPENED)
FUNCTION64(FILE *, tmpfile, TMPFILE, (void), (), , object_fd(&call, fd_of(result)); FAILS(!result, 0); put_unnamed(&call, fd_of(result)))
FUNCTION(FILE *, fdopen, FDOPEN, (int fd, const char *mode), (fd, mode), , FD(fd); FAILS(!result, 0))
FUNCTION(int, fclose, FCLOSE, (FILE *stream), (stream), STREAM; call.before = streams_state(stream), RESULT(); streams_closed(&call))

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
	return copies && copies->most > 128 ? 2 * (uint64_t)copies->most : 256;
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

static inline bool has_files(void)
{
	return process.header && process.header->files;
}

/* No call of a layer is recorded, and no other thread can use the stream. */
static inline bool is_alone(void)
{
	return !(process.header->layers >> LAYER_LIB & 1) && &__libc_single_threaded && __libc_single_threaded;
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
		if (call.op)                                                               \
			call.before = streams_state(used);                                 \
		object_fd(&call, fd_of(used));                                             \
		result = next arguments;                                                   \
		object_end(&call);                                                         \
		after;                                                                     \
		if (only_copied(room, direction(used), call.record.result))                \
			call.stream = used;                                                \
		put_below(&call, used, fd_of(used));                                       \
		object_put(&call);                                                         \
		return result;                                                             \
	}                                                                                  \
	OBJECT_EXPORT type front_##symbol parameters __asm__(#symbol);                     \
	type front_##symbol parameters                                                     \
	{                                                                                  \
		FILE *const used = on;                                                     \
		struct copies *copies = sums_find(CALL_##code, used);                      \
		const bool files = has_files(), short_way = copies || (files && is_alone());   \
		const uint64_t n_needed = short_way ? need : 0;                            \
		const struct room room = short_way ? direction(used) : (struct room){ 0 }; \
		struct stream_state state;                                                 \
		type(*next) of_target;                                                     \
		ptrdiff_t moved;                                                           \
		type result;                                                               \
                                                                                           \
		(void)n_needed;                                                            \
		if (!short_way || !(enough)) {                                             \
			how(measured_##symbol, arguments);                                 \
			return result;                                                     \
		}                                                                          \
		if (files)                                                                 \
			state = streams_state(used);                                       \
		next = (type(*) of_target)object_find(&real_##symbol, #target);            \
		how(next, arguments);                                                      \
		moved = direction(used).at - room.at;                                      \
		if (!(fine) && files)                                                      \
			put_unexpected(CALL_##code, used, &state, length, outcome((intptr_t)result, length)); \
		if (!copies)                                                               \
			return result;                                                     \
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

#define FORMAT(symbol, vsymbol, code, parameters, vparameters, arguments, fd, before, after) \
	OBJECT_EXPORT int front_##symbol parameters __asm__(#symbol);                      \
	int front_##symbol parameters                                                      \
	{                                                                                  \
		static void *_Atomic real;                                                 \
		int (*next) vparameters = (int (*) vparameters)object_find(&real, #vsymbol); \
		struct call call;                                                          \
		bool records = object_enter(&call, CALL_##code);                           \
		int result;                                                                \
                                                                                           \
		if (records) {                                                             \
			object_fd(&call, fd);                                              \
			before;                                                            \
		}                                                                          \
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
FORMAT(dprintf, vdprintf, DPRINTF, (int to, const char *format, ...), (int, const char *, va_list), (to, format, rest), to, , PRINTED)
FORMAT(__dprintf_chk, __vdprintf_chk, DPRINTF, (int to, int flag, const char *format, ...), (int, int, const char *, va_list),
	(to, flag, format, rest), to, , PRINTED)

COPYING(int, vprintf, VPRINTF, (const char *format, va_list rest), (format, rest), PRINTS(stdout))
COPYING(int, __vprintf_chk, VPRINTF, (int flag, const char *format, va_list rest), (flag, format, rest), PRINTS(stdout))
COPYING(int, vfprintf, VFPRINTF, (FILE *stream, const char *format, va_list rest), (stream, format, rest), PRINTS(stream))
COPYING(int, __vfprintf_chk, VFPRINTF, (FILE *stream, int flag, const char *format, va_list rest), (stream, flag, format, rest),
	PRINTS(stream))
FUNCTION(int, vdprintf, VDPRINTF, (int fd, const char *format, va_list rest), (fd, format, rest), FD(fd), PRINTED)
FUNCTION(int, __vdprintf_chk, VDPRINTF, (int fd, int flag, const char *format, va_list rest), (fd, flag, format, rest), FD(fd), PRINTED)

/* The number of items; how many bytes these were, libc does not tell. */
#define SCANNED(stream) FAILS(result < 0 && ferror_unlocked(stream), result < 0 ? 0 : result); BELOW(stream)
#define BEFORE(stream) if (call.op) call.before = streams_state(stream)
#define BELOW(stream) put_below(&call, stream, fd_of(stream))

#define SCANS(prefix)                                                                      \
	FORMAT(prefix##scanf, prefix##vscanf, SCANF, (const char *format, ...), (const char *, va_list), (format, rest), \
		fd_of(stdin), BEFORE(stdin), SCANNED(stdin))                               \
	FORMAT(prefix##fscanf, prefix##vfscanf, FSCANF, (FILE *stream, const char *format, ...), \
		(FILE *, const char *, va_list), (stream, format, rest), fd_of(stream), BEFORE(stream), SCANNED(stream)) \
	FUNCTION(int, prefix##vscanf, VSCANF, (const char *format, va_list rest), (format, rest), \
		object_fd(&call, fd_of(stdin)); BEFORE(stdin), SCANNED(stdin))                            \
	FUNCTION(int, prefix##vfscanf, VFSCANF, (FILE *stream, const char *format, va_list rest), (stream, format, rest), \
		STREAM; BEFORE(stream), SCANNED(stream))

SCANS()
SCANS(__isoc99_)
SCANS(__isoc23_)

/* ---- positions and buffers ---- */

FUNCTION(int, fseek, FSEEK, (FILE *stream, long offset, int whence), (stream, offset, whence), STREAM; BEFORE(stream), OFFSET(offset); RESULT(); BELOW(stream))
FUNCTION64(int, fseeko, FSEEK, (FILE *stream, off_t offset, int whence), (stream, offset, whence), STREAM; BEFORE(stream), OFFSET(offset); RESULT(); BELOW(stream))
FUNCTION(long, ftell, FTELL, (FILE *stream), (stream), STREAM, RESULT())
FUNCTION64(off_t, ftello, FTELL, (FILE *stream), (stream), STREAM, RESULT())
FUNCTION64(int, fgetpos, FGETPOS, (FILE *stream, void *at), (stream, at), STREAM, FAILS(result != 0, 0))
FUNCTION64(int, fsetpos, FSETPOS, (FILE *stream, const void *at), (stream, at), STREAM; BEFORE(stream),
	FAILS(result != 0, 0); BELOW(stream))
FUNCTION(int, setvbuf, SETVBUF, (FILE *stream, char *buffer, int mode, size_t n), (stream, buffer, mode, n), STREAM,
	LENGTH(n); FAILS(result != 0, 0))
/* NULL: all streams.  Before the call is when their buffers are full. */
#define FLUSHES STREAM; BEFORE(stream); if (call.op && !stream) { object_end(&call); each_unwritten(&call); call.op = 0; }
#define FLUSHED RESULT(); BELOW(stream)

FUNCTION(int, fflush, FFLUSH, (FILE *stream), (stream), FLUSHES, FLUSHED)
FUNCTION(int, fflush_unlocked, FFLUSH, (FILE *stream), (stream), FLUSHES, FLUSHED)

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
	BEFORE(stream);
	next(stream);
	object_end(&call);
	object_result(&call, 0);
	BELOW(stream);
	object_put(&call);
}

/* ---- what the macros of <stdio.h> call when a buffer is full or empty ---- */

#define BEYOND(symbol, kind, parameters, arguments, moved)                                 \
	OBJECT_EXPORT int front_##symbol parameters __asm__(#symbol);                      \
	int front_##symbol parameters                                                      \
	{                                                                                  \
		static void *_Atomic real;                                                 \
		int (*next) parameters = (int (*) parameters)object_find(&real, #symbol);  \
		struct call call;                                                          \
		int result;                                                                \
                                                                                           \
		if (!object_enter_op(&call, operations_of[CALL_##kind]))                   \
			return next arguments;                                             \
		call.record.code = CALL_##kind;                                            \
		call.before = streams_state(stream);                                       \
		result = next arguments;                                                   \
		object_end(&call);                                                         \
		LENGTH(1);                                                                 \
		FAILS(result < 0 && ferror_unlocked(stream), result >= 0 && (moved));      \
		BELOW(stream);                                                             \
		object_put(&call);                                                         \
		return result;                                                             \
	}

BEYOND(__overflow, PUTC, (FILE *stream, int c), (stream, c), true)
BEYOND(__uflow, GETC, (FILE *stream), (stream), true)
BEYOND(__underflow, GETC, (FILE *stream), (stream), false)
