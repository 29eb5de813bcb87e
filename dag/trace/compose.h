/* SPDX-License-Identifier: MIT */
#ifndef DB_COMPOSE_H
#define DB_COMPOSE_H

/*
 * The queries of the .sql files of dag/, made fit for what was asked: how rows are grouped, and which processes,
 * files and times count.  What comes out is plain SQL over the views of a trace, with all values in
 * it, so that it can be shown, and run by any SQLite.
 *
 * A glob matches as SQLite's GLOB: '*' also crosses '/'.
 *   path:GLOB     a file by its path, or, without a '/', by its base name
 *   command:GLOB  a process by its program or its whole command line
 *   GLOB          either: a file as above, or a process by its program
 * What is included fits one glob of each kind that is given, what is excluded any.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/cli.h"

#define COMPOSE_BY_MAX 8

struct choice {
	const char *by[COMPOSE_BY_MAX + 1]; /* ended by NULL; none: as the query has it */
	bool per_job; /* what belongs to one job counts as one */
	struct words include, exclude;
	struct words operations; /* only those of these names; then events of processes are none */
	struct words phases; /* NAME=GLOB: jobs with such a process are that phase */
	const char *phase, *job; /* only this; NULL: all */
	int64_t process; /* only that of this id; 0: all */
	int64_t from_ns, to_ns; /* since the begin of the run; to_ns 0: to the end */
	int64_t step_ns;
};

struct composed {
	char *sql; /* to be freed */
	int keys;  /* how many of its columns rows are grouped by */
	char error[256];
};

/*
 * 0; -ENOENT: there is no such query; -EINVAL: it cannot be grouped so, and error says why; -ENOMEM.
 * .sql and .error are set accordingly.
 */
int compose(const char *name, const struct choice *choice, struct composed *ret);

/* Names of the queries, and what a row of each is: the n-th, NULL after the last.  The text lives as
 * long as the program; its length is returned. */
const char *compose_name(int n, size_t *ret_len);

#endif
