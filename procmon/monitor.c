/* SPDX-License-Identifier: MIT */

/*
 * How reading /proc is kept from blocking the file system
 *
 * Reading /proc/PID can block without limit:
 *
 * - While PID is inside an exec, from the moment that its old memory is given up until the new
 *   program is set up, reading its stat, exe, cwd, fd or environ blocks (tried on Linux 6.18;
 *   status, comm, cmdline and cgroup do not block). In between, the kernel closes the descriptors
 *   marked close-on-exec, and for one of our files sends us a FLUSH. It also drops the old mappings
 *   and writes their dirty pages: WRITE requests to us.
 * - cmdline and environ wait for the lock of PID's memory map. The kernel holds that lock over a
 *   page fault in a mapping of one of our files (a READ to us) as soon as another thread of PID
 *   wants the lock exclusively, and over an munmap that writes back.
 * - The file system that the exec or the fault waits for may be another one, and may never answer.
 *
 * If a request waits for a reader of /proc, and the reader waits for a request, that is a deadlock.
 * The two need not be related: it is enough that a handler waits for the lock of a table that a
 * reader of /proc holds. Hence:
 *
 *   1. No thread reads /proc with the lock held.  The lock covers the tables, the connector's socket
 *      and the pushes: everything under it ends by itself (a push into a full ring ends when the writer
 *      has made room, and the writer never takes this lock).
 *   2. Only the threads of our own pool (pool.c) read files that can block.  A request hands its thread
 *      id over and waits for at most a tenth of a second.  Then it goes on, recorded with an unknown
 *      process; further requests for the same process do not wait until the reader is back.
 *      (monitor_check() reads a stat itself: that of its own requester.  Its caller knows that the
 *      requester is not inside an exec.  An exec by another thread of that process cannot begin to give
 *      up the memory before the requester has its reply, since an exec first ends all other threads.)
 *   3. A pool thread that does not come back is replaced: each request that timed out starts one more,
 *      up to a bound.  A process that cannot be read blocks at most one thread, also if it is the
 *      ancestor of many (discover.c).
 *   4. FLUSH, RELEASE, page-cache requests and requests without a pid never come here.  So an exec or a
 *      fault that waits for one of them always goes on, and releases the reader.
 *
 * A thread that finds events of the kernel at the socket - a thread of the pool, or a request in
 * monitor_sync() - pushes them into the ring at once, under the lock. So their order in the ring is
 * the kernel's, and a request can rely on everything that was reported before it being there. Texts
 * follow when they have been read (scope.h). A text that may belong to the program before or after
 * is discarded.
 */

#include "procmon/monitor.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/failure.h"
#include "procmon/command.h"
#include "procmon/exits.h"
#include "procmon/family.h"
#include "procmon/in_kernel.h"
#include "procmon/pool.h"
#include "procmon/procfs.h"
#include "procmon/sampler.h"
#include "procmon/scope.h"
#include "procmon/spawn.h"
#include "procmon/watch.h"

#define CALL_TURNS 8

struct monitor {
	struct in_kernel *in_kernel; /* not NULL: all events come from there, and of the rest only these two are used: */
	struct sampler *sampler;
	bool finished;
	struct watch watch;
	struct pool *pool;
	bool stuck; /* a thread is stuck in /proc, and uses all of this */
	_Atomic uint64_t waited_ns;
};

int monitor_start(const struct monitor_options *options, struct monitor **ret_monitor)
{
	struct monitor *monitor = calloc(1, sizeof(*monitor));
	int r;

	if (!monitor)
		return -ENOMEM;
	r = watch_init(&monitor->watch, options);
	if (r == 0)
		r = pool_create(&monitor->watch, &monitor->pool);
	if (r == 0 && (r = sampler_start(sampler_of_watch, &monitor->watch, &monitor->sampler)) < 0) {
		pool_stop(monitor->pool);
		pool_destroy(monitor->pool);
	}
	if (r < 0) {
		watch_finish(&monitor->watch);
		free(monitor);
		return r;
	}
	*ret_monitor = monitor;
	return 0;
}

