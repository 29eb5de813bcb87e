/* SPDX-License-Identifier: MIT */
#ifndef DB_FACTS_H
#define DB_FACTS_H

#include <stdbool.h>
#include <stdint.h>

struct origin;
struct store;

/* Facts that are known when a run begins: rows of the view trace.  NULL: unknown, without a row. */
struct facts {
	const char *source, *mountpoint, *fidelity, *transport; /* of the mount */
	const char *files; /* where operations come from: "kernel", "mount" or "both"; NULL: files are not traced */
	const char *layers; /* of which calls are recorded: "lib"; NULL: of none */
	const char *command, *cwd, *options, *job, *xform, *process_tier;
	const struct origin *origin; /* of the run of a command (origin.h); NULL: it is none */
	uint64_t mount_namespace, mount_connection; /* of a mount that all see; namespace 0: there is none */
	int64_t start_ns; /* since the epoch */
	bool is_past; /* others have seen the run: nothing is known of the machine */
	const char *imported; /* what they have written: "strace"; NULL: it is our record */
};

/* Stores them.  0 or -errno. */
int facts_store(struct store *store, const struct facts *facts);

/* Prints why store_create() failed for the file db, which the option names; returns the exit status. */
int facts_complain(const char *db, const char *option, int error);

#endif
