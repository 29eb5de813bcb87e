/* SPDX-License-Identifier: MIT */
#ifndef DAG_STAT_STAT_H
#define DAG_STAT_STAT_H

/*
 * The tables of wfstat.  Each is a function that asks the trace by the queries of the .sql file beside it, and fills
 * a table.  Errors are printed where they occur; results are exit statuses.
 */

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "dag/output/table.h"
#include "dag/stat/options.h"

struct query;
struct query_db;

struct stat_run {
	const struct stat_options *options;
	struct query_db *db;
	struct table *table;
	struct table_style style;
	bool has_ops;   /* single operations were recorded */
	bool has_files; /* files were traced */
};

/* Options that some tables have. */
enum stat_option {
	STAT_BY = 1,
	STAT_PER = 2,
	STAT_OF = 4,
	STAT_PICTURE = 8,
	STAT_MEMORY = 16,
	STAT_SIZES = 32,
	STAT_TIME = 64,
	STAT_CHOICE = 128,
	STAT_OPERATION = 256
};

/* One table; tables.h lists them. */
struct stat_table {
	const char *name;
	int (*fill)(struct stat_run *run); /* an exit status */
	bool needs_ops;	     /* it looks at single operations */
	int options;	     /* of enum stat_option */
	const char *queries; /* names, with blanks between them; "values." is completed by --of */
	const char *help;
	const char *own_keys; /* it has a row for each of these anyway, so that --by refuses them; NULL: none */
};

/* ---- all of them ---- */

bool stat_is_table(const char *name);
void stat_print_tables(FILE *out);
/* Do the options go with the table?  0, or prints why not. */
int stat_check(const struct stat_options *options);
/* Does it look at single operations? */
bool stat_needs_ops(const struct stat_options *options);
int stat_table(struct stat_run *run);
/* Sets what of a run is known, before its table. */
int stat_look(struct stat_run *run);
/* Prints its queries. */
int stat_sql(const struct stat_options *options, FILE *out);

/* ---- for the tables ---- */

/* Starts a query.  keys: how many of its columns rows are grouped by, or NULL.  The columns behind these are the ones of
 * these names (query_bind()); NULL: as they stand. */
int stat_query(struct stat_run *run, const char *name, const char *columns, const struct choice *choice,
	struct query **ret_query, int *ret_keys);
/* The next row: 1, 0 at the end, -1 after an error, which is printed. */
int stat_next(struct stat_run *run, struct query *query);
/* Fills the table with the rows of a query as they are.  changes: something in them will be changed. */
int stat_rows(struct stat_run *run, const char *name, bool changes);
/* Adds columns first to last of the row to the table. */
void stat_put(struct table *table, const struct query *query, int first, int last);
/* Names of these columns. */
void stat_columns(struct table *table, const struct query *query, int first, int last);
int stat_out_of_memory(void);
/* After the columns, for tables of whose rows nothing is changed later: they need not be kept. */
void stat_stream(struct stat_run *run);

/* What these columns say is not known; names with blanks between them. */
void stat_blank(struct stat_run *run, const char *columns);

/* What numbers of reads and writes mean, as a note. */
void stat_note_fidelity(struct stat_run *run);
/* That there are no single operations, as a note. */
void stat_note_no_ops(struct stat_run *run, const char *what);

#endif
