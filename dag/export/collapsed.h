/* SPDX-License-Identifier: MIT */
#ifndef DAG_EXPORT_COLLAPSED_H
#define DAG_EXPORT_COLLAPSED_H

/*
 * Stacks as lines for flamegraph.pl, inferno and speedscope: "make;sh;cc1 1234", nanoseconds or bytes.  A ';' in a name is \x3b.
 * Stacks without a value of their own have no line.
 */

#include <stdio.h>

struct shape;
struct stacks_kind;

/* 0, -ENOMEM or -EIO. */
int collapsed_write(const struct shape *shape, const struct stacks_kind *kind, FILE *out);

#endif
