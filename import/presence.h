/* SPDX-License-Identifier: MIT */
#ifndef IMPORT_PRESENCE_H
#define IMPORT_PRESENCE_H

/*
 * What is at a path, as far as calls have shown: something of some type, or nothing.  Paths are absolute, and compared without "."
 * and doubled slashes; ".." removes the name before it.
 *
 * One thread.
 */

#include <stdbool.h>
#include <stdint.h>

struct presence;

/* 0 or -ENOMEM. */
int presence_create(struct presence **ret_presence);
void presence_destroy(struct presence *presence); /* NULL is fine */

enum presence_state {
	PRESENCE_UNKNOWN,
	PRESENCE_MISSING, /* also of a name that was not seen in a directory made in the run */
	PRESENCE_THERE
};

/* *ret_type: S_IFREG ...; 0: not known. */
enum presence_state presence_look(const struct presence *presence, const char *path, uint32_t *ret_type);

/* type 0: not known, then a type that is known stays.  0 or -ENOMEM. */
int presence_there(struct presence *presence, const char *path, uint32_t type);
/* A directory that is new, so that nothing is in it.  0 or -ENOMEM. */
int presence_fresh(struct presence *presence, const char *path);
/* Removed, or looked for and missing.  0 or -ENOMEM. */
int presence_missing(struct presence *presence, const char *path);
/* What is at 'from' is at 'to' now, with all below it.  0 or -ENOMEM. */
int presence_moved(struct presence *presence, const char *from, const char *to);

#endif
