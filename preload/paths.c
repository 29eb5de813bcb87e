/* SPDX-License-Identifier: MIT */
/* Functions of libc that are operations on files and no calls of a layer: names, attributes, directories, processes. */
#include <dirent.h>
#include <fcntl.h>
#include <linux/close_range.h>
#include <linux/fs.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/time.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

#include "db/event.h"
#include "preload/function.h"
#include "preload/inside.h"
#include "preload/streams.h"

#define AT(from) MORE(dir, from); TEXT(path)
#define NOFOLLOW(at) MORE(flags, (at) & AT_SYMLINK_NOFOLLOW ? EVENT_NOFOLLOW : 0)

/* A path that may be empty, for the file of the descriptor itself. */
#define AT_OR_FD(from, at)                                                                 \
	do {                                                                               \
		RESULT();                                                                  \
		if ((at) & AT_EMPTY_PATH && call.record.result != -EFAULT && (!path || !*path)) \
			FD(from);                                                          \
		else {                                                                     \
			AT(from);                                                          \
			NOFOLLOW(at);                                                      \
		}                                                                          \
	} while (0)

/* ---- names that are made, removed and moved ---- */

OPERATION(int, mkdir, MKDIR, (const char *path, mode_t mode), (path, mode), , TEXT(path); MORE(mode, mode); RESULT())
OPERATION(int, mkdirat, MKDIR, (int dir, const char *path, mode_t mode), (dir, path, mode), , AT(dir); MORE(mode, mode); RESULT())
OPERATION(int, mknod, MKNOD, (const char *path, mode_t mode, dev_t device), (path, mode, device), , TEXT(path); MORE(mode, mode); RESULT())
OPERATION(int, mknodat, MKNOD, (int dir, const char *path, mode_t mode, dev_t device), (dir, path, mode, device), ,
	AT(dir); MORE(mode, mode); RESULT())
OPERATION(int, mkfifo, MKNOD, (const char *path, mode_t mode), (path, mode), , TEXT(path); MORE(mode, mode | S_IFIFO); RESULT())
OPERATION(int, mkfifoat, MKNOD, (int dir, const char *path, mode_t mode), (dir, path, mode), ,
	AT(dir); MORE(mode, mode | S_IFIFO); RESULT())
OPERATION(int, rmdir, RMDIR, (const char *path), (path), , TEXT(path); RESULT())
OPERATION(int, unlink, UNLINK, (const char *path), (path), , TEXT(path); RESULT())
OPERATION(int, unlinkat, UNLINK, (int dir, const char *path, int flags), (dir, path, flags), ,
	if (flags & AT_REMOVEDIR) call.op = OP_RMDIR; AT(dir); RESULT())

#define TEXTS(first, second) (call.text = (first), call.text2 = (second))
#define TO(dirs, to) MORE(dir2, dirs); TEXTS(path, to)

OPERATION(int, rename, RENAME, (const char *path, const char *to), (path, to), , TO(AT_FDCWD, to); RESULT())
OPERATION(int, renameat, RENAME, (int dir, const char *path, int dir2, const char *to), (dir, path, dir2, to), ,
	MORE(dir, dir); TO(dir2, to); RESULT())
OPERATION(int, renameat2, RENAME, (int dir, const char *path, int dir2, const char *to, unsigned flags), (dir, path, dir2, to, flags), ,
	MORE(dir, dir); TO(dir2, to); MORE(flags, flags); RESULT())
OPERATION(int, link, LINK, (const char *path, const char *to), (path, to), , TO(AT_FDCWD, to); RESULT())
OPERATION(int, linkat, LINK, (int dir, const char *path, int dir2, const char *to, int flags), (dir, path, dir2, to, flags), ,
	MORE(dir, dir); TO(dir2, to); MORE(flags, flags & AT_SYMLINK_FOLLOW);
	RESULT(); if (flags & AT_EMPTY_PATH && result == 0 && !*path) FD(dir))
