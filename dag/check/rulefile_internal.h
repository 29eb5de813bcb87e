/* SPDX-License-Identifier: MIT */
#ifndef DAG_CHECK_RULEFILE_INTERNAL_H
#define DAG_CHECK_RULEFILE_INTERNAL_H

/* What rulefile.c and rulefile_text.c share. */

#include <stddef.h>

#include "dag/check/rulefile.h"

/* In words: */
#define RULEFILE_STEM '\1'    /* the '%' of a pattern */
#define RULEFILE_UNKNOWN '\2' /* what a function or an unknown variable stands for */

/* The text with its variables in place, for rulefile_words(); to be freed.  NULL: out of memory. */
char *rulefile_expand(const struct rulefile *rulefile, const char *text, size_t len, enum rulefile_kind kind);
/* name = value; add: behind the value that it has.  0 or -ENOMEM. */
int rulefile_set(struct rulefile *rulefile, const char *name, size_t len, const char *value, bool add);
/* Words without their escapes, each ended by 0, and an empty one; to be freed.  NULL: out of memory. */
char *rulefile_words(const char *text);

#endif
