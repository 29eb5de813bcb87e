/* SPDX-License-Identifier: MIT */
#include "procmon/proc_snapshot.h"

#include <errno.h>
#include <signal.h>

#include "base/clock.h"

static bool is_dead(char state)
{
	return state == 'Z' || state == 'X';
}

/* The first thread of a process may end before the others, so its state alone says nothing.  Nor does their
 * number: who is traced by others is counted until the tracer has waited for each. */
static bool ended(int proc, const struct procfs_stat *stat)
{
	return is_dead(stat->state) && (stat->threads <= 1 || procfs_all_ended(proc, stat->pid));
}

int proc_snapshot_take(struct proc_snapshot *snapshot, int proc, pid_t pid)
{
	int r;

	snapshot->pid = pid;
	snapshot->time_ns = clock_now_ns();
	snapshot->owner_known = false;
	snapshot->text_known = false;
	r = procfs_read_stat(proc, pid, &snapshot->stat);
	if (r == 0 && ended(proc, &snapshot->stat))
		r = -ESRCH;
	else if (r == -ESRCH && (kill(pid, 0) == 0 || errno == EPERM))
		r = -EACCES; /* /proc is mounted with hidepid */
	return r;
}

void proc_snapshot_read_text(struct proc_snapshot *snapshot, int proc, const char *const *env)
{
	struct procfs_stat after;

	if (!snapshot->stat.image && !snapshot->stat.hidden)
		return;
	if (procfs_read_text(proc, &snapshot->stat, env, &snapshot->text) < 0)
		return;
	snapshot->owner_known = procfs_read_owner(proc, snapshot->pid, &snapshot->uid, &snapshot->gid) == 0;
	/* If it ended meanwhile, what was read is still that of its last program: whoever hears
	 * of execs knows whether there was one. */
	snapshot->text_known = procfs_read_stat(proc, snapshot->pid, &after) < 0 || ended(proc, &after)
		|| after.image == snapshot->stat.image;
}

void proc_snapshot_finish(struct proc_snapshot *snapshot)
{
	procfs_text_finish(&snapshot->text);
}
