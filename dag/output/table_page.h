/* SPDX-License-Identifier: MIT */
#ifndef DAG_OUTPUT_TABLE_PAGE_H
#define DAG_OUTPUT_TABLE_PAGE_H

/* Tables as parts of a page: numbers for people as in wfstat's own, names as html.h writes them. */

#include <stdio.h>

struct table;
struct table_style;

/* <table data-columns="NAMES">, and what belongs under it. */
void table_put_html(const struct table *table, const struct table_style *style, FILE *out);
/* A table of facts and values, as wfstat's overview, as <dl>. */
void table_put_facts(const struct table *table, const struct table_style *style, FILE *out);
/* One cell as text. */
void table_put_cell(const struct table *table, const struct table_style *style, size_t row, int column,
	FILE *out);
/* As JSON, that of table_print(), for <script type="application/json">.  -errno. */
int table_put_data(struct table *table, const struct table_style *style, FILE *out);

#endif
