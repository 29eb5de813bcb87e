/* SPDX-License-Identifier: MIT */
#include "procmon/proc_snapshot.h"

#include <errno.h>
#include <signal.h>

#include "base/clock.h"

static bool is_dead(char state)
{
	return state == 'Z' || state == 'X';
}

/*
 * The first thread may end before the others, so its state alone does not tell. Nor does the number
 * of threads: a thread that another program traces counts until its tracer has waited for it.
 */
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
	/*
	 * If the process ended meanwhile, the text is that of its last program. The exec events
	 * tell the caller whether there was an exec in between.
	 */
	snapshot->text_known = procfs_read_stat(proc, snapshot->pid, &after) < 0 || ended(proc, &after)
		|| after.image == snapshot->stat.image;
}

void proc_snapshot_finish(struct proc_snapshot *snapshot)
{
	procfs_text_finish(&snapshot->text);
}
