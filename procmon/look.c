/* SPDX-License-Identifier: MIT */
#include "procmon/look.h"

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

int look_who(struct look *look, int proc, pid_t pid)
{
	int r;

	look->pid = pid;
	look->time_ns = clock_now_ns();
	look->owner_known = false;
	look->text_known = false;
	r = procfs_read_stat(proc, pid, &look->stat);
	if (r == 0 && ended(proc, &look->stat))
		r = -ESRCH;
	else if (r == -ESRCH && (kill(pid, 0) == 0 || errno == EPERM))
		r = -EACCES; /* /proc is mounted with hidepid */
	return r;
}

void look_text(struct look *look, int proc, const char *const *env)
{
	struct procfs_stat after;

	if (!look->stat.image && !look->stat.hidden)
		return;
	if (procfs_read_text(proc, &look->stat, env, &look->text) < 0)
		return;
	look->owner_known = procfs_read_owner(proc, look->pid, &look->uid, &look->gid) == 0;
	/* If it ended meanwhile, what was read is still that of its last program: whoever hears
	 * of execs knows whether there was one. */
	look->text_known = procfs_read_stat(proc, look->pid, &after) < 0 || ended(proc, &after)
		|| after.image == look->stat.image;
}

void look_finish(struct look *look)
{
	procfs_text_finish(&look->text);
}
