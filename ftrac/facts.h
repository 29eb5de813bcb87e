/* SPDX-License-Identifier: MIT */
#ifndef FTRAC_FACTS_H
#define FTRAC_FACTS_H

#include <stdint.h>

struct options;
struct store;

/* What is known of a run when it begins: the rows of the view trace. */
struct facts {
	const struct options *options;
	const char *cwd;
	const char *fidelity, *process_tier;
	int64_t start_ns; /* since the epoch */
};

/* 0 or -errno. */
int facts_store(struct store *store, const struct facts *facts);

#endif
