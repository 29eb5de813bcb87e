/* SPDX-License-Identifier: MIT */
#ifndef KERNEL_NAMES_H
#define KERNEL_NAMES_H

/*
 * The names that the kernel has sent, the nodes that they lead to, and the events that tell the writer about both.
 *
 * A node is one file: device, inode number and generation.  The first root directory that is met becomes NODE_ROOT, which
 * is the "/" of the first process; that of another mount namespace is a node of its own, with the name "/" in node 0.
 *
 * One thread.
 */

#include <stddef.h>
#include <stdint.h>

#include "kernel/mounts.h"

struct names;
struct ring;
struct wire_name;

/* each_mount: as in mounts.h.  0 or -ENOMEM. */
int names_create(struct ring *ring, mounts_each *each_mount, struct names **ret_names);
void names_destroy(struct names *names);

/* Pushes NODE, if the node is new, and LOOKUP, unless the name is no more.  0; -EBADMSG or -ENOMEM: the
 * name stays unknown. */
int names_add(struct names *names, const struct wire_name *record, size_t text_len);

/* What stat(2) says of a file. */
struct names_seen {
	uint64_t dev, ino;
	int64_t size;
	uint32_t mode, nlink;
};

/* The node of a file of which the generation is not known; pushes NODE if it is new.  0: out of memory. */
uint64_t names_identify(struct names *names, const struct names_seen *seen);

/* The newest node with that device and inode number; 0: there is none. */
uint64_t names_find_node(const struct names *names, uint64_t dev, uint64_t ino);

/* The node of a regular file, also if another one has its inode number now; dev as in the records.  0: it is not known. */
uint64_t names_find_file(const struct names *names, uint64_t dev, uint64_t ino, uint32_t generation);

/* The node that a name leads to, and its st_mode; 0 if the name is unknown. */
uint64_t names_node(const struct names *names, uint64_t name);
uint32_t names_mode(const struct names *names, uint64_t name);

/* Of a file that was open before tracing began: tells its last name, if that was removed. */
void names_push_removed(struct names *names, uint64_t name, int64_t time_ns);

/* The path of a name as /proc/PID/fd shows it, without NUL.  Its length; -ENOENT: unknown; -ENAMETOOLONG. */
int names_path(const struct names *names, uint64_t name, char *ret_path, size_t size);

#endif
