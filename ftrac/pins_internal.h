/* SPDX-License-Identifier: MIT */
#ifndef FTRAC_PINS_INTERNAL_H
#define FTRAC_PINS_INTERNAL_H

/* The inside of pins.h, for pins.c, pins_back.c, sweeper.c and nobody else. */

#include "ftrac/inode_table.h"
#include "ftrac/pins.h"

/* In use: its descriptor stays as it is.  Waits for who lets it go right now: some microseconds. */
void pin_use(struct pins *pins, struct entry *entry);
void pin_unuse(struct entry *entry);

/* Of another mount than the root's. */
bool pin_is_away(const struct inode_table *table, const struct entry *entry);

/* One more reference, unless there is none left: it is being freed. */
bool pin_try_ref(struct entry *entry);

/*
 * To let go: with the pins' lock an entry that nobody uses is claimed, which takes it out of its list
 * and gives a reference; then, without the lock, let go or put back.
 */
bool pin_claim(struct inode_table *table, struct entry *entry);
/* False: it could not come back, and was put back. */
bool pin_let_go(struct inode_table *table, struct entry *entry);
void pin_put_back(struct inode_table *table, struct entry *entry);
void pin_unclaim(struct entry *entry);

bool pin_has_name_or_file(struct inode_table *table, struct entry *entry, bool *ret_open);

/* Gives an entry that is in use its descriptor again.  0 or -errno. */
int pin_come_back(struct inode_table *table, struct entry *entry);

/* A name that leads to an entry, and the parent, with a reference; -ESTALE: there is none.  The name is to
 * be freed. */
struct pin_step {
	struct entry *entry; /* with a reference */
	char *name;
};
int pin_step_up(struct inode_table *table, struct pin_step *step, struct entry **ret_parent);

#endif
