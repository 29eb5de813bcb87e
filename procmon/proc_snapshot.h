/* SPDX-License-Identifier: MIT */
#ifndef PROCMON_PROC_SNAPSHOT_H
#define PROCMON_PROC_SNAPSHOT_H

/*
 * One look at a living process: who it is and, if wanted, its text - together with the answer to
 * whether it was one and the same program all the time, for an exec may come in between.
 * Can block (procfs.h); used by one thread at a time.
 */

#include <stdbool.h>
#include <stdint.h>

#include "procmon/procfs.h"

struct proc_snapshot {
	pid_t pid;
	int64_t time_ns; /* when it began */
	struct procfs_stat stat;
	uid_t uid; /* effective */
	gid_t gid;
	bool owner_known;
	bool text_known; /* and it is that of stat.image */
	struct procfs_text text;
};

/* Looks at pid's stat only; what was read before is void.  0, -ESRCH if it is gone or has ended
 * (with all of its threads), -EACCES if it is there but not to be seen, else -errno. */
int proc_snapshot_take(struct proc_snapshot *snapshot, int proc, pid_t pid);

/* Adds the text of the process that proc_snapshot_take() found. */
void proc_snapshot_read_text(struct proc_snapshot *snapshot, int proc, const char *const *env);

void proc_snapshot_finish(struct proc_snapshot *snapshot);

#endif
