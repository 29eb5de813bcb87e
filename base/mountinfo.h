/* SPDX-License-Identifier: MIT */
#ifndef BASE_MOUNTINFO_H
#define BASE_MOUNTINFO_H

/* Lines of /proc/PID/mountinfo, see proc_pid_mountinfo(5).  Any thread. */

#include <stdbool.h>
#include <stdint.h>

struct mountinfo {
	uint64_t id;                               /* the kernel may reuse it for a later mount */
	unsigned major, minor;                     /* of its device; for FUSE minor is the number of the connection */
	char path[4096], options[256], fstype[64], super[256]; /* truncated if longer; super: options of the file system */
};

/* False: the line has another format. Pure. */
bool mountinfo_parse(const char *line, struct mountinfo *ret_mount);

/* Whether the option is among the comma-separated options of the mount. Pure. */
bool mountinfo_has(const struct mountinfo *mount, const char *option);

/* The id N of the user "user_id=N" or group "group_id=N" of a FUSE mount; fallback if there is none. Pure. */
int64_t mountinfo_id(const struct mountinfo *mount, const char *key, int64_t fallback);

/* The number of the namespace that this process sees; 0: not known. */
uint64_t mountinfo_namespace(void);

/* Calls take() for each mount that this process sees, until it returns false. */
void mountinfo_each(bool (*take)(void *arg, const struct mountinfo *mount), void *arg);

#endif
