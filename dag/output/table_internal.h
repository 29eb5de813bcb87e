/* SPDX-License-Identifier: MIT */
#ifndef DAG_OUTPUT_TABLE_INTERNAL_H
#define DAG_OUTPUT_TABLE_INTERNAL_H

/* The struct of a table, for table.c, table_print.c, table_lines.c and table_page.c alone. */

#include "base/arena.h"
#include "dag/output/table.h"

struct lines;

enum cell_type { CELL_NULL, CELL_INT, CELL_REAL, CELL_TEXT };

enum unit {
	UNIT_NONE,
	UNIT_NS,
	UNIT_POINT,
	UNIT_SECONDS,
	UNIT_BYTES,
	UNIT_RATE,
	UNIT_SHARE,
	UNIT_DATE,
	UNIT_PROCESSES,
	UNIT_YES,
	UNIT_ERROR,  /* an errno */
	UNIT_RESULT, /* a negative errno, or what a call returned */
	UNIT_SIGNAL,
	UNIT_NAME,
	UNIT_MAX
};

struct cell {
	union {
		int64_t number;
		double real;
		const char *text;
	};
	uint32_t len;
	uint8_t type;
	uint8_t unit;
};

struct column {
	const char *name;
	enum unit unit;
};

struct table {
	struct column *columns;
	int n_columns;
	struct cell *cells; /* a vector; of a stream: the rows that are not printed yet */
	size_t n_cells;
	const char **notes;
	int n_notes;
	const char *narrow; /* see table_narrow() */
	struct arena names; /* of columns, and the notes */
	struct arena texts; /* of cells */
	const struct table_style *stream_style;
	FILE *stream; /* table_stream(): rows are printed to it; NULL: they are kept */
	size_t held;     /* of a stream: so many rows are printed together */
	size_t streamed; /* rows */
	struct lines *lines; /* of a stream of text that has begun */
	bool total;      /* the last row is a total */
	bool failed;     /* out of memory */
	int error;       /* the -errno of the stream */
};

enum unit unit_of(const char *name, size_t len);
/* The length of a column's name without the end that gives the unit. */
size_t unit_stem(const char *name);
/* Parts of table_print(): the begin of the file, and a row (0 or -errno). */
void print_begin(const struct table *table, const struct table_style *style, FILE *out);
int print_row(const struct table *table, const struct table_style *style, size_t row, FILE *out);
void table_flush(struct table *table); /* prints the last row of a stream */
/* The name of a column as a heading; raw: unchanged. */
void put_heading(const char *name, bool raw, char *out, size_t size);
/* Is it a column of numbers? */
bool is_number(const struct table *table, int column);
int terminal_width(int fd);
/* What a terminal shows of a column. */
struct fit {
	int width; /* of its longest cell, then what it gets; 0: any */
	int full;  /* of its longest cell */
	bool is_text, is_empty, is_hidden;
};
/* Sets .width and .is_hidden, out of the others. */
void fit_columns(const struct table *table, int width, struct fit *fits);

#define TEXT_MAX 64 /* a number as text */

/* Parts of table_print.c.  The text of a cell; room: for those that are no texts. */
const char *text_of(const struct cell *cell, const struct table_style *style, char room[TEXT_MAX]);
int characters(const char *text);
/* Sets what fit_columns() needs, from headings and cells. */
void measure(const struct table *table, const struct table_style *style, struct fit *fits);
/* The text of a cell that does not fit: *ret_less, which the caller frees; it stays as it is if there is room.  0 or -ENOMEM. */
int shorten(const struct column *column, const struct fit *fit, const char *text, char **ret_less);
/* What stands under the rows; width: of the terminal, 0: there is none. */
void put_notes(const struct table *table, const struct fit *fits, int width, FILE *out);

/* A long table as text (table_lines.c).  NULL: out of memory. */
struct lines *lines_create(const struct table *table, const struct table_style *style, FILE *out);
void lines_destroy(struct lines *lines);
int lines_put(struct lines *lines, const struct table *table, const struct table_style *style); /* the rows; 0 or -errno */
int lines_end(struct lines *lines, const struct table *table, int r); /* r: of the rows; 0 or -errno */

/* A number, rounded and with its unit. */
void unit_print(const struct cell *cell, int64_t begin_ns, char *out, size_t size);

#endif
