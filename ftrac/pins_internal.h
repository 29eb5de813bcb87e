/* SPDX-License-Identifier: MIT */
#ifndef FTRAC_PINS_INTERNAL_H
#define FTRAC_PINS_INTERNAL_H

/* Internals of pins.h, for pins.c, pins_back.c and sweeper.c only. */

#include "ftrac/inode_table.h"
#include "ftrac/pins.h"

/*
 * Marks the entry as in use: its descriptor does not change. If a thread is closing the descriptor
 * now, waits for some microseconds.
 */
void pin_use(struct pins *pins, struct entry *entry);
void pin_unuse(struct entry *entry);

/* Whether it is of another mount than the root's. */
bool pin_is_away(const struct inode_table *table, const struct entry *entry);

/* Takes a reference, unless there is none left: then the entry is being freed. */
bool pin_try_ref(struct entry *entry);

/*
 * Closing a descriptor: with the lock of the pins, an unused entry is claimed. That removes it from
 * its list and gives the caller a reference. Then, without the lock, the descriptor is closed or
 * the entry is put back.
 */
bool pin_claim(struct inode_table *table, struct entry *entry);
/* False: the file could not be opened again, so the entry was put back. */
bool pin_close(struct inode_table *table, struct entry *entry);
void pin_put_back(struct inode_table *table, struct entry *entry);
void pin_unclaim(struct entry *entry);

bool pin_has_name_or_file(struct inode_table *table, struct entry *entry, bool *ret_open);

/* Opens the descriptor of an entry in use again. 0 or -errno. */
int pin_reopen(struct inode_table *table, struct entry *entry);

/*
 * A name that leads to an entry. pin_step_up() returns the name and the parent, with a reference;
 * -ESTALE: there is none. The caller frees the name.
 */
struct pin_step {
	struct entry *entry; /* with a reference */
	char *name;
};
int pin_step_up(struct inode_table *table, struct pin_step *step, struct entry **ret_parent);

#endif
