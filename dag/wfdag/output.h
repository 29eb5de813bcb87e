/* SPDX-License-Identifier: MIT */
#ifndef DAG_WFDAG_OUTPUT_H
#define DAG_WFDAG_OUTPUT_H

/* The files that wfdag writes of a shape.  The functions return 0, or a negative errno with the failure set. */

struct dag_options;
struct failure;
struct shape;

/* Exports that are no drawings. */
int dag_write_data(const struct dag_options *options, const struct shape *shape,
	struct failure *failure);
/* DOT, and pictures made from it. */
int dag_write_drawings(const struct dag_options *options, const struct shape *shape,
	struct failure *failure);

#endif
