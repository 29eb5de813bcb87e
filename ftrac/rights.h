/* SPDX-License-Identifier: MIT */
#ifndef FTRAC_RIGHTS_H
#define FTRAC_RIGHTS_H

#include <stdint.h>

struct options;

/*
 * The capabilities that a mount with these options needs, for base/rights.h; rights.c and ftrac(1)
 * have the reasons.
 */
uint64_t rights_needed(const struct options *options);

#endif
