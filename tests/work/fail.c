/* SPDX-License-Identifier: MIT */

/*
 * A library to be preloaded (LD_PRELOAD) that makes one allocation, system call or call of SQLite of a program
 * fail: the N-th since its main() began, counted over all its threads and forks.
 *
 *	FAIL_STATE=FILE    where the counts are kept (struct state); needed, else nothing is done
 *	FAIL_PROGRAM=NAME  the program (its first 15 letters); others that it starts are left alone
 *	FAIL_THREAD=NAME   only calls of threads of this name count
 *	FAIL_ALLOC=N       the N-th malloc, calloc, realloc, aligned_alloc ... gives NULL
 *	FAIL_CALL=N        the N-th system call gives FAIL_ERRNO (a number; EIO if it is not said)
 *	FAIL_SQL=N         the N-th call of SQLite that may fail gives FAIL_ERRNO (SQLITE_IOERR ... as a number)
 *	FAIL_ONLY=A,B      only system calls, or calls of SQLite, of these names count
 *	FAIL_PATH=TEXT     only those on descriptors whose file has TEXT in its name count
 *	FAIL_FOR=M         and those after it, M in all; 0: all
 *	FAIL_TRACE=1       says on standard error where it fails (backtrace of addresses)
 *
 * Without any N it counts only; and shows a clock that was set by as much as FAIL_STATE says at that time.
 *  What frees, closes or unmounts never fails, nor what waits for a thread or a child, or lets a tracee go.
 */

#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

struct state {
	_Atomic long allocs, calls, failed;
	_Atomic long shift_ns; /* of CLOCK_REALTIME, as if the clock had been set */
	_Atomic long shifted;  /* how often such a time was given */
	_Atomic long sqls;
};

static struct state *state; /* NULL: not begun */
static long fail_alloc, fail_call, fail_sql, fail_for = 1;
static int fail_errno = EIO;
static const char *only_thread, *only_calls, *only_path;
static bool is_traced;
static _Thread_local bool inside;

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t n, size_t size);
void *__libc_realloc(void *p, size_t size);
void *__libc_memalign(size_t alignment, size_t size);

/* ---- which one */

static bool is_of_thread(void)
{
	char name[16] = "";

	if (!only_thread)
		return true;
	syscall(SYS_prctl, PR_GET_NAME, name);
	return strcmp(name, only_thread) == 0;
}

static void say_where(const char *what)
{
	void *frames[40];

	if (!is_traced)
		return;
	dprintf(2, "FAIL %s\n", what);
	backtrace_symbols_fd(frames, backtrace(frames, 40), 2);
}

static bool is_due(long number, long from)
{
	return from && number >= from && (fail_for == 0 || number < from + fail_for);
}

static bool counted(_Atomic long *count, long from, const char *what)
{
	int saved = errno;
	bool due;

	inside = true;
	due = is_of_thread() && is_due(atomic_fetch_add(count, 1) + 1, from);
	if (due) {
		atomic_fetch_add(&state->failed, 1);
		say_where(what);
	}
	errno = saved;
	inside = false;
	return due;
}

static bool alloc_fails(void)
{
	if (!state || inside || !counted(&state->allocs, fail_alloc, "allocation"))
		return false;
	errno = ENOMEM;
	return true;
}

static bool is_in(const char *list, const char *name)
{
	size_t len = strlen(name);

	for (const char *at = list; (at = strstr(at, name)); at += len)
		if ((at == list || at[-1] == ',') && (at[len] == ',' || !at[len]))
			return true;
	return false;
}

static bool is_on_path(int fd)
{
	char link[64], path[4096];
	ssize_t n;

	if (!only_path)
		return true;
	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	n = syscall(SYS_readlinkat, AT_FDCWD, link, path, sizeof(path) - 1);
	path[n < 0 ? 0 : n] = '\0';
	return strstr(path, only_path);
}

/* fd: what the call is about, -1 if that is no descriptor. */
static bool call_fails(const char *name, int fd)
{
	int saved = errno;

	if (!state || inside || (only_calls && !is_in(only_calls, name)) || !is_on_path(fd) ||
		!counted(&state->calls, fail_call, name)) {
		errno = saved;
		return false;
	}
	errno = fail_errno;
	return true;
}

/* ---- begin */