OPERATION(int, symlink, SYMLINK, (const char *target, const char *path), (target, path), , TEXTS(path, target); RESULT())
OPERATION(int, symlinkat, SYMLINK, (const char *target, int dir, const char *path), (target, dir, path), ,
	MORE(dir, dir); TEXTS(path, target); RESULT())

/* A file or a directory: the call tells by which of two calls it has succeeded. */
OBJECT_EXPORT int front_remove(const char *path) __asm__("remove");
int front_remove(const char *path)
{
	static void *_Atomic real;
	int (*next)(const char *) = (int (*)(const char *))object_find(&real, "remove");
	struct call call;
	struct stat st;
	int result;

	if (!object_enter_op(&call, OP_UNLINK))
		return next(path);
	if (syscall(SYS_newfstatat, AT_FDCWD, path, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(st.st_mode))
		call.op = OP_RMDIR;
	errno = call.error;
	object_begin(&call);
	result = next(path);
	object_end(&call);
	TEXT(path);
	RESULT();
	object_put(&call);
	return result;
}

/* ---- attributes ---- */

#define FOUND RESULT(); if (result == 0) operations_found(&call, found)
#define PATH_FOUND TEXT(path); FOUND
#define LINK_FOUND TEXT(path); MORE(flags, EVENT_NOFOLLOW); FOUND
#define FD_FOUND FD(fd); RESULT()
#define AT_FOUND AT_OR_FD(dir, flags); if (result == 0 && !(call.record.known & WIRE_HAS_FD)) operations_found(&call, found)

/* On x86-64 struct stat64 is struct stat. */
OPERATION64(int, stat, GETATTR, (const char *path, struct stat *found), (path, found), , PATH_FOUND)
OPERATION64(int, lstat, GETATTR, (const char *path, struct stat *found), (path, found), , LINK_FOUND)
OPERATION64(int, fstat, GETATTR, (int fd, struct stat *found), (fd, found), , FD_FOUND)
OPERATION64(int, fstatat, GETATTR, (int dir, const char *path, struct stat *found, int flags), (dir, path, found, flags), , AT_FOUND)
/* Of programs for glibc before 2.33. */
OPERATION64(int, __xstat, GETATTR, (int version, const char *path, struct stat *found), (version, path, found), , PATH_FOUND)
OPERATION64(int, __lxstat, GETATTR, (int version, const char *path, struct stat *found), (version, path, found), , LINK_FOUND)
OPERATION64(int, __fxstat, GETATTR, (int version, int fd, struct stat *found), (version, fd, found), , FD_FOUND)
OPERATION64(int, __fxstatat, GETATTR, (int version, int dir, const char *path, struct stat *found, int flags),
	(version, dir, path, found, flags), , AT_FOUND)

static void found_by_statx(struct call *call, const struct statx *found)
{
	if ((found->stx_mask & (STATX_INO | STATX_TYPE)) != (STATX_INO | STATX_TYPE))
		return;
	operations_found(call, &(struct stat){ .st_dev = makedev(found->stx_dev_major, found->stx_dev_minor), .st_ino = found->stx_ino,
		.st_mode = found->stx_mode, .st_size = (off_t)found->stx_size,
		.st_nlink = found->stx_mask & STATX_NLINK ? found->stx_nlink : 0 });
}

OPERATION(int, statx, GETATTR, (int dir, const char *path, int flags, unsigned mask, struct statx *found), (dir, path, flags, mask, found), ,
	AT_OR_FD(dir, flags); if (result == 0 && !(call.record.known & WIRE_HAS_FD)) found_by_statx(&call, found))

OPERATION(int, access, ACCESS, (const char *path, int mode), (path, mode), , TEXT(path); MORE(mode, mode); RESULT())
OPERATION(int, eaccess, ACCESS, (const char *path, int mode), (path, mode), , TEXT(path); MORE(mode, mode); RESULT())
OPERATION(int, euidaccess, ACCESS, (const char *path, int mode), (path, mode), , TEXT(path); MORE(mode, mode); RESULT())
OPERATION(int, faccessat, ACCESS, (int dir, const char *path, int mode, int flags), (dir, path, mode, flags), ,
	AT_OR_FD(dir, flags); MORE(mode, mode))
OPERATION(ssize_t, readlink, READLINK, (const char *path, char *to, size_t n), (path, to, n), , TEXT(path); RESULT())
OPERATION(ssize_t, readlinkat, READLINK, (int dir, const char *path, char *to, size_t n), (dir, path, to, n), , AT(dir); RESULT())
OPERATION(ssize_t, __readlink_chk, READLINK, (const char *path, char *to, size_t n, size_t room), (path, to, n, room), , TEXT(path); RESULT())
OPERATION(ssize_t, __readlinkat_chk, READLINK, (int dir, const char *path, char *to, size_t n, size_t room), (dir, path, to, n, room), ,
	AT(dir); RESULT())

OPERATION(int, chmod, CHMOD, (const char *path, mode_t mode), (path, mode), , TEXT(path); MORE(mode, mode); RESULT())
OPERATION(int, lchmod, CHMOD, (const char *path, mode_t mode), (path, mode), , TEXT(path); MORE(mode, mode); MORE(flags, EVENT_NOFOLLOW); RESULT())
OPERATION(int, fchmod, CHMOD, (int fd, mode_t mode), (fd, mode), , FD(fd); MORE(mode, mode); RESULT())
OPERATION(int, fchmodat, CHMOD, (int dir, const char *path, mode_t mode, int flags), (dir, path, mode, flags), ,
	AT_OR_FD(dir, flags); MORE(mode, mode))
OPERATION(int, chown, CHOWN, (const char *path, uid_t user, gid_t group), (path, user, group), , TEXT(path); RESULT())
OPERATION(int, lchown, CHOWN, (const char *path, uid_t user, gid_t group), (path, user, group), , TEXT(path);
	MORE(flags, EVENT_NOFOLLOW); RESULT())
OPERATION(int, fchown, CHOWN, (int fd, uid_t user, gid_t group), (fd, user, group), , FD(fd); RESULT())
OPERATION(int, fchownat, CHOWN, (int dir, const char *path, uid_t user, gid_t group, int flags), (dir, path, user, group, flags), ,
	AT_OR_FD(dir, flags))

OPERATION(int, utimensat, UTIMENS, (int dir, const char *path, const struct timespec *times, int flags), (dir, path, times, flags), ,
	RESULT(); if (path) { AT(dir); NOFOLLOW(flags); } else FD(dir))
OPERATION(int, futimens, UTIMENS, (int fd, const struct timespec *times), (fd, times), , FD(fd); RESULT())
OPERATION(int, utimes, UTIMENS, (const char *path, const struct timeval *times), (path, times), , TEXT(path); RESULT())
OPERATION(int, lutimes, UTIMENS, (const char *path, const struct timeval *times), (path, times), , TEXT(path);
	MORE(flags, EVENT_NOFOLLOW); RESULT())
OPERATION(int, futimes, UTIMENS, (int fd, const struct timeval *times), (fd, times), , FD(fd); RESULT())
OPERATION(int, futimesat, UTIMENS, (int dir, const char *path, const struct timeval *times), (dir, path, times), ,
	RESULT(); if (path) { AT(dir); } else FD(dir))
OPERATION(int, utime, UTIMENS, (const char *path, const void *times), (path, times), , TEXT(path); RESULT())

/* ---- data and sizes ---- */

OPERATION64(int, fallocate, FALLOCATE, (int fd, int mode, off_t offset, off_t n), (fd, mode, offset, n), ,
	FD(fd); OFFSET(offset); LENGTH((uint64_t)n); MORE(mode, mode); RESULT())
OPERATION64(int, posix_fallocate, FALLOCATE, (int fd, off_t offset, off_t n), (fd, offset, n), ,
	FD(fd); OFFSET(offset); LENGTH((uint64_t)n); object_result(&call, -(int64_t)result))

/* Of a call that has succeeded: the addresses may be wrong. */
static uint64_t sum_of(const struct iovec *parts, int n)
{
	uint64_t sum = 0;

	for (int i = 0; i < n; i++)
		sum += parts[i].iov_len;
	return sum;
}

#define PARTS FD(fd); RESULT(); if (result >= 0) LENGTH(sum_of(parts, n)); if (offset >= 0) OFFSET(offset)

OPERATION64(ssize_t, preadv2, READ, (int fd, const struct iovec *parts, int n, off_t offset, int flags), (fd, parts, n, offset, flags), , PARTS)
OPERATION64(ssize_t, pwritev2, WRITE, (int fd, const struct iovec *parts, int n, off_t offset, int flags), (fd, parts, n, offset, flags), , PARTS)

OPERATION(ssize_t, splice, SPLICE, (int from, off64_t *from_at, int fd, off64_t *at, size_t n, unsigned flags), (from, from_at, fd, at, n, flags), ,
	FD(fd); MORE(other, from); LENGTH(n); RESULT())
OPERATION(ssize_t, tee, SPLICE, (int from, int fd, size_t n, unsigned flags), (from, fd, n, flags), ,
	FD(fd); MORE(other, from); MORE(flags, EVENT_KEEPS); LENGTH(n); RESULT())

/* Copies a whole file, or a part of it, by sharing its blocks. */
OBJECT_EXPORT int front_ioctl(int fd, unsigned long request, ...) __asm__("ioctl");
int front_ioctl(int fd, unsigned long request, ...)
{
	static void *_Atomic real;
	int (*next)(int, unsigned long, ...) = (int (*)(int, unsigned long, ...))object_find(&real, "ioctl");
	bool clones = request == FICLONE || request == FICLONERANGE;
	struct call call;
	void *argument;
	va_list rest;
	int result;

	va_start(rest, request);
	argument = va_arg(rest, void *);
	va_end(rest);
	if (!clones || !object_enter_op(&call, OP_COPY))
		return next(fd, request, argument);
	result = next(fd, request, argument);
	object_end(&call);
	FD(fd);
	MORE(other, request == FICLONE ? (intptr_t)argument : result < 0 ? -1 : ((struct file_clone_range *)argument)->src_fd);
	RESULT();
	if (result < 0)
		call.op = 0; /* it has not copied, and programs then do so in another way */
	if (result == 0) {
		struct stat st;

		LENGTH(syscall(SYS_fstat, call.more.other, &st) == 0 ? (uint64_t)st.st_size : 0);
		object_result(&call, call.record.length);
	}
	object_put(&call);
	return result;
}

/* ---- files that libc names and opens ---- */

#define MADE FD(result); TEXT(path); RESULT(); operations_opened(&call, result)
#define MAKES MORE(flags, O_RDWR | O_CREAT | O_EXCL); MORE(mode, 0600)

OPERATION64(int, mkstemp, CREATE, (char *path), (path), MAKES, MADE)
OPERATION64(int, mkostemp, CREATE, (char *path, int flags), (path, flags), MAKES, MADE)
OPERATION64(int, mkstemps, CREATE, (char *path, int suffix), (path, suffix), MAKES, MADE)
OPERATION64(int, mkostemps, CREATE, (char *path, int suffix, int flags), (path, suffix, flags), MAKES, MADE)
OPERATION(char *, mkdtemp, MKDIR, (char *path), (path), MORE(mode, 0700), TEXT(path); object_outcome(&call, !result, 0))

/* ---- directories ---- */

OPERATION(DIR *, opendir, OPENDIR, (const char *path), (path), MORE(flags, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NONBLOCK),
	int fd = result ? dirfd(result) : -1; FD(fd); TEXT(path); object_outcome(&call, !result, 0); operations_opened(&call, fd))
OPERATION(int, closedir, CLOSE, (DIR *dir), (dir), FD(dir ? dirfd(dir) : -1), RESULT())

#define MOVED(symbol, parameters, arguments)                                               \
	OBJECT_EXPORT int front_##symbol parameters __asm__(#symbol);                      \
	int front_##symbol parameters                                                      \
	{                                                                                  \
		static void *_Atomic real;                                                 \
		int (*next) parameters = (int (*) parameters)object_find(&real, #symbol);  \
		int result = next arguments, error = errno;                                \
                                                                                           \
		if (result == 0 && object_enter_files())                                   \
			operations_moved_to();                                             \
		errno = error;                                                             \
		return result;                                                             \
	}

MOVED(chdir, (const char *path), (path))
MOVED(fchdir, (int fd), (fd))
MOVED(chroot, (const char *path), (path))

/* ---- descriptors and processes ---- */

#define NEW_FD(type, symbol, parameters, arguments, fd)                                    \
	OBJECT_EXPORT type front_##symbol parameters __asm__(#symbol);                     \
	type front_##symbol parameters                                                     \
	{                                                                                  \
		static void *_Atomic real;                                                 \
		type(*next) parameters = (type(*) parameters)object_find(&real, #symbol);  \
		type result = next arguments;                                              \
                                                                                           \
		operations_new_fd(fd);                                                     \
		return result;                                                             \
	}

NEW_FD(FILE *, popen, (const char *command, const char *mode), (command, mode), result ? fileno_unlocked(result) : -1)
NEW_FD(int, memfd_create, (const char *name, unsigned flags), (name, flags), result)

OPERATION(int, pclose, CLOSE, (FILE *stream), (stream), FD(stream ? fileno_unlocked(stream) : -1); call.before = streams_state(stream),
	RESULT(); streams_closed(&call))

/* Those in the range whose number is known to be open are closed one by one in the record. */
#define CLOSES(type, symbol, parameters, arguments, first, last, applies)                  \
	OBJECT_EXPORT type front_##symbol parameters __asm__(#symbol);                     \
	type front_##symbol parameters                                                     \
	{                                                                                  \
		static void *_Atomic real;                                                 \
		type(*next) parameters = (type(*) parameters)object_find(&real, #symbol);  \
                                                                                           \
		if (applies)                                                               \
			operations_close_range(first, last);                               \
		return next arguments;                                                     \
	}

CLOSES(int, close_range, (unsigned first, unsigned last, int flags), (first, last, flags), first, last, !(flags & CLOSE_RANGE_CLOEXEC))
CLOSES(void, closefrom, (int first), (first), first < 0 ? 0 : (unsigned)first, ~0U, true)

static pid_t fork_by(pid_t (*next)(void))
{
	bool files = object_enter_files();
	pid_t pid;
	int error;

	if (!files)
		return next();
	operations_fork(false);
	pid = next();
	error = errno;
	if (pid == 0)
		object_forked(); /* the child tells that it has begun, while its parent's descriptors are those that it has */
	else
		self.mark = 0;
	errno = error;
	return pid;
}

#define FORKS(symbol)                                                                      \
	OBJECT_EXPORT pid_t front_##symbol(void) __asm__(#symbol);                         \
	pid_t front_##symbol(void)                                                         \
	{                                                                                  \
		static void *_Atomic real;                                                 \
                                                                                           \
		return fork_by((pid_t(*)(void))object_find(&real, #symbol));               \
	}

FORKS(fork)
FORKS(__fork)

#define EXITS(symbol)                                                                      \
	OBJECT_EXPORT _Noreturn void front_##symbol(int status) __asm__(#symbol);          \
	_Noreturn void front_##symbol(int status)                                          \
	{                                                                                  \
		static void *_Atomic real;                                                 \
		void (*next)(int) = (void (*)(int))object_find(&real, #symbol);            \
                                                                                           \
		if (object_enter_files())                                                  \
			operations_end(false);                                             \
		next(status);                                                              \
		__builtin_unreachable();                                                   \
	}

EXITS(_exit)
EXITS(_Exit)
