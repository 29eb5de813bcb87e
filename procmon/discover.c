/* SPDX-License-Identifier: MIT */
#include "procmon/discover.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>
#include <utlist.h>

#include "base/clock.h"
#include "procmon/proc_snapshot.h"
#include "procmon/scope.h"
#include "procmon/watch.h"

/* At most so many ancestors are read; of a longer chain the upper part is left out. */
#define CHAIN_MAX 32

/* ---- one reader at a process ---- */

/*
 * A process may be the ancestor of many. If reading it blocks, it must not block more than one
 * thread of the pool. So a thread claims the process before it reads it. Another thread that needs
 * the same process waits for a moment, in case the first is about to report it, and then continues
 * without it.
 */
#define CLAIM_NS 50000000

/* On the stack of the reading thread. */
struct claim {
	pid_t pid;
	int64_t since_ns;
	struct claim *prev, *next;
};

static bool claim(struct watch *watch, struct claim *mine, pid_t pid)
{
	struct claim *other;
	bool free = true;

	watch_lock(watch);
	for (;;) {
		DL_SEARCH_SCALAR(watch->claims, other, pid, pid);
		if (!other || !free)
			break;
		free = watch_wait(watch, &watch->unclaimed, other->since_ns + CLAIM_NS);
	}
	if (!other) {
		*mine = (struct claim){ .pid = pid, .since_ns = clock_now_ns() };
		DL_APPEND(watch->claims, mine);
	}
	watch_unlock(watch);
	return !other;
}

static void unclaim(struct watch *watch, struct claim *mine)
{
	watch_lock(watch);
	DL_DELETE(watch->claims, mine);
	pthread_cond_broadcast(&watch->unclaimed);
	watch_unlock(watch);
}

/* a thread, its process and its ancestors */

/* The first is the process of the thread. */
struct chain {
	int n;
	bool found; /* it ends at a process that the writer knows */
	uint32_t generations[CHAIN_MAX];
	struct proc_snapshot snapshots[CHAIN_MAX];
};

static bool is_known(struct watch *watch, const struct proc_snapshot *snapshot, uint32_t *ret_generation)
{
	bool known;

	watch_lock(watch);
	known = scope_knows(watch->scope, snapshot, ret_generation);
	watch_unlock(watch);
	return known;
}

/* Adds a process to the chain. Returns whether the parent is needed, too. */
static bool read_link(struct watch *watch, struct chain *chain, pid_t pid)
{
	struct proc_snapshot *snapshot = &chain->snapshots[chain->n];
	bool known;

	if (proc_snapshot_take(snapshot, watch->proc, pid) < 0)
		return false;
	if (chain->n && snapshot->stat.session != chain->snapshots[0].stat.session)
		return false;
	known = is_known(watch, snapshot, &chain->generations[chain->n]);
	chain->found |= known;
	if (known && chain->n)
		return false;
	chain->n++;
	if (!known)
		proc_snapshot_read_text(snapshot, watch->proc, watch->env);
	return !known && pid != snapshot->stat.session;
}

/* Up to the session leader, or to a process that the writer knows: then it knows the ancestors,
 * too. */
static void read_chain(struct watch *watch, struct chain *chain, pid_t pid)
{
	struct claim mine;
	bool more = true;

	while (more && pid > 0 && chain->n < CHAIN_MAX && claim(watch, &mine, pid)) {
		more = read_link(watch, chain, pid) && !watch_is_closed(watch);
		unclaim(watch, &mine);
		if (more)
			pid = chain->snapshots[chain->n - 1].stat.ppid;
	}
}

static void finish_chain(struct chain *chain)
{
	/* The snapshot at which the chain ends may have text, too. */
	for (int i = 0; i < CHAIN_MAX; i++)
		proc_snapshot_finish(&chain->snapshots[i]);
}

static void emit_chain(struct watch *watch, const struct chain *chain)
{
	for (int i = chain->n - 1; i >= 0; i--)
		scope_discover(watch->scope, &chain->snapshots[i], chain->generations[i],
			i ? SCOPE_ANCESTOR : SCOPE_IN);
}

static bool is_outside(struct watch *watch, pid_t pid)
{
	bool outside;

	watch_lock(watch);
	outside = watch_is_closed(watch) && !scope_find(watch->scope, pid);
	watch_unlock(watch);
	return outside;
}

void discover_thread(struct watch *watch, pid_t tid)
{
	struct chain *chain = calloc(1, sizeof(*chain));
	struct procfs_status status;
	struct procfs_stat stat;
	int r = procfs_read_status(watch->proc, tid, &status);

	if (r == 0 && (status.tgid == getpid() || is_outside(watch, status.tgid)))
		r = -ESRCH;
	if (r == 0 && chain)
		read_chain(watch, chain, status.tgid);
	if (r == 0)
		r = procfs_read_stat(watch->proc, tid, &stat);
	if (r == 0 && chain && watch->command && !chain->found)
		r = -ESRCH; /* a process outside of the command's tree, in our mount */
	watch_lock(watch);
	if (r == -ESRCH) {
		atomic_store(&watch->known[tid], KNOWN_IGNORED);
	} else if (r == 0 && chain) {
		emit_chain(watch, chain);
		scope_discover_thread(watch->scope, tid, status.tgid, stat.start_ticks);
	}
	watch_unlock(watch);
	if (chain)
		finish_chain(chain);
	free(chain);
}

/* ---- children whose fork was not reported ---- */

/* Whether a process is a child of a process in scope, started after that time, and unknown to the
 * scope. */
static bool is_missed(struct watch *watch, pid_t pid, int64_t since_boot_ns)
{
	struct procfs_stat stat;
	const struct member *parent;
	bool missed;

	if (procfs_read_stat(watch->proc, pid, &stat) < 0
		|| procfs_ticks_ns(stat.start_ticks + 1) < since_boot_ns)
		return false;
	watch_lock(watch);
	parent = scope_find(watch->scope, stat.ppid);
	missed = parent && parent->kind == SCOPE_IN && !scope_find(watch->scope, pid);
	watch_unlock(watch);
	return missed;
}

/* Discovers the children whose fork was not reported. Returns their number. */
static int discover_round(struct watch *watch, int64_t since_boot_ns)
{
	int fd = openat(watch->proc, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC), n = 0;
	DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;
	struct dirent *entry;

	while (dir && (entry = readdir(dir))) {
		pid_t pid = isdigit(entry->d_name[0]) ? atoi(entry->d_name) : 0;

		if (pid <= 0 || !is_missed(watch, pid, since_boot_ns))
			continue;
		discover_thread(watch, pid);
		n++;
	}
	if (dir)
		closedir(dir);
	else if (fd >= 0)
		close(fd);
	return n;
}

void discover_missed(struct watch *watch, int64_t since_boot_ns)
{
	for (int i = 0; i < CHAIN_MAX && discover_round(watch, since_boot_ns); i++)
		;
}
