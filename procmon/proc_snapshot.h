/* SPDX-License-Identifier: MIT */
#ifndef PROCMON_PROC_SNAPSHOT_H
#define PROCMON_PROC_SNAPSHOT_H

/*
 * A snapshot of a living process from /proc: ids, state and, on request, its text (arguments,
 * executable, directory, environment, ...). An exec may happen while the files are read; text_known
 * tells whether all parts belong to one program.
 *
 * Reading may block (procfs.h). One thread at a time may use a snapshot.
 */

#include <stdbool.h>
#include <stdint.h>

#include "procmon/procfs.h"

struct proc_snapshot {
	pid_t pid;
	int64_t time_ns; /* when reading began */
	struct procfs_stat stat;
	uid_t uid; /* effective */
	gid_t gid;
	bool owner_known;
	bool text_known; /* and it belongs to stat.image */
	struct procfs_text text;
};

/*
 * Reads /proc/PID/stat; earlier content of the snapshot becomes invalid. 0; -ESRCH if the process
 * is gone or has ended with all of its threads; -EACCES if it exists but /proc hides it; or another
 * -errno.
 */
int proc_snapshot_take(struct proc_snapshot *snapshot, int proc, pid_t pid);

/* Reads the text of the process that proc_snapshot_take() found. */
void proc_snapshot_read_text(struct proc_snapshot *snapshot, int proc, const char *const *env);

void proc_snapshot_finish(struct proc_snapshot *snapshot);

#endif