static int start_in_kernel(struct monitor *monitor, const struct monitor_in_kernel *options, struct failure *failure)
{
	int r = in_kernel_start(options, &monitor->in_kernel, failure);

	if (r < 0)
		return r;
	r = sampler_start(in_kernel_sample, monitor->in_kernel, &monitor->sampler);
	if (r < 0) {
		in_kernel_destroy(monitor->in_kernel);
		return failure_set(failure, r, "cannot start a thread: %s", strerror(-r));
	}
	return 0;
}

int monitor_start_in_kernel(const struct monitor_in_kernel *options, struct monitor **ret_monitor,
	struct failure *failure)
{
	struct monitor *monitor = calloc(1, sizeof(*monitor));
	int r = monitor ? family_begin() : -ENOMEM;

	if (r < 0)
		failure_set(failure, r, "cannot become a subreaper: %s", strerror(-r));
	else
		r = start_in_kernel(monitor, options, failure);
	if (r < 0) {
		free(monitor);
		return r;
	}
	*ret_monitor = monitor;
	return 0;
}

int64_t monitor_began_ns(const struct monitor *monitor)
{
	return monitor->in_kernel ? in_kernel_began_ns(monitor->in_kernel) : 0;
}

int monitor_attach(struct monitor *monitor, const struct monitor_attach *wanted, struct failure *failure)
{
	return in_kernel_attach(monitor->in_kernel, wanted, failure);
}

void monitor_finish(struct monitor *monitor)
{
	if (!monitor || monitor->finished)
		return;
	monitor->finished = true;
	sampler_stop(monitor->sampler);
	if (monitor->in_kernel) {
		in_kernel_finish(monitor->in_kernel);
		return;
	}
	monitor->stuck = !pool_stop(monitor->pool);
}

void monitor_stop(struct monitor *monitor)
{
	monitor_finish(monitor);
	if (!monitor || monitor->stuck)
		return;
	if (monitor->in_kernel) {
		in_kernel_destroy(monitor->in_kernel);
		free(monitor);
		return;
	}
	pool_destroy(monitor->pool);
	watch_finish(&monitor->watch);
	free(monitor);
}

const char *monitor_unprivileged(const struct monitor *monitor)
{
	return monitor->watch.unprivileged;
}

const char *monitor_tier(const struct monitor *monitor)
{
	const struct watch *watch = &monitor->watch;

	if (monitor->in_kernel)
		return "kernel";
	if (watch->traces)
		return watch->exits ? "ptrace+taskstats" : "ptrace";
	if (watch->connector)
		return watch->exits ? "connector+taskstats" : "connector";
	return "inband";
}

int monitor_spawn(char *const *argv, int (*first)(void *arg), void *arg, struct spawn **ret_spawn)
{
	struct spawn *spawn = calloc(1, sizeof(*spawn));
	int r = spawn ? spawn_begin(argv, first, arg, spawn) : -ENOMEM;

	if (r < 0) {
		free(spawn);
		return r;
	}
	*ret_spawn = spawn;
	return 0;
}

pid_t monitor_spawned(const struct spawn *spawn)
{
	return spawn->pid;
}

void monitor_discard(struct spawn *spawn)
{
	if (!spawn)
		return;
	spawn_finish(spawn); /* a child that still waits ends by that */
	while (waitpid(spawn->pid, NULL, 0) < 0 && errno == EINTR)
		;
	free(spawn);
}

int monitor_run(struct monitor *monitor, struct spawn *spawn, const struct monitor_run *run,
	int *ret_status)
{
	return command_run(monitor->in_kernel ? NULL : &monitor->watch, spawn, run, ret_status);
}

uint64_t monitor_lost(const struct monitor *monitor)
{
	const struct watch *watch = &monitor->watch;

	if (monitor->in_kernel)
		return 0;
	return atomic_load(&watch->lost) + (watch->exits ? exits_lost(watch->exits) : 0) +
		scope_lost(watch->scope);
}

uint64_t monitor_ops_lost(const struct monitor *monitor)
{
	return monitor->in_kernel ? in_kernel_lost(monitor->in_kernel) : 0;
}

void monitor_set_watched(struct monitor *monitor, bool is_watched)
{
	if (monitor->in_kernel)
		in_kernel_set_watched(monitor->in_kernel, is_watched);
}

bool monitor_may_wait(const struct monitor *monitor)
{
	return monitor->in_kernel && in_kernel_may_wait(monitor->in_kernel);
}

