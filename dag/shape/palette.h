/* SPDX-License-Identifier: MIT */
#ifndef DAG_SHAPE_PALETTE_H
#define DAG_SHAPE_PALETTE_H

/*
 * The colours of steps: all that is drawn of a run has the same, in whatever language it is drawn.  No two steps have the same
 * colour: those that used most time of processors have one, all others are grey.
 *
 * One thread.
 */

#include <stddef.h>

struct palette;
struct workflow;

#define PALETTE_COLOURS 11

/* -ENOMEM.  *ret_palette is to be destroyed in any case.  The workflow must live as long. */
int palette_create(const struct workflow *workflow, struct palette **ret_palette);
void palette_destroy(struct palette *palette);

/* Of steps that have a colour, in the order in which they begin. */
size_t palette_count(const struct palette *palette);
const char *palette_step(const struct palette *palette, size_t index);
/* The count: it is none of them; so is NULL. */
size_t palette_index(const struct palette *palette, const char *step);
/* "#rrggbb"; a palette, and a step or NULL. */
const char *palette_colour(const void *palette, const char *step);

#endif
