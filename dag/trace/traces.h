/* SPDX-License-Identifier: MIT */
#ifndef DAG_TRACE_TRACES_H
#define DAG_TRACE_TRACES_H

/* What the programs of dag/ do with the traces that they are given.  Errors are printed. */

#include <stdbool.h>

#include "base/cli.h"

#define TRACES_EXIT_STRICT 3 /* --strict, and something is missing */

struct choice;
struct query;
struct query_db;

/* how: see query_open().  The exit status; *ret_db is to be closed in any case. */
int traces_open(const struct words *traces, unsigned how, struct query_db **ret_db);

/* --foreign, for a trace of somebody else: in the table of getopt_long(), and in the help. */
#define TRACES_FOREIGN 1024
#define TRACES_OPTIONS { "foreign", no_argument, NULL, TRACES_FOREIGN }
#define TRACES_HELP "      --foreign          read a trace that belongs to somebody else, too\n"

/* Is all of the run in the trace?  If not, it is said, on stderr. */
bool traces_are_whole(struct query_db *db);

/* Gives each row of a query to add(), which may fail for want of memory: -ENOMEM.  The exit
 * status. */
int traces_each(struct query_db *db, const char *name, const struct choice *choice,
	int (*add)(void *arg, const struct query *query), void *arg);

#endif
