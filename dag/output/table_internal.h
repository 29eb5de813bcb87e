/* SPDX-License-Identifier: MIT */
#ifndef DAG_OUTPUT_TABLE_INTERNAL_H
#define DAG_OUTPUT_TABLE_INTERNAL_H

/* How a table is kept: for table.c, table_print.c and table_page.c alone. */

#include "dag/output/table.h"

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

struct chunk {
	struct chunk *next;
	size_t used, size;
	char data[];
};

struct table {
	char **columns;
	enum unit *units;
	int n_columns;
	struct cell *cells;
	size_t n_cells, size;
	struct chunk *texts;
	char **notes;
	int n_notes;
	const struct table_style *stream_style; /* rows are printed as they come */
	FILE *stream;
	size_t streamed;
	bool total;  /* the last row is one */
	bool failed; /* out of memory */
	int error;   /* -errno of what a row was written to */
};

enum unit unit_of(const char *name, size_t len);
/* Without the end that says the unit. */
size_t unit_stem(const char *name);
/* The parts of table_print(): what comes before the rows, rows, what comes after them. */
void print_begin(const struct table *table, const struct table_style *style, FILE *out);
int print_row(const struct table *table, const struct table_style *style, size_t row,
	FILE *out);                    /* -errno */
void table_flush(struct table *table); /* the last row of a stream */
/* The name of a column for people; raw: as it is. */
void put_heading(const char *name, bool raw, char *out, size_t size);
/* A column of numbers? */
bool is_number(const struct table *table, int column);
/* A number for people. */
void unit_print(const struct cell *cell, int64_t begin_ns, char *out, size_t size);

#endif
