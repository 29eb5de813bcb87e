/* SPDX-License-Identifier: MIT */
#ifndef FTRAC_PINS_H
#define FTRAC_PINS_H

/*
 * The O_PATH descriptors of inodes: which are open, which one is closed, and how it is opened
 * again.
 *
 * At most half of this process's descriptors are for inodes. If there are more inodes, the
 * descriptor that was unused for longest is closed (clock algorithm, which spares those held
 * since). Descriptors on other mounts than the root's are also closed after a quarter of a second
 * without use, because they keep the host from unmounting.
 *
 * A closed descriptor is opened again, in this order,
 *
 * - through a file that is open on the inode;
 * - by its handle (name_to_handle_at(2)), where the file system and our rights allow it; this also
 *   finds a renamed file;
 * - by the names that led to it, from the nearest directory with an open descriptor.
 *
 * It must be the same file: same device, inode number and time of birth. On file systems whose
 * inode numbers do not last (mount->named), name, type, owner, size and time of change must match
 * instead.
 *
 * A descriptor stays open if it could not be opened again: of a file without links that is not
 * open, or of a file without a known name where handles do not work. A file without links whose
 * name is still known was removed by another program, which the kernel did not notice. The sweeper
 * finds such files and closes their descriptors, so that their space becomes free. A process that
 * has such a file as an O_PATH descriptor or as its directory then gets ESTALE.
 *
 * On network and FUSE file systems a descriptor may stand for a name instead of the file, and it may not keep
 * the inode number from being reused. There the descriptor is closed when a name is removed through the
 * mount, since another name may be left; but it stays open on FUSE if the name was the last one: what can
 * still be done with the file is for the source to say. Then no lookup finds the inode any more.
 *
 * Threads: any.
 */

#include <stdbool.h>

struct entry;
struct inode_table;

#define PINS_CLAIMED (-1000000)

/* How many of limit descriptors are reserved for short use by requests. */
static inline unsigned pins_reserve(unsigned limit)
{
	return limit < 128 ? 16 : limit < 512 ? limit / 8 : 64;
}

int pins_init(struct inode_table *table);
int pins_start_sweeper(struct inode_table *table);
void pins_stop_sweeper(struct inode_table *table);
/* The descriptors are closed with their entries. */
void pins_finish(struct inode_table *table);

/* See inode_hold(). */
int pins_hold(struct inode_table *table, struct entry *entry);
void pins_release(struct inode_table *table, struct entry *entry);

/*
 * Like pins_release(); if no other thread uses the entry, closes its descriptor, whether it can be
 * opened again or not.
 */
void pins_release_closed(struct inode_table *table, struct entry *entry, bool goes);

/* Gives a held or new entry its descriptor, and takes over fd. */
void pins_install(struct inode_table *table, struct entry *entry, int fd);

/* Called before the entry is freed. */
void pins_drop(struct inode_table *table, struct entry *entry);

/* See inode_keep(). */
int pins_keep(struct inode_table *table, int fd);

/* Closes the descriptor of an unused inode; false if there is none. */
bool pins_make_room(struct inode_table *table);

/* Whether the descriptor of a file of that mount may be, or was, closed, so that its name
 * matters. */
bool pins_need_names(struct inode_table *table, const struct entry *entry);

#endif
