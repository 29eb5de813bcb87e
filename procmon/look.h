/* SPDX-License-Identifier: MIT */
#ifndef PROCMON_LOOK_H
#define PROCMON_LOOK_H

/*
 * One look at a living process: who it is and, if wanted, its text - together with the answer to
 * whether it was one and the same program all the time, for an exec may come in between.
 * Can block (procfs.h); used by one thread at a time.
 */

#include <stdbool.h>
#include <stdint.h>

#include "procmon/procfs.h"

struct look {
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
int look_who(struct look *look, int proc, pid_t pid);

/* Adds the text of the process that look_who() found. */
void look_text(struct look *look, int proc, const char *const *env);

void look_finish(struct look *look);

#endif
