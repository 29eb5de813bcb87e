/* SPDX-License-Identifier: MIT */
#ifndef DAG_WFDAG_OUTPUT_H
#define DAG_WFDAG_OUTPUT_H

/* Files that wfdag writes of a shape.  Errors are printed; results are exit statuses. */

struct dag_options;
struct shape;

/* What other programs read further. */
int dag_write_data(const struct dag_options *options, const struct shape *shape);
/* DOT, and pictures made of it. */
int dag_write_pictures(const struct dag_options *options, const struct shape *shape);

#endif
