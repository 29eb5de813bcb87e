/* SPDX-License-Identifier: MIT */
#ifndef DAG_CHECK_PRECEDE_H
#define DAG_CHECK_PRECEDE_H

/*
 * What must be there before a recipe may run, as far as that is declared: directly, or by way of other
 * targets.  A file that is no target of its own counts as its maker, if that had ended by then: targets
 * that one recipe makes together go by the name of one of them.
 *
 * Of a target without a recipe make tells nothing ('all: a b'): what lies behind such an alias is not
 * known.  FORCE and its like have nothing behind them.
 */

#include <stdbool.h>
#include <stdint.h>

#include "dag/check/build.h"

enum precede_how {
	PRECEDE_NOT,
	PRECEDE_REMAKES, /* and if it changes, the target is made again */
	PRECEDE_ORDER,
	PRECEDE_DEPFILE /* from the next time on */
};

struct precede;

struct precede *precede_create(const struct build *build); /* NULL: out of memory */
void precede_destroy(struct precede *precede);

/* All that follows is about this recipe. */
void precede_of(struct precede *precede, int32_t recipe);

enum precede_how precede_how(const struct precede *precede, int32_t node);
/* Is there an alias, and one for which the target is made again each time? */
bool precede_has_alias(const struct precede *precede);
bool precede_is_always_made(const struct precede *precede);

/* Replaces two recipes by those that one driver schedules: the recipes themselves, or the recipes that
 * contain them.  false: no driver schedules both; one recipe or command runs them in turn. */
bool precede_lift(const struct build *build, int32_t *a, int32_t *b);

#endif
