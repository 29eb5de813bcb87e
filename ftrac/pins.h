/* SPDX-License-Identifier: MIT */
#ifndef FTRAC_PINS_H
#define FTRAC_PINS_H

/*
 * The descriptors of inodes: which are open, which is let go, how one comes back.
 *
 * At most half of the descriptors that this process may have are kept for inodes; of more, the one
 * that was not used for longest is closed (a clock: second chance for what was held since).  Those
 * of other mounts than the root's are closed also when nobody has held them for a quarter of a
 * second, because they keep the host from unmounting.
 *
 * One comes back, in this order,
 *   - through a file that is open on it;
 *   - by its handle (name_to_handle_at(2)), where the file system and our rights allow: finds it
 *     also after others have renamed it;
 *   - by the names that led to it, from the nearest directory that is open.
 * It must be the same file then: device, number and time of birth.  On file systems whose numbers
 * do not last (mount->named) the name, type, owner, size and time of change have to do.
 *
 * Not let go is what could not come back: a file without a link that nobody has open, one
 * without a known name where there are no handles.  A file without a link whose name is still known was
 * removed by others, of which the kernel does not know: the sweeper looks for them and lets them go, so that
 * their space is not held for ever.  Who has one then, by an O_PATH descriptor or as directory, gets ESTALE.
 *
 * Threads: any.
 */

#include <stdbool.h>

struct entry;
struct inode_table;

#define PINS_CLAIMED (-1000000)

/* Of so many descriptors: how many are kept for what requests take for a moment. */
static inline unsigned pins_reserve(unsigned limit)
{
	return limit < 128 ? 16 : limit < 512 ? limit / 8 : 64;
}

int pins_init(struct inode_table *table);
int pins_start_sweeper(struct inode_table *table);
void pins_stop_sweeper(struct inode_table *table);
/* The descriptors go with their entries. */
void pins_finish(struct inode_table *table);

/* See inode_hold(). */
int pins_hold(struct inode_table *table, struct entry *entry);
void pins_release(struct inode_table *table, struct entry *entry);

/* As release; if it is not used otherwise, its descriptor goes, whether it can come back or not. */
void pins_release_for_good(struct inode_table *table, struct entry *entry, bool goes);

/* Gives the entry, which is held or new, a descriptor for it, which is taken over. */
void pins_install(struct inode_table *table, struct entry *entry, int fd);

/* Before the entry is freed. */
void pins_drop(struct inode_table *table, struct entry *entry);

/* See inode_keep(). */
int pins_keep(struct inode_table *table, int fd);

/* Lets one go; false if none can. */
bool pins_make_room(struct inode_table *table);

/* Whether a file of that mount might be let go, or has been, and so its name matters. */
bool pins_need_names(struct inode_table *table, const struct entry *entry);

#endif
