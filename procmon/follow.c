/* SPDX-License-Identifier: MIT */
#include "procmon/follow.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "db/figures.h"
#include "procmon/connector.h"
#include "procmon/ledger.h"
#include "procmon/scope.h"
#include "procmon/watch.h"

/* The figures of a thread that could not be read. */
static const struct figures unknown;

static void emit(struct follow *follow, const struct connector_event *ev)
{
	watch_lock(follow->watch);
	scope_on_ptrace(follow->watch->scope, ev);
	watch_unlock(follow->watch);
}

static void forked(void *arg, pid_t pid, pid_t parent, int64_t time_ns)
{
	struct follow *follow = arg;

	ledger_begin(&follow->ledger, pid, parent);
	if (parent != getpid()) {
		emit(follow, &(struct connector_event){ .kind = CONNECTOR_FORK, .tid = pid,
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
	struct follow *follow = arg;

	ledger_thread(&follow->ledger, pid, tid);
	emit(follow, &(struct connector_event){ .kind = CONNECTOR_FORK, .tid = tid, .pid = pid,
		.time_ns = time_ns });
}

/* The process is stopped, so the snapshot shows the program that it runs. */
static int snapshot(struct follow *follow, pid_t pid)
{
	struct watch *watch = follow->watch;
	int r = proc_snapshot_take(&follow->snapshot, watch->proc, pid);

	if (r == 0)
		proc_snapshot_read_text(&follow->snapshot, watch->proc, watch->env);
	return r;
}

static void discover(struct follow *follow, pid_t pid)
{
	struct scope *scope = follow->watch->scope;
	const struct member *member = scope_find(scope, pid);

	if (member)
		scope_discover(scope, &follow->snapshot, member->generation, SCOPE_IN);
}

/* The kernel ignores suid and sgid bits of a traced program if the tracer lacks CAP_SYS_PTRACE. */
static bool loses_privilege(struct watch *watch, const struct proc_snapshot *snapshot)
{
	char path[24];
	struct statx sx;

	snprintf(path, sizeof(path), "%d/exe", snapshot->pid);
	/* No request to the file system: it may be ours. */
	if (statx(watch->proc, path, AT_STATX_DONT_SYNC, STATX_BASIC_STATS, &sx) < 0 ||
		!(sx.stx_mode & (S_ISUID | S_ISGID)))
		return false;
	return ((sx.stx_mode & S_ISUID) && sx.stx_uid != snapshot->uid) ||
		((sx.stx_mode & (S_ISGID | S_IXGRP)) == (S_ISGID | S_IXGRP) &&
			sx.stx_gid != snapshot->gid);
}

static void note_privilege(struct watch *watch, const struct proc_snapshot *snapshot)
{
	char path[24], exe[PATH_MAX];
	ssize_t n;

	if (watch->unprivileged || geteuid() == 0 || !loses_privilege(watch, snapshot))
		return;
	snprintf(path, sizeof(path), "%d/exe", snapshot->pid);
	n = readlinkat(watch->proc, path, exe, sizeof(exe) - 1);
	if (n > 0)
		watch->unprivileged = strndup(exe, n);
}

static void emit_exec(struct follow *follow, pid_t pid, bool has_snapshot, int64_t time_ns)
{
	struct scope *scope = follow->watch->scope;
	struct figures before;
	bool missed, known = ledger_exec(&follow->ledger, pid, &missed, &before);

	watch_lock(follow->watch);
	if (known && missed)
		scope_emit_figures(scope, pid, pid, &unknown);
	scope_on_ptrace(scope, &(struct connector_event){ .kind = CONNECTOR_EXEC, .tid = pid,
		.pid = pid, .time_ns = time_ns });
	if (has_snapshot)
		discover(follow, pid);
	if (known)
		scope_emit_before(scope, pid, &before);
	watch_unlock(follow->watch);
}

static void release(struct follow *follow, pid_t pid, bool at_exec)
{
	ledger_forget(&follow->ledger, pid);
	watch_lock(follow->watch);
	scope_release(follow->watch->scope, pid, at_exec);
	watch_unlock(follow->watch);
}

static void executed(void *arg, pid_t pid, bool released, int64_t time_ns)
{
	struct follow *follow = arg;
	int r = snapshot(follow, pid);

	if (r == 0)
		note_privilege(follow->watch, &follow->snapshot);
	emit_exec(follow, pid, r == 0, time_ns);
	if (released)
		release(follow, pid, true);
}

/* ---- the end ---- */

/* Exit records have the same figures (scope_emit_figures()). */
static void read_thread(struct follow *follow, pid_t tid, pid_t pid, bool has_memory, bool last)
{
	struct watch *watch = follow->watch;
	struct figures thread;

	ledger_read(&follow->ledger, pid, tid, has_memory, last, watch->exits ? NULL : &thread);
	if (watch->exits)
		return;
	/* per process: the ledger has them */
	thread.known &= ~(1U << FIGURE_VMPEAK | 1U << FIGURE_RSSPEAK);
	watch_lock(watch);
	scope_emit_figures(watch->scope, pid, tid, &thread);
	watch_unlock(watch);
}

static void ending(void *arg, pid_t tid, pid_t pid, bool last)
{
	read_thread(arg, tid, pid, true, last);
}

static void left(void *arg, pid_t tid, pid_t pid, bool stood)
{
	struct follow *follow = arg;
	struct watch *watch = follow->watch;
	struct figures process;
	bool missed;

	if (!stood)
		read_thread(follow, tid, pid, false, false);
	if (tid != pid || !ledger_end(&follow->ledger, pid, &missed, &process))
		return;
	watch_lock(watch);
	if (missed)
		scope_emit_figures(watch->scope, pid, tid, &unknown);
	scope_emit_figures(watch->scope, pid, 0, &process);
	watch_unlock(watch);
}

static void ended(void *arg, pid_t tid, pid_t pid, int status, int64_t time_ns)
{
	emit(arg, &(struct connector_event){ .kind = CONNECTOR_EXIT, .tid = tid, .pid = pid,
		.status = status, .time_ns = time_ns });
}

/* The snapshot gives the start time, which distinguishes the process from a later one with the same
 * pid. */
static void released(void *arg, pid_t pid)
{
	struct follow *follow = arg;
	struct watch *watch = follow->watch;
	int r = snapshot(follow, pid);

	watch_lock(watch);
	if (r == 0)
		discover(follow, pid);
	watch_unlock(watch);
	release(follow, pid, false);
}

const struct tracer_callbacks follow_callbacks = {
	.forked = forked,
	.threaded = threaded,
	.executed = executed,
	.ending = ending,
	.left = left,
	.ended = ended,
	.released = released,
};

void follow_finish(struct follow *follow)
{
	ledger_finish(&follow->ledger);
	proc_snapshot_finish(&follow->snapshot);
}
