/* SPDX-License-Identifier: MIT */
#include "procmon/follow.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <uthash.h>

#include "db/figures.h"
#include "procmon/connector.h"
#include "procmon/scope.h"
#include "procmon/usage.h"
#include "procmon/watch.h"

static void tell(struct follow *follow, const struct connector_event *ev)
{
	watch_lock(follow->watch);
	scope_follow(follow->watch->scope, ev);
	watch_unlock(follow->watch);
}

static void forked(void *arg, pid_t pid, pid_t parent, int64_t time_ns)
{
	struct follow *follow = arg;

	if (parent != getpid()) {
		tell(follow, &(struct connector_event){ .kind = CONNECTOR_FORK, .tid = pid,
			.pid = pid, .parent = parent, .time_ns = time_ns });
		return;
	}
	watch_lock(follow->watch);
	scope_begin(follow->watch->scope, pid, parent, true, 0, time_ns);
	atomic_store(&follow->watch->begun, true);
	watch_unlock(follow->watch);
}

static void threaded(void *arg, pid_t tid, pid_t pid, int64_t time_ns)
{
	tell(arg, &(struct connector_event){ .kind = CONNECTOR_FORK, .tid = tid, .pid = pid,
		.time_ns = time_ns });
}

/* It stands: what is read is what it runs. */
static int look(struct follow *follow, pid_t pid)
{
	struct watch *watch = follow->watch;
	int r = look_who(&follow->look, watch->proc, pid);

	if (r == 0)
		look_text(&follow->look, watch->proc, watch->env);
	return r;
}

static void meet(struct follow *follow, pid_t pid)
{
	struct scope *scope = follow->watch->scope;
	const struct member *member = scope_find(scope, pid);

	if (member)
		scope_meet(scope, &follow->look, member->generation, SCOPE_IN);
}

/* The kernel ignores suid and sgid of a program when who traces it may not trace everybody. */
static bool loses_privilege(struct watch *watch, const struct look *look)
{
	char path[24];
	struct statx sx;

	snprintf(path, sizeof(path), "%d/exe", look->pid);
	/* As the kernel knows it: the file system that would be asked may be ours. */
	if (statx(watch->proc, path, AT_STATX_DONT_SYNC, STATX_BASIC_STATS, &sx) < 0 ||
		!(sx.stx_mode & (S_ISUID | S_ISGID)))
		return false;
	return ((sx.stx_mode & S_ISUID) && sx.stx_uid != look->uid) ||
		((sx.stx_mode & (S_ISGID | S_IXGRP)) == (S_ISGID | S_IXGRP) &&
			sx.stx_gid != look->gid);
}

static void note_privilege(struct watch *watch, const struct look *look)
{
	char path[24], exe[PATH_MAX];
	ssize_t n;

	if (watch->unprivileged || geteuid() == 0 || !loses_privilege(watch, look))
		return;
	snprintf(path, sizeof(path), "%d/exe", look->pid);
	n = readlinkat(watch->proc, path, exe, sizeof(exe) - 1);
	if (n > 0)
		watch->unprivileged = strndup(exe, n);
}

static void executed(void *arg, pid_t pid, bool released, int64_t time_ns)
{
	struct follow *follow = arg;
	struct watch *watch = follow->watch;
	int r = look(follow, pid);

	if (r == 0)
		note_privilege(watch, &follow->look);
	watch_lock(watch);
	scope_follow(watch->scope, &(struct connector_event){ .kind = CONNECTOR_EXEC, .tid = pid,
		.pid = pid, .time_ns = time_ns });
	if (r == 0)
		meet(follow, pid);
	if (released)
		scope_release(watch->scope, pid);
	watch_unlock(watch);
}

/* ---- the end ---- */

struct kept_io {
	pid_t pid;
	int fd;
	UT_hash_handle hh;
};

static void keep_io(struct follow *follow, pid_t pid)
{
	struct kept_io *kept = calloc(1, sizeof(*kept));

	if (!kept)
		return;
	*kept = (struct kept_io){ .pid = pid, .fd = usage_open_io(follow->watch->proc, pid) };
	HASH_ADD_INT(follow->kept, pid, kept);
	if (kept->hh.tbl)
		return;
	if (kept->fd >= 0)
		close(kept->fd);
	free(kept);
}

static void drop_io(struct follow *follow, struct kept_io *kept)
{
	HASH_DEL(follow->kept, kept);
	if (kept->fd >= 0)
		close(kept->fd);
	free(kept);
}

static struct kept_io *find_io(const struct follow *follow, pid_t pid)
{
	struct kept_io *kept;

	HASH_FIND_INT(follow->kept, &pid, kept);
	return kept;
}

/* What the exit records of threads will say is left to them. */
static void ending(void *arg, pid_t tid, pid_t pid, bool last)
{
	struct follow *follow = arg;
	struct watch *watch = follow->watch;
	const struct kept_io *kept = find_io(follow, pid);
	struct figures thread, process;

	if (!last && tid == pid && !kept)
		keep_io(follow, pid);
	if (!watch->exits)
		usage_of_thread(watch->proc, pid, tid, &thread);
	if (last)
		usage_of_process(watch->proc, pid, tid, kept ? kept->fd : -1, &process);
	watch_lock(watch);
	if (!watch->exits)
		scope_tell_figures(watch->scope, pid, tid, &thread);
	if (last)
		scope_tell_figures(watch->scope, pid, 0, &process);
	watch_unlock(watch);
}

static void ended(void *arg, pid_t tid, pid_t pid, int status, int64_t time_ns)
{
	struct kept_io *kept = tid == pid ? find_io(arg, pid) : NULL;

	if (kept)
		drop_io(arg, kept);
	tell(arg, &(struct connector_event){ .kind = CONNECTOR_EXIT, .tid = tid, .pid = pid,
		.status = status, .time_ns = time_ns });
}

/* Its start, as /proc has it, is what tells it from another of that number. */
static void released(void *arg, pid_t pid)
{
	struct follow *follow = arg;
	struct watch *watch = follow->watch;
	int r = look(follow, pid);

	watch_lock(watch);
	if (r == 0)
		meet(follow, pid);
	scope_release(watch->scope, pid);
	watch_unlock(watch);
}

const struct tracer_callbacks follow_callbacks = {
	.forked = forked,
	.threaded = threaded,
	.executed = executed,
	.ending = ending,
	.ended = ended,
	.released = released,
};

void follow_finish(struct follow *follow)
{
	while (follow->kept)
		drop_io(follow, follow->kept);
	look_finish(&follow->look);
}
