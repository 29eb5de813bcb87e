/* SPDX-License-Identifier: MIT */
#ifndef TESTS_CONFORM_BOX_H
#define TESTS_CONFORM_BOX_H

/* Boxes: the directories in which combinations take place, and what is seen in them. */

#include "conform.h"

enum view {
	VIEW_SOURCE, /* by the file system below */
	VIEW_MOUNT,  /* where operations are done */
};

struct picture;

struct box {
	unsigned number;
	char name[16];
	struct picture *before;
	struct picture *after; /* as it was seen in the mount; the process that looks leaves it here */
};

/* Two paths of one directory. */
void box_init(const char *dir, const char *source);

/* Whether they differ in more than the name. */
bool box_is_mirrored(void);

/* A new directory, and in it what make() makes, natively; false: it cannot.  In any case until
 * box_remove(). */
bool box_make(bool (*make)(const void *arg), const void *arg, struct box *ret_box);

/* Gives all that is in it times of long ago, and remembers what there is. */
void box_remember(struct box *box);

/* Waits until a change will be seen by its time. */
void box_tick(void);

/* Makes it the current directory. */
void box_enter(const struct box *box, enum view view);

void box_remove(struct box *box);

/* After all. */
void box_end(void);

/* Makes what is at this name old, for states that cannot be changed any more. */
void put_age(const char *at);

/* What is in a box now, by the file system below: names and attributes.  To be freed by free(). */
struct picture *picture_take(const struct box *box);

/* What the mount shows of the same. */
struct picture *picture_take_mount(const struct box *box, const struct picture *source);

/* Adds contents, targets and extended attributes, which reading leaves traces of; in the mount only
 * of what has changed. */
void picture_add_content(struct picture *picture, const struct box *box, enum view view);

/* As text; times are compared with those remembered. */
void picture_text(const struct picture *picture, const struct box *box, char *text, size_t size);

/* The same, or nothing if it is the same as that of the other. */
void picture_text_if_other(const struct picture *picture, const struct picture *other,
	const struct box *box, char *text, size_t size);

/* Printable, and in short. */
const char *data_text(const void *data, size_t n, char *text, size_t size);

#endif
