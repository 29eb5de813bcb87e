/* SPDX-License-Identifier: MIT */
/* Functions of libc on descriptors. */
#include <fcntl.h>
#include <stdarg.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <sys/uio.h>

#include "preload/function.h"

/* Of a call that has succeeded: the addresses may be wrong. */
static uint64_t total(const struct iovec *parts, int n)
{
	uint64_t sum = 0;

	for (int i = 0; i < n; i++)
		sum += parts[i].iov_len;
	return sum;
}

static bool has_mode(int flags)
{
	return flags & O_CREAT || (flags & O_TMPFILE) == O_TMPFILE;
}

/* ---- opens ---- */

/* The mode is an argument only of some flags. */
#define OPEN(symbol, code, parameters, last, from, arguments)                              \
	OBJECT_EXPORT int front_##symbol parameters __asm__(#symbol);                      \
	int front_##symbol parameters                                                      \
	{                                                                                  \
		static void *_Atomic real;                                                 \
		int (*next) parameters = (int (*) parameters)object_find(&real, #symbol);  \
		struct call call;                                                          \
		mode_t mode = 0;                                                           \
		va_list rest;                                                              \
		int result;                                                                \
                                                                                           \
		va_start(rest, last);                                                      \
		if (has_mode(last))                                                        \
			mode = va_arg(rest, mode_t);                                       \
		va_end(rest);                                                              \
		if (!object_enter(&call, CALL_##code))                                     \
			return next arguments;                                             \
		operations_before_open(&call, from, path, (unsigned)(last), mode);         \
		result = next arguments;                                                   \
		object_end(&call);                                                         \
		OPENED;                                                                    \
		object_put(&call);                                                         \
		return result;                                                             \
	}

#define OPENED FD(result); TEXT(path); RESULT(); operations_opened(&call, result)
#define OPENS(dir, flags, mode) operations_before_open(&call, dir, path, (unsigned)(flags), mode)

OPEN(open, OPEN, (const char *path, int flags, ...), flags, AT_FDCWD, (path, flags, mode))
OPEN(open64, OPEN, (const char *path, int flags, ...), flags, AT_FDCWD, (path, flags, mode))
OPEN(openat, OPENAT, (int dir, const char *path, int flags, ...), flags, dir, (dir, path, flags, mode))
OPEN(openat64, OPENAT, (int dir, const char *path, int flags, ...), flags, dir, (dir, path, flags, mode))

FUNCTION(int, __open_2, OPEN, (const char *path, int flags), (path, flags), OPENS(AT_FDCWD, flags, 0), OPENED)
FUNCTION(int, __open64_2, OPEN, (const char *path, int flags), (path, flags), OPENS(AT_FDCWD, flags, 0), OPENED)
FUNCTION(int, __openat_2, OPENAT, (int dir, const char *path, int flags), (dir, path, flags), OPENS(dir, flags, 0), OPENED)
FUNCTION(int, __openat64_2, OPENAT, (int dir, const char *path, int flags), (dir, path, flags), OPENS(dir, flags, 0), OPENED)
FUNCTION64(int, creat, CREAT, (const char *path, mode_t mode), (path, mode), OPENS(AT_FDCWD, O_WRONLY | O_CREAT | O_TRUNC, mode), OPENED)

/* ---- descriptors ---- */

FUNCTION(int, close, CLOSE, (int fd), (fd), , FD(fd); RESULT())
FUNCTION(int, dup, DUP, (int fd), (fd), , FD(fd); RESULT())
FUNCTION(int, dup2, DUP2, (int fd, int to), (fd, to), , FD(fd); RESULT())
FUNCTION(int, dup3, DUP3, (int fd, int to, int flags), (fd, to, flags), , FD(fd); RESULT(); MORE(flags, (unsigned)flags))
FUNCTION(int, pipe, PIPE, (int *ends), (ends), , FD(result ? -1 : ends[0]); RESULT(); operations_pair(&call, ends))
FUNCTION(int, pipe2, PIPE, (int *ends, int flags), (ends, flags), , FD(result ? -1 : ends[0]); RESULT(); operations_pair(&call, ends))

/* libc takes an argument, too, of commands that have none. */
#define FCNTL(symbol)                                                                      \
	OBJECT_EXPORT int front_##symbol(int fd, int command, ...) __asm__(#symbol);       \
	int front_##symbol(int fd, int command, ...)                                       \
	{                                                                                  \
		static void *_Atomic real;                                                 \
		int (*next)(int, int, ...) = (int (*)(int, int, ...))object_find(&real, #symbol); \
		struct call call;                                                          \
		void *argument;                                                            \
		va_list rest;                                                              \
		int result;                                                                \
                                                                                           \
		va_start(rest, command);                                                   \
		argument = va_arg(rest, void *);                                           \
		va_end(rest);                                                              \
		if (!object_enter(&call, CALL_FCNTL))                                      \
			return next(fd, command, argument);                                \
		result = next(fd, command, argument);                                      \
		object_end(&call);                                                         \
		FD(fd);                                                                    \
		RESULT();                                                                  \
		MORE(flags, (unsigned)command);                                          \
		object_put(&call);                                                         \
		return result;                                                             \
	}

FCNTL(fcntl)
FCNTL(fcntl64)

/* ---- data ---- */

#define MOVED(n) FD(fd); LENGTH(n); RESULT()
#define MOVED_AT(n) MOVED(n); OFFSET(offset)
#define PARTS(parts, n) FD(fd); if (result >= 0) LENGTH(total(parts, n)); RESULT()

FUNCTION(ssize_t, read, READ, (int fd, void *to, size_t n), (fd, to, n), , MOVED(n))
FUNCTION(ssize_t, __read_chk, READ, (int fd, void *to, size_t n, size_t room), (fd, to, n, room), , MOVED(n))
FUNCTION(ssize_t, write, WRITE, (int fd, const void *from, size_t n), (fd, from, n), , MOVED(n))
FUNCTION64(ssize_t, pread, PREAD, (int fd, void *to, size_t n, off_t offset), (fd, to, n, offset), , MOVED_AT(n))
FUNCTION(ssize_t, __pread_chk, PREAD, (int fd, void *to, size_t n, off_t offset, size_t room), (fd, to, n, offset, room), , MOVED_AT(n))
FUNCTION(ssize_t, __pread64_chk, PREAD, (int fd, void *to, size_t n, off_t offset, size_t room), (fd, to, n, offset, room), , MOVED_AT(n))
FUNCTION64(ssize_t, pwrite, PWRITE, (int fd, const void *from, size_t n, off_t offset), (fd, from, n, offset), , MOVED_AT(n))
FUNCTION(ssize_t, readv, READV, (int fd, const struct iovec *parts, int n), (fd, parts, n), , PARTS(parts, n))
FUNCTION(ssize_t, writev, WRITEV, (int fd, const struct iovec *parts, int n), (fd, parts, n), , PARTS(parts, n))
FUNCTION64(ssize_t, preadv, PREADV, (int fd, const struct iovec *parts, int n, off_t offset), (fd, parts, n, offset), ,
	PARTS(parts, n); OFFSET(offset))
FUNCTION64(ssize_t, pwritev, PWRITEV, (int fd, const struct iovec *parts, int n, off_t offset), (fd, parts, n, offset), ,
	PARTS(parts, n); OFFSET(offset))
FUNCTION64(ssize_t, sendfile, SENDFILE, (int fd, int from, off_t *at, size_t n), (fd, from, at, n), , MOVED(n); MORE(other, from))
FUNCTION(ssize_t, copy_file_range, COPY_FILE_RANGE, (int from, off_t *from_at, int fd, off_t *at, size_t n, unsigned flags),
	(from, from_at, fd, at, n, flags), , MOVED(n); MORE(other, from))

/* ---- positions, sizes, mappings ---- */

FUNCTION64(off_t, lseek, LSEEK, (int fd, off_t offset, int whence), (fd, offset, whence), , FD(fd); OFFSET(offset); RESULT(); MORE(flags, (unsigned)whence))
FUNCTION64(int, truncate, TRUNCATE, (const char *path, off_t size), (path, size), , TEXT(path); LENGTH(size); RESULT())
FUNCTION64(int, ftruncate, FTRUNCATE, (int fd, off_t size), (fd, size), , FD(fd); LENGTH(size); RESULT())
FUNCTION(int, fsync, FSYNC, (int fd), (fd), , FD(fd); RESULT())
FUNCTION(int, fdatasync, FDATASYNC, (int fd), (fd), , FD(fd); RESULT())

#define MAPPED FD(fd); LENGTH(n); OFFSET(offset); object_outcome(&call, result == MAP_FAILED, 0); \
	MORE(flags, (unsigned)protection | (unsigned)flags << 8); if (flags & MAP_ANONYMOUS || fd < 0) call.op = 0

FUNCTION64(void *, mmap, MMAP, (void *at, size_t n, int protection, int flags, int fd, off_t offset),
	(at, n, protection, flags, fd, offset), , MAPPED)
FUNCTION(int, munmap, MUNMAP, (void *at, size_t n), (at, n), , LENGTH(n); RESULT())
FUNCTION(int, msync, MSYNC, (void *at, size_t n, int flags), (at, n, flags), , LENGTH(n); RESULT())

/* ---- sockets ---- */

FUNCTION(int, socket, SOCKET, (int domain, int type, int protocol), (domain, type, protocol), , FD(result); RESULT())
FUNCTION(int, socketpair, SOCKETPAIR, (int domain, int type, int protocol, int *ends), (domain, type, protocol, ends), ,
	FD(result ? -1 : ends[0]); RESULT())
FUNCTION(int, connect, CONNECT, (int fd, const struct sockaddr *to, socklen_t n), (fd, to, n), , FD(fd); RESULT())
FUNCTION(int, accept, ACCEPT, (int fd, struct sockaddr *from, socklen_t *n), (fd, from, n), , FD(fd); RESULT())
FUNCTION(int, accept4, ACCEPT, (int fd, struct sockaddr *from, socklen_t *n, int flags), (fd, from, n, flags), , FD(fd); RESULT())
FUNCTION(ssize_t, send, SEND, (int fd, const void *from, size_t n, int flags), (fd, from, n, flags), , MOVED(n))
FUNCTION(ssize_t, sendto, SENDTO, (int fd, const void *from, size_t n, int flags, const struct sockaddr *to, socklen_t len),
	(fd, from, n, flags, to, len), , MOVED(n))
FUNCTION(ssize_t, sendmsg, SENDMSG, (int fd, const struct msghdr *message, int flags), (fd, message, flags), ,
	PARTS(message->msg_iov, (int)message->msg_iovlen))
FUNCTION(ssize_t, recv, RECV, (int fd, void *to, size_t n, int flags), (fd, to, n, flags), , MOVED(n))
FUNCTION(ssize_t, __recv_chk, RECV, (int fd, void *to, size_t n, size_t room, int flags), (fd, to, n, room, flags), , MOVED(n))
FUNCTION(ssize_t, recvfrom, RECVFROM, (int fd, void *to, size_t n, int flags, struct sockaddr *from, socklen_t *len),
	(fd, to, n, flags, from, len), , MOVED(n))
FUNCTION(ssize_t, __recvfrom_chk, RECVFROM, (int fd, void *to, size_t n, size_t room, int flags, struct sockaddr *from, socklen_t *len),
	(fd, to, n, room, flags, from, len), , MOVED(n))
FUNCTION(ssize_t, recvmsg, RECVMSG, (int fd, struct msghdr *message, int flags), (fd, message, flags), ,
	PARTS(message->msg_iov, (int)message->msg_iovlen))
