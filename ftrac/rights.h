/* SPDX-License-Identifier: MIT */
#ifndef FTRAC_RIGHTS_H
#define FTRAC_RIGHTS_H

#include <stdint.h>

struct options;

/* The capabilities that a mount with these options uses, for base/rights.h; the reasons stand in rights.c, and in
 * the manual. */
uint64_t rights_needed(const struct options *options);

#endif