uint64_t monitor_left(const struct monitor *monitor)
{
	return monitor->in_kernel ? in_kernel_left(monitor->in_kernel) : 0;
}

int monitor_put_facts(const struct monitor *monitor, struct store *store)
{
	return monitor->in_kernel ? in_kernel_put_facts(monitor->in_kernel, store) : 0;
}

uint64_t monitor_waited_ns(const struct monitor *monitor)
{
	return atomic_load(&monitor->waited_ns);
}

const _Atomic uint8_t *monitor_known(const struct monitor *monitor)
{
	return monitor->watch.known;
}

static void add_wait(struct monitor *monitor, int64_t since_ns)
{
	atomic_fetch_add_explicit(&monitor->waited_ns, clock_now_ns() - since_ns,
		memory_order_relaxed);
}

void monitor_discover_slow(struct monitor *monitor, pid_t tid)
{
	struct watch *watch = &monitor->watch;
	int64_t start = clock_now_ns();

	watch_lock(watch);
	if (watch->known[tid] != KNOWN)
		pool_discover(monitor->pool, tid);
	else
		pool_wake(monitor->pool);
	watch_unlock(watch);
	add_wait(monitor, start);
}

/* In band: marks the thread as unknown if it is another thread or runs another program now. */
static void compare(struct watch *watch, pid_t tid)
{
	struct procfs_stat stat;
	int r = procfs_read_stat(watch->proc, tid, &stat);

	watch_lock(watch);
	if (r < 0 || !scope_is_same(watch->scope, tid, stat.start_ticks, stat.image))
		atomic_store(&watch->known[tid], KNOWN_NOT);
	watch_unlock(watch);
}

void monitor_check(struct monitor *monitor, pid_t tid)
{
	struct watch *watch = &monitor->watch;
	int64_t start = clock_now_ns();

	if (watch->connector)
		monitor_sync(monitor);
	else if (watch->known[tid] == KNOWN)
		compare(watch, tid);
	add_wait(monitor, start);
	if (watch->known[tid] != KNOWN)
		monitor_discover_slow(monitor, tid);
}

void monitor_sync(struct monitor *monitor)
{
	if (!monitor->watch.connector)
		return;
	watch_lock(&monitor->watch);
	pool_wake(monitor->pool);
	watch_unlock(&monitor->watch);
}

pid_t monitor_process_of(pid_t tid)
{
	cleanup_fd int proc = open("/proc", O_PATH | O_DIRECTORY | O_CLOEXEC);
	struct procfs_status status;
	int r = proc < 0 ? -errno : procfs_read_status(proc, tid, &status);

	return r < 0 ? r : status.tgid;
}

/* The sum of the vector of a call. The kernel has accepted it, so it has at most IOV_MAX
 * entries. */
static int64_t vector_bytes(pid_t tid, uint64_t address, uint64_t n)
{
	struct iovec vector[IOV_MAX], ours = { .iov_base = vector },
		theirs = { .iov_base = (void *)(uintptr_t)address }; // NOLINT(performance-no-int-to-ptr)
	int64_t sum = 0;

	if (n > IOV_MAX)
		return -EINVAL;
	ours.iov_len = theirs.iov_len = n * sizeof(vector[0]);
	if (process_vm_readv(tid, &ours, 1, &theirs, 1, 0) != (ssize_t)ours.iov_len)
		return -EAGAIN;
	for (uint64_t i = 0; i < n; i++)
		sum += (int64_t)vector[i].iov_len;
	return sum;
}

/* Of our own architecture; the same numbers of another one would be calls that do not transfer
 * data. */
static const struct {
	long number;
	bool is_write, has_vector;
} data_calls[] = {
	{ SYS_read, false, false }, { SYS_pread64, false, false }, { SYS_readv, false, true },
	{ SYS_preadv, false, true }, { SYS_preadv2, false, true }, { SYS_write, true, false },
	{ SYS_pwrite64, true, false }, { SYS_writev, true, true }, { SYS_pwritev, true, true },
	{ SYS_pwritev2, true, true },
};

/* The thread has just sent its request and is about to sleep. */
static int read_call(pid_t tid, struct procfs_syscall *ret_call)
{
	cleanup_fd int proc = open("/proc", O_PATH | O_DIRECTORY | O_CLOEXEC);
	int r = proc < 0 ? -errno : -EAGAIN;

	for (int turn = 0; r == -EAGAIN && turn < CALL_TURNS; turn++) {
		if (turn)
			sched_yield();
		r = procfs_read_syscall(proc, tid, ret_call);
	}
	return r;
}

