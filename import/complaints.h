/* SPDX-License-Identifier: MIT */
#ifndef IMPORT_COMPLAINTS_H
#define IMPORT_COMPLAINTS_H

/* What was not understood: counted, and the first ones said, each with its place.  One thread. */

#include <stdint.h>

struct complaints {
	uint64_t n;
};

#define COMPLAINTS_SAID 20

void complain(struct complaints *complaints, const char *file, uint64_t line, const char *reason);
/* How many were not said. */
void complaints_end(const struct complaints *complaints);

#endif
