/* SPDX-License-Identifier: MIT */
#ifndef FTRAC_MOUNTINFO_H
#define FTRAC_MOUNTINFO_H

/*
 * Lines of /proc/PID/mountinfo, see proc_pid_mountinfo(5).  Any thread.
 */

#include <stdbool.h>
#include <stdint.h>

struct mountinfo {
	uint64_t id;                               /* one that a later mount may have again */
	unsigned minor;                            /* of its device: for FUSE the number of the connection */
	char path[4096], options[256], fstype[64]; /* cut if they are longer */
};

/* False: it is no such line.  Pure. */
bool mountinfo_parse(const char *line, struct mountinfo *ret_mount);

/* Is it among the options of the mount, which are joined by commas?  Pure. */
bool mountinfo_has(const struct mountinfo *mount, const char *option);

/* Calls for each mount that this process sees, until the answer is false. */
void mountinfo_each(bool (*take)(void *arg, const struct mountinfo *mount), void *arg);

#endif
