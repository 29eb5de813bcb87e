/* SPDX-License-Identifier: MIT */

/* What the threads of a process wait for: the system calls that they are inside of. */

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "procmon/monitor.h"
#include "procmon/procfs.h"

#define START_NS INT64_C(1000000000) /* the trace's start of a process may be that much off */

/* What the calls have: a descriptor as their first argument, or a path as that argument. */
static const struct call {
	long number;
	const char *name;
	enum { BY_FD, BY_PATH, BY_CHILD } by;
	int path; /* which argument */
} calls[] = {
	{ SYS_read, "read", BY_FD, 0 }, { SYS_pread64, "read", BY_FD, 0 }, { SYS_readv, "read", BY_FD, 0 },
	{ SYS_preadv, "read", BY_FD, 0 }, { SYS_write, "write", BY_FD, 0 }, { SYS_pwrite64, "write", BY_FD, 0 },
	{ SYS_writev, "write", BY_FD, 0 }, { SYS_pwritev, "write", BY_FD, 0 }, { SYS_fsync, "fsync", BY_FD, 0 },
	{ SYS_fdatasync, "fsync", BY_FD, 0 }, { SYS_ftruncate, "truncate", BY_FD, 0 }, { SYS_fallocate, "fallocate", BY_FD, 0 },
	{ SYS_getdents64, "readdir", BY_FD, 0 }, { SYS_close, "close", BY_FD, 0 }, { SYS_copy_file_range, "copy", BY_FD, 0 },
	{ SYS_flock, "lock", BY_FD, 0 }, { SYS_fcntl, "lock", BY_FD, 0 }, { SYS_recvfrom, "recv", BY_FD, 0 },
	{ SYS_recvmsg, "recv", BY_FD, 0 }, { SYS_sendto, "send", BY_FD, 0 }, { SYS_sendmsg, "send", BY_FD, 0 },
	{ SYS_connect, "connect", BY_FD, 0 }, { SYS_openat, "open", BY_PATH, 1 }, { SYS_newfstatat, "getattr", BY_PATH, 1 },
	{ SYS_statx, "getattr", BY_PATH, 1 }, { SYS_unlinkat, "unlink", BY_PATH, 1 }, { SYS_renameat2, "rename", BY_PATH, 1 },
	{ SYS_mkdirat, "mkdir", BY_PATH, 1 }, { SYS_faccessat, "access", BY_PATH, 1 }, { SYS_readlinkat, "readlink", BY_PATH, 1 },
	{ SYS_wait4, "wait", BY_CHILD, 0 }, { SYS_waitid, "wait", BY_CHILD, 0 },
#ifdef SYS_open /* those of older processors' interfaces */
	{ SYS_open, "open", BY_PATH, 0 }, { SYS_stat, "getattr", BY_PATH, 0 }, { SYS_lstat, "getattr", BY_PATH, 0 },
	{ SYS_unlink, "unlink", BY_PATH, 0 }, { SYS_rename, "rename", BY_PATH, 0 }, { SYS_mkdir, "mkdir", BY_PATH, 0 },
	{ SYS_access, "access", BY_PATH, 0 }, { SYS_readlink, "readlink", BY_PATH, 0 },
#endif
};

static const struct call *find(const struct procfs_syscall *made)
{
	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++)
		if (calls[i].number == made->number)
			return made->number != SYS_fcntl || made->arguments[1] == F_SETLKW || made->arguments[1] == F_OFD_SETLKW ? &calls[i] : NULL;
	return NULL;
}

static void read_descriptor(pid_t pid, const struct procfs_syscall *made, struct monitor_wait *wait)
{
	char name[64];
	ssize_t n;

	snprintf(name, sizeof(name), "/proc/%d/fd/%u", (int)pid, (unsigned)made->arguments[0]);
	n = readlink(name, wait->path, sizeof(wait->path) - 1);
	wait->path[n > 0 ? n : 0] = '\0';
	if (strncmp(wait->path, "pipe:", 5) == 0)
		wait->kind = MONITOR_WAIT_PIPE;
	else if (strncmp(wait->path, "socket:", 7) == 0)
		wait->kind = MONITOR_WAIT_SOCKET;
}

/* The path is in the memory of the process; it may end at a page that is not there. */
static void read_path(pid_t pid, uint64_t address, struct monitor_wait *wait)
{
	size_t most = sizeof(wait->path) - 1, to_page = 4096 - address % 4096;
	struct iovec into = { wait->path, most < to_page ? most : to_page };
	struct iovec from = { (void *)(uintptr_t)address, into.iov_len };
	ssize_t n = process_vm_readv(pid, &into, 1, &from, 1, 0);

	if (n == (ssize_t)to_page && !memchr(wait->path, '\0', (size_t)n)) {
		into = (struct iovec){ wait->path + n, most - (size_t)n };
		from = (struct iovec){ (void *)(uintptr_t)(address + (uint64_t)n), into.iov_len };
		n += process_vm_readv(pid, &into, 1, &from, 1, 0) < 0 ? 0 : (ssize_t)into.iov_len;
	}
	wait->path[n > 0 ? n : 0] = '\0';
}

static uint64_t read_switches(pid_t pid, pid_t tid)
{
	char name[64], line[128];
	unsigned long long n = 0;

	snprintf(name, sizeof(name), "/proc/%d/task/%d/status", (int)pid, (int)tid);
	cleanup_file FILE *f = fopen(name, "re");
	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "voluntary_ctxt_switches: %llu", &n) == 1)
			break;
	return n;
}

/* 1: the thread is inside of such a call; 0: of none; -errno. */
static int read_wait(int proc, pid_t pid, pid_t tid, struct monitor_wait *wait)
{
	struct procfs_syscall made;
	int r = procfs_read_syscall(proc, tid, &made);
	const struct call *call = r < 0 ? NULL : find(&made);

	if (!call)
		return r == -EACCES || r == -EPERM ? r : 0;
	*wait = (struct monitor_wait){ .tid = tid, .number = made.number, .argument = made.arguments[call->path],
		.switches = read_switches(pid, tid), .name = call->name,
		.kind = call->by == BY_CHILD ? MONITOR_WAIT_CHILD : MONITOR_WAIT_FILE };
	if (call->by == BY_FD)
		read_descriptor(pid, &made, wait);
	else if (call->by == BY_PATH)
		read_path(pid, made.arguments[call->path], wait);
	return 1;
}

/* A number is used again for other processes. */
static bool is_same(int proc, pid_t pid, int64_t start_ns)
{
	struct procfs_stat stat;
	int64_t since_boot_ns = start_ns + clock_suspended_ns();

	return procfs_read_stat(proc, pid, &stat) == 0 && stat.state != 'Z' &&
	       llabs(procfs_ticks_ns(stat.start_ticks) - since_boot_ns) < START_NS;
}

int monitor_waits(pid_t pid, int64_t start_ns, struct monitor_wait *ret_waits, int most)
{
	cleanup_fd int proc = open("/proc", O_PATH | O_DIRECTORY | O_CLOEXEC);
	char name[64];
	struct dirent *entry;
	DIR *tasks;
	int n = 0, r = 0;

	snprintf(name, sizeof(name), "/proc/%d/task", (int)pid);
	if (proc < 0 || !is_same(proc, pid, start_ns) || !(tasks = opendir(name)))
		return -ESRCH;
	while (n < most && r >= 0 && (entry = readdir(tasks)))
		if (entry->d_name[0] != '.' && (r = read_wait(proc, pid, atoi(entry->d_name), &ret_waits[n])) > 0)
			n++;
	closedir(tasks);
	return r < 0 ? r : n;
}