static long number(const char *name, long otherwise)
{
	const char *text = getenv(name);

	return text && *text ? strtol(text, NULL, 0) : otherwise;
}

static bool is_program(void)
{
	const char *name = getenv("FAIL_PROGRAM");

	return !name || strncmp(name, program_invocation_short_name, 15) == 0;
}

static void begin(void)
{
	const char *path = getenv("FAIL_STATE");
	void *frame;
	int fd;

	if (!path || !is_program() || (fd = syscall(SYS_openat, AT_FDCWD, path, O_RDWR | O_CLOEXEC)) < 0)
		return;
	fail_alloc = number("FAIL_ALLOC", 0);
	fail_call = number("FAIL_CALL", 0);
	fail_sql = number("FAIL_SQL", 0);
	fail_for = number("FAIL_FOR", 1);
	fail_errno = number("FAIL_ERRNO", EIO);
	only_thread = getenv("FAIL_THREAD");
	only_calls = getenv("FAIL_ONLY");
	only_path = getenv("FAIL_PATH");
	is_traced = number("FAIL_TRACE", 0);
	backtrace(&frame, 1); /* loads what it needs */
	state = (void *)syscall(SYS_mmap, NULL, sizeof(*state), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	state = state == MAP_FAILED ? NULL : state;
	syscall(SYS_close, fd);
}

static int (*real_main)(int argc, char **argv, char **environment);

static int main_of(int argc, char **argv, char **environment)
{
	begin();
	return real_main(argc, argv, environment);
}

int __libc_start_main(int (*main)(int, char **, char **), int argc, char **argv,
	int (*init)(int, char **, char **), void (*fini)(void), void (*rtld_fini)(void), void *end);

int __libc_start_main(int (*main)(int, char **, char **), int argc, char **argv,
	int (*init)(int, char **, char **), void (*fini)(void), void (*rtld_fini)(void), void *end)
{
	__typeof__(&__libc_start_main) real = dlsym(RTLD_NEXT, "__libc_start_main");

	real_main = main;
	return real(main_of, argc, argv, init, fini, rtld_fini, end);
}

/* ---- memory */

void *malloc(size_t size)
{
	return alloc_fails() ? NULL : __libc_malloc(size);
}

void *calloc(size_t n, size_t size)
{
	return alloc_fails() ? NULL : __libc_calloc(n, size);
}

void *realloc(void *p, size_t size)
{
	return alloc_fails() ? NULL : __libc_realloc(p, size);
}

void *memalign(size_t alignment, size_t size);

void *memalign(size_t alignment, size_t size)
{
	return alloc_fails() ? NULL : __libc_memalign(alignment, size);
}

void *aligned_alloc(size_t alignment, size_t size)
{
	return memalign(alignment, size);
}

int posix_memalign(void **ret, size_t alignment, size_t size)
{
	if (alloc_fails())
		return ENOMEM;
	*ret = __libc_memalign(alignment, size);
	return *ret ? 0 : ENOMEM;
}

void *reallocarray(void *p, size_t n, size_t size)
{
	size_t bytes;

	if (__builtin_mul_overflow(n, size, &bytes)) {
		errno = ENOMEM;
		return NULL;
	}
	return realloc(p, bytes);
}

/* ---- system calls: the names under which programs reach them */

/*
 * Arguments of any call are words in registers, six at most, whatever their types; so one form
 * fits all, also those with variable arguments.
 */
#define WORDS_IN long a, long b, long c, long d, long e, long f
#define WORDS a, b, c, d, e, f

/* X(name, 1 if the first argument is a descriptor, the result of a failed call) */
#define CALLS(X)                                                                                  \
	X(open, 0, -1) X(open64, 0, -1) X(openat, 1, -1) X(openat64, 1, -1) X(read, 1, -1)         \
	X(write, 1, -1) X(pread, 1, -1) X(pread64, 1, -1) X(pwrite, 1, -1) X(pwrite64, 1, -1)      \
	X(readv, 1, -1) X(writev, 1, -1) X(fsync, 1, -1) X(fdatasync, 1, -1) X(ftruncate, 1, -1)   \
	X(ftruncate64, 1, -1) X(fallocate, 1, -1) X(fallocate64, 1, -1)                            \
	X(posix_fallocate, 1, fail_errno) X(posix_fallocate64, 1, fail_errno)                      \
	X(mmap, 0, -1) X(mmap64, 0, -1) X(mremap, 0, -1) X(fstat, 1, -1) X(fstat64, 1, -1)         \
	X(stat, 0, -1) X(stat64, 0, -1) X(lstat, 0, -1) X(lstat64, 0, -1) X(fstatat, 1, -1)        \
	X(fstatat64, 1, -1) X(statx, 1, -1) X(statvfs, 0, -1) X(statvfs64, 0, -1)                  \
	X(fstatvfs, 1, -1) X(fstatvfs64, 1, -1) X(statfs, 0, -1) X(statfs64, 0, -1)                \
	X(fstatfs, 1, -1) X(fstatfs64, 1, -1) X(access, 0, -1) X(faccessat, 1, -1)                 \
	X(readlink, 0, -1) X(readlinkat, 1, -1) X(getcwd, 0, 0) X(chdir, 0, -1)                    \
	X(unlink, 0, -1) X(unlinkat, 1, -1) X(mkdirat, 1, -1) X(mknodat, 1, -1)                    \
	X(symlinkat, 0, -1) X(linkat, 1, -1) X(renameat2, 1, -1) X(rename, 0, -1)                  \
	X(fchmod, 1, -1) X(fchmodat, 1, -1) X(fchownat, 1, -1) X(utimensat, 1, -1)                 \
	X(futimens, 1, -1) X(fdopendir, 1, 0) X(opendir, 0, 0) X(fcntl, 1, -1) X(fcntl64, 1, -1)   \
	X(ioctl, 1, -1) X(flock, 1, -1) X(lseek, 1, -1) X(lseek64, 1, -1)                          \
	X(copy_file_range, 1, -1) X(pipe, 0, -1) X(pipe2, 0, -1) X(dup, 1, -1) X(dup2, 1, -1)      \
	X(dup3, 1, -1) X(socket, 0, -1) X(bind, 1, -1) X(connect, 1, -1) X(setsockopt, 1, -1)      \
	X(getsockname, 1, -1) X(send, 1, -1) X(sendto, 1, -1) X(sendmsg, 1, -1) X(recv, 1, -1)     \
	X(recvfrom, 1, -1) X(recvmsg, 1, -1) X(socketpair, 0, -1) X(poll, 0, -1)                   \
	X(epoll_create1, 0, -1) X(epoll_ctl, 1, -1) X(epoll_wait, 1, -1) X(eventfd, 0, -1)         \
	X(timerfd_create, 0, -1) X(timerfd_settime, 1, -1) X(pidfd_open, 0, -1)                    \
	X(signalfd, 0, -1) X(fork, 0, -1) X(pthread_create, 0, fail_errno)       \
	X(mount, 0, -1) X(unshare, 0, -1) X(setns, 1, -1)       \
	X(prctl, 0, -1) X(setrlimit, 0, -1) X(setrlimit64, 0, -1) X(getrlimit, 0, -1)              \
	X(getrlimit64, 0, -1) X(name_to_handle_at, 1, -1) X(open_by_handle_at, 1, -1)              \
	X(sigaction, 0, -1) X(fopen, 0, 0) X(fopen64, 0, 0)

#define X(name, is_fd, result)                                                           \
	static long (*real_##name)(WORDS_IN);                                            \
	long wrapped_##name(WORDS_IN) __asm__(#name);                              \
	__attribute__((visibility("default"))) long wrapped_##name(WORDS_IN)              \
	{                                                                                \
		if (!real_##name)                                                        \
			real_##name = (long (*)(WORDS_IN))dlsym(RTLD_NEXT, #name);        \
		return call_fails(#name, is_fd ? (int)a : -1) ? (long)(result)            \
							      : real_##name(WORDS);      \
	}
CALLS(X)
#undef X

/* What lets go of a tracee fails only where there is none any more. */
static bool lets_go(long request)
{
	return request == PTRACE_CONT || request == PTRACE_SYSCALL || request == PTRACE_LISTEN || request == PTRACE_DETACH;
}

long wrapped_ptrace(WORDS_IN) __asm__("ptrace");
__attribute__((visibility("default"))) long wrapped_ptrace(WORDS_IN)
{
	static long (*real)(WORDS_IN);

	if (!real)
		real = (long (*)(WORDS_IN))dlsym(RTLD_NEXT, "ptrace");
	return !lets_go(a) && call_fails("ptrace", -1) ? -1 : real(WORDS);
}

/* ---- SQLite: what a program calls, and what may fail there */

static _Thread_local int sql_failed; /* the code of the last call, if it was made to fail */
static _Thread_local int sql_depth;  /* what SQLite itself calls by these names is not the program's */

static bool sql_fails(const char *name)
{
	if (sql_depth)
		return false;
	sql_failed = 0;
	if (!state || inside || (only_calls && !is_in(only_calls, name)) || !counted(&state->sqls, fail_sql, name))
		return false;
	sql_failed = fail_errno;
	return true;
}

/* name, what it leaves where its result would be */
#define SQLS(X)                                                                                          \
	X(sqlite3_open_v2, *(void **)b = NULL) X(sqlite3_prepare_v2, *(void **)d = NULL)                   \
	X(sqlite3_prepare_v3, *(void **)e = NULL) X(sqlite3_exec, e ? *(void **)e = NULL : NULL)           \
	X(sqlite3_step, ) X(sqlite3_bind_text64, ) X(sqlite3_bind_blob64, ) X(sqlite3_bind_value, )        \
	X(sqlite3_db_config, ) X(sqlite3_drop_modules, ) X(sqlite3_vfs_register, )

#define X(name, leave)                                                                   \
	int wrapped_##name(WORDS_IN) __asm__(#name);                                     \
	__attribute__((visibility("default"))) int wrapped_##name(WORDS_IN)              \
	{                                                                                \
		static int (*real)(WORDS_IN);                                            \
		int r = fail_errno;                                                      \
                                                                                         \
		if (!real)                                                               \
			real = (int (*)(WORDS_IN))dlsym(RTLD_NEXT, #name);               \
		if (sql_fails(#name)) {                                                  \
			leave;                                                           \
			return r;                                                        \
		}                                                                        \
		sql_depth++;                                                             \
		r = real(WORDS);                                                         \
		sql_depth--;                                                             \
		return r;                                                                \
	}
SQLS(X)
#undef X

const char *sqlite3_errmsg(void *db);
int sqlite3_errcode(void *db);

const char *sqlite3_errmsg(void *db)
{
	static const char *(*real)(void *);

	if (!real)
		real = (const char *(*)(void *))dlsym(RTLD_NEXT, "sqlite3_errmsg");
	return sql_failed ? "made to fail" : real(db);
}

int sqlite3_errcode(void *db)
{
	static int (*real)(void *);

	if (!real)
		real = (int (*)(void *))dlsym(RTLD_NEXT, "sqlite3_errcode");
	return sql_failed ? sql_failed : real(db);
}

/* ---- what glibc cannot do without memory: its name service ends the program, so a user is not found instead */

struct passwd;

struct passwd *getpwuid(unsigned uid);

struct passwd *getpwuid(unsigned uid)
{
	static struct passwd *(*real)(unsigned);
	struct passwd *user;

	if (!real)
		real = (struct passwd *(*)(unsigned))dlsym(RTLD_NEXT, "getpwuid");
	if (alloc_fails())
		return NULL;
	inside = true;
	user = real(uid);
	inside = false;
	return user;
}

/* ---- the clock */

int clock_gettime(clockid_t id, struct timespec *ret)
{
	long r = syscall(SYS_clock_gettime, id, ret), ns;

	if (r == 0 && state && (id == CLOCK_REALTIME || id == CLOCK_REALTIME_COARSE) && atomic_load(&state->shift_ns)) {
		atomic_fetch_add(&state->shifted, 1);
		ns = ret->tv_nsec + atomic_load(&state->shift_ns) % 1000000000;
		ret->tv_sec += atomic_load(&state->shift_ns) / 1000000000 + (ns >= 1000000000) - (ns < 0);
		ret->tv_nsec = (ns + 1000000000) % 1000000000;
	}
	return (int)r;
}

time_t time(time_t *ret)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	if (ret)
		*ret = now.tv_sec;
	return now.tv_sec;
}

int gettimeofday(struct timeval *restrict ret, void *restrict zone)
{
	struct timespec now;

	(void)zone;
	clock_gettime(CLOCK_REALTIME, &now);
	*ret = (struct timeval){ now.tv_sec, now.tv_nsec / 1000 };
	return 0;
}
