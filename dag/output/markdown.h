/* SPDX-License-Identifier: MIT */
#ifndef DAG_OUTPUT_MARKDOWN_H
#define DAG_OUTPUT_MARKDOWN_H

/* The Markdown of GitHub and GitLab. */

#include <stdio.h>

#include "dag/output/printable.h"

struct table;
struct table_style;

/* A text of which nothing has a meaning there. */
void markdown_put(struct printable *printable, const char *text, FILE *out);

/* Called by table_print(). */
int table_put_markdown(const struct table *table, const struct table_style *style, FILE *out);

#endif
