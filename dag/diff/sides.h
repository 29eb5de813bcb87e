/* SPDX-License-Identifier: MIT */
#ifndef DAG_DIFF_SIDES_H
#define DAG_DIFF_SIDES_H

/* Two sides of one or several runs each: loads all runs, compares those of each side among each other for the noise, then the sides. */

#include <stdbool.h>

#include "dag/diff/pair.h"

struct diff_options;
struct failure;

/* show() gets the comparison and its two runs, returns 0 or -errno and sets the failure itself.  *ret_whole: no trace lacks a part of its
 * run; it is set if the result is 0.  0 or -errno, with the failure set. */
int sides_compare(const struct diff_options *options, int (*show)(void *arg, const struct comparison *comparison, const struct run *const both[2]),
	void *arg, bool *ret_whole, struct failure *failure);

#endif
