/* SPDX-License-Identifier: MIT */
#ifndef DAG_DARSHAN_LOG_H
#define DAG_DARSHAN_LOG_H

/*
 * The file: regions that are compressed while they are made, and the names of records.  Compressed regions are kept in memory until
 * log_write().  Functions return 0, -ENOMEM or -EIO.
 */

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "dag/darshan/format.h"
#include "dag/darshan/tally.h"

struct path_names;
struct region;

struct log {
	struct region *modules[DARSHAN_MODULES]; /* NULL: nothing was put there */
	uint32_t versions[DARSHAN_MODULES];
	struct region *job, *names;
	struct path_names *known; /* names that records have */
	uint64_t partial;
};

int log_begin(struct log *log);
void log_end(struct log *log);

/* The label of a name.  Not that which Darshan computes (Jenkins' hash), so logs of both cannot be joined by it. */
uint64_t log_id(const char *name, size_t len);
/* *ret_id: the same, of a name that is in the log from now on. */
int log_name(struct log *log, const char *name, size_t len, uint64_t *ret_id);

int log_put(struct log *log, enum darshan_module module, uint32_t version, const void *bytes, size_t len);
/* A record of the tracing modules.  Nothing if there are no segments. */
int log_put_dxt(struct log *log, enum darshan_module module, uint32_t version, struct darshan_base base, const char *host,
	const struct transfers *writes, const struct transfers *reads);
int log_put_job(struct log *log, const void *bytes, size_t len);
int log_write(struct log *log, FILE *out);

#endif
