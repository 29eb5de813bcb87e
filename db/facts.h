/* SPDX-License-Identifier: MIT */
#ifndef DB_FACTS_H
#define DB_FACTS_H

#include <stdint.h>

struct store;

/* What is known of a run when it begins: the rows of the view trace.  NULL: there is none. */
struct facts {
	const char *source, *mountpoint, *fidelity, *transport; /* of the mount */
	const char *command, *cwd, *options, *job, *xform, *process_tier;
	int64_t start_ns; /* since the epoch */
};

/* 0 or -errno. */
int facts_store(struct store *store, const struct facts *facts);

/* Prints why store_create() failed for that file; the exit status. */
int facts_complain(const char *db, int error);

#endif
