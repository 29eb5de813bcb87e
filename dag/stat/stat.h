/* SPDX-License-Identifier: MIT */
#ifndef DAG_STAT_STAT_H
#define DAG_STAT_STAT_H

/*
 * The tables of wfstat.  Each is a function that runs the queries of the .sql file beside it and fills a table.
 *
 * Functions return 0, or a negative errno with run->failure set (stat_sql(): with the failure set).
 */

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "dag/output/table.h"
#include "dag/stat/options.h"

struct failure;
struct query;
struct query_db;

struct stat_run {
	const struct stat_options *options;
	struct query_db *db;
	struct failure *failure;
	struct table *table;
	struct table_style style;
	bool to_stdout; /* the table is printed there, and its rows may be as they come */
	bool has_ops;   /* single operations were recorded */
	bool has_files; /* files were traced */
};

/* Options that some tables have. */
enum stat_option {
	STAT_BY = 1,
	STAT_PER = 2,
	STAT_OF = 4, /* it needs --of */
	STAT_PICTURE = 8,
	STAT_MEMORY = 16,
	STAT_SIZES = 32,
	STAT_TIME = 64,
	STAT_CHOICE = 128,
	STAT_OPERATION = 256,
	STAT_CALL = 512 /* single calls of libraries, and not operations */
};

/* One table; tables.h lists them. */
struct stat_table {
	const char *name;
	int (*fill)(struct stat_run *run);
	bool needs_ops; /* it reads single operations */
	int options;    /* of enum stat_option */
	const char *const *of; /* the values of --of, ended by NULL; NULL: it has none */
	/* Names, separated by blanks.  The value of --of is appended to "values.". */
	const char *queries;
	const char *steps; /* the query for one row for each step, unless --long or --per are given; NULL: there is none */
	const char *help;
	const char *narrow; /* the columns that matter most, see table_narrow(); NULL: the first ones */
	/* What it always has a row for, so that --by must not name it; NULL: nothing. */
	const char *own_keys;
};

/* ---- all of them ---- */

/* NULL: there is no such table.  name NULL: the overview. */
const struct stat_table *stat_find_table(const char *name);
void stat_print_tables(FILE *out);
/* The values of --of of hist and cdf, ended by NULL. */
extern const char *const stat_values[];
/* The index of one of these; -1: it is none. */
int stat_find_value(const char *of);
/* Does the table of these options read single operations? */
bool stat_needs_ops(const struct stat_options *options);
/* Sets .has_ops and .has_files, before stat_table(). */
int stat_look(struct stat_run *run);
/* One row for each step, and not the long form of io, mem, run and util? */
bool stat_is_by_step(const struct stat_options *options);
/* Fills run->table. */
int stat_table(struct stat_run *run);
/* Prints the queries of the table. */
int stat_sql(const struct stat_options *options, FILE *out, struct failure *failure);

/* ---- for the tables ---- */

/* Fills the table with the rows of a query.  changes: the caller will change cells. */
int stat_rows(struct stat_run *run, const char *name, bool changes);
/* The same, of a query whose last row is a total. */
int stat_rows_total(struct stat_run *run, const char *name);
/* Adds the names of columns first to last of the query to the table. */
void stat_columns(struct table *table, const struct query *query, int first, int last);
/* Adds these columns of the current row to the table. */
void stat_put(struct table *table, const struct query *query, int first, int last);
/* Behind the columns of a table whose cells are not changed later: rows are printed at once if the options allow it. */
void stat_stream(struct stat_run *run);

/* Makes the values of these columns unknown.  columns: names, separated by blanks. */
/* The query of the table time. */
const char *stat_time_query(const struct stat_options *options);
void stat_blank(struct stat_run *run, const char *columns);

/* Notes what numbers of reads and writes mean. */
void stat_note_fidelity(struct stat_run *run);
/* Notes that there are no single operations.  what: "X is", the numbers that are unknown therefore. */
void stat_note_no_ops(struct stat_run *run, const char *what);
/* Notes that calls of libraries were not recorded, if that is so. */
void stat_note_no_calls(struct stat_run *run);

#endif
