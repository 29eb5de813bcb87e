/* SPDX-License-Identifier: MIT */
#ifndef DAG_SHAPE_PALETTE_H
#define DAG_SHAPE_PALETTE_H

/*
 * The colours of phases on a page: all that is drawn of a run has the same, in whatever language it is drawn.
 * Phases get theirs in the order in which they begin; after PALETTE_COLOURS they begin anew.
 *
 * One thread.
 */

#include <stddef.h>

struct palette;
struct workflow;

#define PALETTE_COLOURS 14
#define PALETTE_PHASES 600 /* that have one; others have that of what has no phase */

/* -ENOMEM.  *ret_palette is to be destroyed in any case.  The workflow must live as long. */
int palette_create(const struct workflow *workflow, struct palette **ret_palette);
void palette_destroy(struct palette *palette);

size_t palette_count(const struct palette *palette);
const char *palette_phase(const struct palette *palette, size_t index);
/* The count: it is none of them; so is NULL. */
size_t palette_index(const struct palette *palette, const char *phase);
/* "#rrggbb"; a palette, and a phase or NULL. */
const char *palette_colour(const void *palette, const char *phase);

#endif
