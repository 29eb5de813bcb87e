/* SPDX-License-Identifier: MIT */
#ifndef BASE_MOUNTINFO_H
#define BASE_MOUNTINFO_H

/* Lines of /proc/PID/mountinfo, see proc_pid_mountinfo(5).  Any thread. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct mountinfo {
	uint64_t id;                               /* the kernel may reuse it for a later mount */
	unsigned major, minor;                     /* of its device; for FUSE minor is the number of the connection */
	/* truncated if longer; root: the directory of the file system that is mounted; source: a device, server:/directory or another name;
	 * super: options of the file system */
	char root[4096], path[4096], options[256], fstype[64], source[1024], super[256];
};

/* False: the line has another format. Pure. */
bool mountinfo_parse(const char *line, struct mountinfo *ret_mount);

/* Whether the option is among the comma-separated options of the mount. Pure. */
bool mountinfo_has(const struct mountinfo *mount, const char *option);

/* The id N of the user "user_id=N" or group "group_id=N" of a FUSE mount; fallback if there is none. Pure. */
int64_t mountinfo_id(const struct mountinfo *mount, const char *key, int64_t fallback);

/* The number of the namespace that this process sees; 0: not known. */
uint64_t mountinfo_namespace(void);

/*
 * What identifies the file system of the mount on all machines: of NFS the server's address and its number of the file system, as
 * /proc/fs/nfsfs/volumes has it; of cluster file systems the number that statfs(2) tells, which may ask the servers.  fd: a file on the
 * mount; -1: its path is asked.  False: of a file system of one machine, or not known.
 */
#define MOUNTINFO_FSID 160
bool mountinfo_fsid(const struct mountinfo *mount, int fd, char ret_fsid[MOUNTINFO_FSID]);
/* The same from a line of /proc/fs/nfsfs/volumes, if it has the device of the mount. Pure. */
bool mountinfo_nfs_fsid(const struct mountinfo *mount, const char *line, char ret_fsid[MOUNTINFO_FSID]);

/* Type, path, root, source and fsid (NULL: not known), each with a NUL behind it: the text of EVENT_MOUNT.  Returns its length. */
#define MOUNTINFO_TEXT (sizeof(struct mountinfo) + MOUNTINFO_FSID)
size_t mountinfo_text(const struct mountinfo *mount, const char *fsid, char ret_text[MOUNTINFO_TEXT]);

/* Calls take() for each mount that this process sees, until it returns false. */
void mountinfo_each(bool (*take)(void *arg, const struct mountinfo *mount), void *arg);

#endif
