/* SPDX-License-Identifier: MIT */
#ifndef DAG_TRACE_TRACES_H
#define DAG_TRACE_TRACES_H

/*
 * How the programs of dag/ open and read their traces.  On errors a function returns a negative errno and sets the
 * failure.
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/cli.h"
#include "base/err.h"

#define TRACES_EXIT_STRICT EXIT_STRICT /* of --strict, if the trace is incomplete or records were lost */

struct arena;
struct choice;
struct failure;
struct query;
struct query_db;
struct query_into;

/* What all programs have: --foreign, for a trace of another user, and --strict; and --force (output.h) of those that write files.
 * In the table of getopt_long(), and in the help. */
enum traces_option { TRACES_FOREIGN = 1024, TRACES_STRICT, TRACES_FORCE };
#define TRACES_OPTIONS                                        \
	{ "foreign", no_argument, NULL, TRACES_FOREIGN },     \
	{ "strict", no_argument, NULL, TRACES_STRICT }
#define TRACES_OUTPUT_OPTIONS { "force", no_argument, NULL, TRACES_FORCE }
#define TRACES_HELP                                                                     \
	"      --foreign          read a trace that belongs to another user, too\n"     \
	"      --strict           exit status 3 if the trace is incomplete or records\n" \
	"                         were lost\n"
#define TRACES_OUTPUT_HELP "      --force            replace any file by the output, but no trace\n"

typedef void traces_warn(const char *format, ...) __attribute__((format(printf, 1, 2)));

/*
 * how: see query_open().  The caller closes *ret_db also after an error.  Waits while the writer of a trace completes it after the
 * end of its run; say(), such as err_print(), gets a line after a second; NULL: the caller has opened them before.
 */
int traces_open(const struct words *traces, unsigned how, traces_warn *say, struct query_db **ret_db,
	struct failure *failure);

/* The same, and the result is a trace in a file: see query_merge(). */
int traces_merge(const struct words *traces, unsigned how, const struct query_into *into, traces_warn *say,
	struct query_db **ret_db, struct failure *failure);

/* The error of a query: sets the failure, with the trace, and returns error. */
int traces_fail(const struct query_db *db, int error, struct failure *failure);

/* How much of what the kernel counts for processes (the fact bytes_kernel) went through the mount: without mapped files. */
int64_t traces_mount_bytes(struct query_db *db);

/* True if the trace has all of the run.  warn(), such as err_print(), gets a line for each thing that is missing, and for
 * each contradiction between several traces. */
bool traces_are_whole(struct query_db *db, traces_warn *warn);

/*
 * Starts the query of this name, completed by the choice (compose()).  columns: the names of the columns behind the keys,
 * which are read as columns *ret_keys, *ret_keys + 1 and so on (query_bind()); NULL: all columns in their order.
 * The caller ends *ret_query also after an error.  ret_keys may be NULL.
 */
int traces_query(struct query_db *db, const char *name, const char *columns,
	const struct choice *choice, struct query **ret_query, int *ret_keys,
	struct failure *failure);
/* The same of a query that compose() has written.  The columns are those behind column first. */
int traces_start(struct query_db *db, const char *sql, int first, const char *columns, struct query **ret_query,
	struct failure *failure);
/* Goes to the next row: 1; 0: there are no more rows. */
int traces_next(struct query_db *db, struct query *query, struct failure *failure);
/* A copy of a text of the row, in the arena.  NULL where the text is not known; without memory *failed is set, too. */
char *traces_text(const struct query *query, int column, struct arena *texts, bool *failed);
/* Calls add() for each row of such a query.  add() returns 0 or -ENOMEM. */
int traces_each(struct query_db *db, const char *name, const char *columns,
	const struct choice *choice, int (*add)(void *arg, const struct query *query), void *arg,
	struct failure *failure);

#endif