int64_t monitor_call_bytes(pid_t tid, bool is_write, bool vectors)
{
	struct procfs_syscall call;
	int r = read_call(tid, &call);

	if (r < 0)
		return r;
	for (size_t i = 0; i < sizeof(data_calls) / sizeof(data_calls[0]); i++) {
		if (call.number != data_calls[i].number || is_write != data_calls[i].is_write)
			continue;
		if (!data_calls[i].has_vector)
			return (int64_t)call.arguments[2];
		return vectors ? vector_bytes(tid, call.arguments[1], call.arguments[2]) : -EAGAIN;
	}
	return -EAGAIN;
}

int monitor_root_of(pid_t tid)
{
	char path[32];
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/root", tid);
	fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

static ssize_t read_map(const char *path, char map[4096])
{
	cleanup_fd int fd = open(path, O_RDONLY | O_CLOEXEC);

	return fd < 0 ? -errno : read(fd, map, 4096);
}

/*
 * Fallback without the right to read namespaces of other users. A thread with the same id map as
 * ours is in our namespace, or in a nested one with the same map. The creator of that nested one
 * may set all ids, and its capabilities apply to all files as if it were ours.
 */
static bool has_our_ids(pid_t tid)
{
	char path[40], ours[4096], theirs[4096];
	ssize_t n = read_map("/proc/self/uid_map", ours);

	snprintf(path, sizeof(path), "/proc/%d/uid_map", tid);
	return n > 0 && read_map(path, theirs) == n && memcmp(ours, theirs, n) == 0;
}

static bool shares_users(pid_t tid)
{
	static _Atomic ino_t ours; /* does not change; read once */
	struct stat st;
	char path[40];

	if (!atomic_load(&ours) && stat("/proc/self/ns/user", &st) == 0)
		atomic_store(&ours, st.st_ino);
	snprintf(path, sizeof(path), "/proc/%d/ns/user", tid);
	if (stat(path, &st) == 0)
		return st.st_ino == atomic_load(&ours);
	return errno == EACCES && has_our_ids(tid);
}

/* "INSIDE OUTSIDE COUNT" in each line; OUTSIDE as the reader's namespace has it. */
static void read_ids(pid_t tid, const char *name, struct monitor_ids *ret_ids)
{
	char path[40], map[4096 + 1], *line, *rest = map;
	ssize_t n;

	*ret_ids = (struct monitor_ids){ 0 };
	snprintf(path, sizeof(path), "/proc/%d/%s", tid, name);
	n = read_map(path, map);
	map[n > 0 ? n : 0] = '\0';
	while ((line = strsep(&rest, "\n")) && ret_ids->n < MONITOR_RANGES) {
		unsigned outside, count;

		if (sscanf(line, "%*u %u %u", &outside, &count) != 2)
			continue;
		ret_ids->ranges[ret_ids->n].first = outside;
		ret_ids->ranges[ret_ids->n++].count = count;
	}
}

int monitor_read_credentials(pid_t tid, gid_t *ret_groups, size_t room,
	struct monitor_credentials *ret_credentials)
{
	cleanup_fd int proc = open("/proc", O_PATH | O_DIRECTORY | O_CLOEXEC);
	struct monitor_credentials *ret = ret_credentials;
	struct procfs_credentials read;
	int r = proc < 0 ? -errno : procfs_read_credentials(proc, tid, ret_groups, room, &read);

	if (r < 0)
		return r;
	*ret = (struct monitor_credentials){ .fsuid = read.fsuid, .fsgid = read.fsgid,
		.effective = read.effective, .n_groups = read.n_groups, .shares_users = true };
	if (read.effective)
		ret->shares_users = shares_users(tid);
	if (!ret->shares_users) {
		read_ids(tid, "uid_map", &ret->uids);
		read_ids(tid, "gid_map", &ret->gids);
	}
	return 0;
}

bool monitor_is_traced(void)
{
	cleanup_file FILE *f = fopen("/proc/self/status", "re");
	char line[256];
	int tracer = 0;

	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "TracerPid: %d", &tracer) == 1)
			break;
	return tracer != 0;
}
