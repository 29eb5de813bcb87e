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

/* The tables: stat_plain.c, stat_groups.c, stat_handle.c, stat_sys.c, stat_values.c, stat_pattern.c, stat_phase.c, stat_file.c */
int stat_overview(struct stat_run *run);
int stat_io(struct stat_run *run);
int stat_mem(struct stat_run *run);
int stat_run_times(struct stat_run *run);
int stat_util(struct stat_run *run);
int stat_sys(struct stat_run *run);
int stat_phase(struct stat_run *run);
int stat_file(struct stat_run *run);
int stat_proc(struct stat_run *run);
int stat_handle(struct stat_run *run);
int stat_pattern(struct stat_run *run);
int stat_hist(struct stat_run *run);
int stat_cdf(struct stat_run *run);
int stat_time(struct stat_run *run);
int stat_errors(struct stat_run *run);
int stat_list(struct stat_run *run);

#endif
