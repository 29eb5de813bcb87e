/* SPDX-License-Identifier: MIT */
#ifndef DAG_EXPORT_ROWS_H
#define DAG_EXPORT_ROWS_H

/*
 * The nodes and edges of a shape as rows of one table, in JSON: {"rows": [{"element": "node", "id": ...}, ...]}.  The
 * columns are those of wfdag --csv.
 */

#include "dag/shape/shape.h"

/* The caller frees it; NULL: out of memory. */
char *export_rows(const struct shape *shape);

#endif
