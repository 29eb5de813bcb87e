/* SPDX-License-Identifier: MIT */
#ifndef DAG_OUTPUT_TABLE_PAGE_H
#define DAG_OUTPUT_TABLE_PAGE_H

/* Tables as parts of an HTML page.  Numbers are formatted as in a table of wfstat, texts are escaped (html.h). */

#include <stdio.h>

struct table;
struct table_style;

/* <table data-columns="NAMES">, then the notes. */
void table_put_html(const struct table *table, const struct table_style *style, FILE *out);
/* A table whose rows are a fact and its value, such as wfstat's overview, as <dl>. */
void table_put_facts(const struct table *table, const struct table_style *style, FILE *out);
/* One cell as text. */
void table_put_cell(const struct table *table, const struct table_style *style, size_t row, int column,
	FILE *out);
/* The JSON of table_print(), for <script type="application/json">.  0 or -errno. */
int table_put_data(struct table *table, const struct table_style *style, FILE *out);

#endif
