/* SPDX-License-Identifier: MIT */
#ifndef DAG_TRACE_TRACES_H
#define DAG_TRACE_TRACES_H

/* How the programs of dag/ open and read their traces.  They print errors. */

#include <stdbool.h>

#include "base/cli.h"

#define TRACES_EXIT_STRICT 3 /* --strict, and something is missing */

struct choice;
struct query;
struct query_db;

/* how: see query_open().  The exit status; *ret_db is to be closed in any case. */
int traces_open(const struct words *traces, unsigned how, struct query_db **ret_db);

/* --foreign, for a trace of another user: in the table of getopt_long(), and in the help. */
#define TRACES_FOREIGN 1024
#define TRACES_OPTIONS { "foreign", no_argument, NULL, TRACES_FOREIGN }
#define TRACES_HELP "      --foreign          read a trace that belongs to another user, too\n"

/* Whether the trace has all of the run.  If not, this prints on stderr what is missing. */
bool traces_are_whole(struct query_db *db);

/* Reads the columns of these names behind the keys (query_bind(); NULL: as they stand).  Gives each row of a query to add(), which returns 0 or -ENOMEM.  The exit
 * status. */
int traces_each(struct query_db *db, const char *name, const char *columns, const struct choice *choice,
	int (*add)(void *arg, const struct query *query), void *arg);

#endif
