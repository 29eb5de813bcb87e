/* SPDX-License-Identifier: MIT */
#ifndef DAG_WFDAG_OUTPUT_H
#define DAG_WFDAG_OUTPUT_H

/* The files that wfdag writes of a shape.  The functions return 0, or a negative errno with the failure set. */

#include <stdbool.h>

struct dag_options;
struct failure;
struct shape;

/* What is drawn: DOT, and pictures made from it; and all other exports. */
enum output_kind { OUTPUT_DATA, OUTPUT_DOT, OUTPUT_PICTURE };

bool dag_has_output(const struct dag_options *options, enum output_kind kind);
int dag_write(const struct dag_options *options, const struct shape *shape, enum output_kind kind, struct failure *failure);

#endif
