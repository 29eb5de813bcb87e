/* SPDX-License-Identifier: MIT */
#ifndef DAG_OUTPUT_TABLE_H
#define DAG_OUTPUT_TABLE_H

/*
 * A table for printing: named columns, rows of cells, and notes under it.
 *
 * The end of a column's name gives the unit of its numbers, as in a trace: _ns (a time span; start_ns,
 * end_ns and some others, see unit_of(): a point in time; begin_ns: a date), _s, _bytes, _rate (bytes per second),
 * _share (a part of 1), _without_cpu and _without_io (processes), complete (yes or no).  errno,
 * result and exit_signal are shown by the names of these numbers.  A cell whose unit is not that of its column has a name of its own (table_unit).
 *
 * In the format TABLE numbers are rounded and have units, and names lose their ends, unless style.raw is set.  On a
 * terminal that is too narrow, paths and commands are cut, and some columns are left out.
 * CSV follows RFC 4180.  In TSV tab, newline and backslash are \t \n \\.  JSON is one object.  An unknown value is "-" in
 * TABLE, empty in CSV and TSV, null in JSON.  Names of files that are not UTF-8 stay the bytes they are in CSV
 * and TSV, in JSON they have U+FFFD, in a table \xNN.
 *
 * If memory runs out, rows are missing; table_failed() is true then, and table_print() returns -ENOMEM.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum table_format { TABLE_TEXT, TABLE_CSV, TABLE_TSV, TABLE_JSON, TABLE_FORMAT_MAX, TABLE_MARKDOWN = TABLE_FORMAT_MAX };

extern const char *const table_formats[]; /* their names, ended by NULL; not MARKDOWN: the same as TABLE, for what shows Markdown */

struct table_style {
	enum table_format format;
	bool raw;
	bool wide;                  /* TABLE: all columns in their width, also on a terminal that is narrower */
	int width;                  /* TABLE: that of the lines, and no pager; 0: that of a terminal, and what a terminal has */
	int64_t begin_ns;           /* points in time are shown relative to it */
	const char *program, *name; /* of the JSON object: "PROGRAM/1", NAME */
	bool complete;              /* the trace is complete */
};

struct table;

struct table *table_create(void); /* NULL: out of memory */
void table_destroy(struct table *table);

/* All columns come before the first row. */
void table_column(struct table *table, const char *name, size_t len);
void table_columns(struct table *table, const char *names);  /* with blanks between them */
int table_find(const struct table *table, const char *name); /* -1: there is none */

/* The columns that matter most, the first one first, with blanks between them: a terminal that is too narrow for all shows the table's
 * first column and of these as many as fit.  names is not copied. */
void table_narrow(struct table *table, const char *names);

/* Cells are added from left to right, row by row.  table_row() fills up a row with unknown values. */
void table_row(struct table *table);
void table_null(struct table *table);
void table_int(struct table *table, int64_t number);
void table_real(struct table *table, double number); /* NaN: unknown */
void table_sum(struct table *table,
	__int128 sum); /* an integer, or a real number if it is too large */
void table_text(struct table *table, const char *bytes, size_t len);
void table_string(struct table *table, const char *string); /* NULL: unknown */
/* A cell that contains the name of a column; it is formatted as a heading. */
void table_name(struct table *table, const char *name);
/* Gives the last cell the unit of a column of this name. */
void table_unit(struct table *table, const char *name);

/* Makes the last row a total: table_sort() does not move it, and table_top() keeps it. */
void table_total(struct table *table);

/* The name of a column, as in CSV; NULL: there are no more. */
const char *table_column_name(const struct table *table, int column);

size_t table_rows(const struct table *table);
/* The text in a cell; NULL: there is none. */
const char *table_string_at(const struct table *table, size_t row, int column);
/* The number in a cell; unknown: if there is none. */
double table_number(const struct table *table, size_t row, int column, double unknown);
/* Replace the value of a cell. */
void table_set_real(struct table *table, size_t row, int column, double number);
void table_set_string(struct table *table, size_t row, int column, const char *string);
void table_set_null(struct table *table, size_t row, int column);
bool table_get_int(const struct table *table, size_t row, int column, int64_t *ret);
bool table_get_real(const struct table *table, size_t row, int column,
	double *ret); /* also of an integer */

/* Adds a note, one line. */
__attribute__((format(printf, 2, 3))) void table_note(struct table *table, const char *format, ...);

/* Sorts by a column: numbers from the largest on, texts from A on, in reverse order if '-' stands in front of its name;
 * unknown values last.  0; -EINVAL: there is no such column; -ENOMEM. */
int table_sort(struct table *table, const char *column);
/* Keeps only these columns, in that order.  names: separated by commas.  0, -ENOMEM, or -EINVAL: *ret_unknown, of *ret_len bytes, is
 * none. */
int table_select(struct table *table, const char *names, const char **ret_unknown, int *ret_len);
/* What the user asks for: sorted by a column, then the first rows (top -1: all), then these columns; each may be NULL.  0 or -errno,
 * with the failure set: it names the columns that there are. */
struct failure;
int table_arrange(struct table *table, const char *sort, int64_t top, const char *columns, struct failure *failure);
/* Keeps only the first rows, and adds a note. */
void table_top(struct table *table, size_t rows);

/*
 * From now on rows are printed and not kept; in the format TABLE there are always some, which give the columns their widths, and a
 * table of few rows is printed at the end.  The call stands between the columns and the first row; style and out must live as long as
 * the table.  Rows cannot be sorted or changed then.
 */
void table_stream(struct table *table, const struct table_style *style, FILE *out);

bool table_failed(const struct table *table);
/* Prints the table; its notes in TABLE and JSON.  0 or -errno. */
int table_print(struct table *table, const struct table_style *style, FILE *out);

#endif
