/* SPDX-License-Identifier: MIT */
#ifndef DAG_LOAD_PREPARE_H
#define DAG_LOAD_PREPARE_H

/*
 * The files that the operations of a plan find at the begin, with their sizes.  A file has no data (it is sparse), or data that cannot be
 * compressed.  Links lead nowhere; an empty file stands for a device, a socket and a named pipe.
 */

#include <stdbool.h>
#include <stdint.h>

#include "dag/load/plan.h"

struct failure;

struct prepare_counts {
	uint64_t files, directories, links;
	uint64_t bytes;	 /* sizes of files */
	uint64_t failed; /* names that cannot be there together with others */
};

/* In the working directory.  0 or -errno: no space, or the like. */
int load_prepare(const struct plan *plan, bool fill, struct prepare_counts *counts, struct failure *failure);

#endif
