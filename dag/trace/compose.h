/* SPDX-License-Identifier: MIT */
#ifndef DAG_TRACE_COMPOSE_H
#define DAG_TRACE_COMPOSE_H

/*
 * The queries of the .sql files of dag/, completed by the user's choice: how rows are grouped, and which processes,
 * files and times count.  The result is plain SQL over the views of a trace, with all values in it: it can be printed,
 * and any SQLite can run it.
 *
 * A glob matches as SQLite's GLOB: '*' also crosses '/'.
 *   path:GLOB     a file by its path, or, without a '/', by its base name
 *   command:GLOB  a process by its program or its whole command line
 *   GLOB          either: a file as above, or a process by its program
 * A row is included if one glob of each given kind matches, and excluded if any glob matches.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/cli.h"

#define COMPOSE_BY_MAX 8

/* What operations are: calls of programs, or requests to a mount.  What calls above them are: those of MPI-IO or of libc. */
enum layer { LAYER_ANY, LAYER_CALLS, LAYER_REQUESTS, LAYER_OF_MPI, LAYER_OF_LIB };

struct choice {
	const char *by[COMPOSE_BY_MAX + 1]; /* ended by NULL; empty: the default of the query */
	bool per_job;                       /* the processes of one job count as one */
	struct words include, exclude;
	struct words operations; /* only operations of these names, and no events of processes */
	enum layer layer;        /* only operations of this layer */
	struct words phases; /* NAME=GLOB: jobs with such a process are that phase */
	const char *phase, *job; /* only this; NULL: all */
	int64_t process;         /* only the process with this id; 0: all */
	int64_t from_ns, to_ns; /* since the begin of the run; to_ns 0: to the end */
	int64_t step_ns;
	int64_t last_step; /* the last of these steps, counted from 0, that has an operation */
};

/* Can sums of operations (the view process_metric) have this choice, whatever their intervals? */
bool compose_fits_sums(const struct choice *choice);
/* Are all operations taken of each process that is taken? */
bool compose_takes_all_calls(const struct choice *choice);

struct failure;

/*
 * *ret_sql: the query, which the caller frees; NULL on errors.  *ret_keys: the number of its first columns by which rows
 * are grouped; ret_keys may be NULL.
 * 0; -ENOENT: there is no such query; FAILURE_USAGE: it cannot be grouped in this way; -ENOMEM.
 */
int compose(const char *name, const struct choice *choice, char **ret_sql, int *ret_keys,
	struct failure *failure);

/*
 * A query of operations whose keys depend on the image of each operation alone: *ret_sql has the column image in the place of
 * the keys, and *ret_images is a query for the keys of each image, and behind them its id.  That takes a third of the time:
 * SQLite would look up the texts of each operation.  If the keys depend on more, *ret_images is NULL and *ret_sql is that of compose().
 * The caller frees both.
 */
int compose_by_image(const char *name, const struct choice *choice, char **ret_sql, char **ret_images,
	int *ret_keys, struct failure *failure);

/* The head of the n-th query: its name and what a row of it is.  NULL after the last.  The text lives as long as the
 * program and ends after *ret_len bytes. */
const char *compose_name(int n, size_t *ret_len);

#endif
