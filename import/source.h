/* SPDX-License-Identifier: MIT */
#ifndef IMPORT_SOURCE_H
#define IMPORT_SOURCE_H

/*
 * A format that ftrac import reads, in two steps: prepare() finds out what a trace has to know when it begins, feed() tells the world what
 * happened.
 */

#include <stdbool.h>
#include <stdint.h>

#include "import/complaints.h"
#include "import/world.h"

struct failure;
struct source;

/* What is known of the run as a whole. */
struct source_facts {
	int64_t start_ns; /* since the epoch */
	char *cwd, *command; /* NULL: not known; the caller frees them */
	int exit_status; /* after feed(): of the first process, as from wait(2); -1: not known */
	uint64_t calls; /* after feed() */
	bool has_latencies; /* after feed(): how long calls took is known */
	char lacks[256]; /* after feed(): what the source does not say beside that which none says, and what would; empty: nothing */
};

struct source_format {
	const char *name; /* of the fact "imported" */
	uint8_t tier;	  /* of process events */
	/* 0, or -errno with the reason. */
	int (*prepare)(const char *const *files, int n_files, struct source_facts *ret_facts, struct source **ret_source, struct failure *failure);
	int (*feed)(struct source *source, struct world *world, struct source_facts *facts, struct complaints *complaints, struct failure *failure);
	void (*destroy)(struct source *source); /* NULL is fine */
};

extern const struct source_format source_strace;

#endif
