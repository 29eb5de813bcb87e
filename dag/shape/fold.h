/* SPDX-License-Identifier: MIT */
#ifndef DAG_SHAPE_FOLD_H
#define DAG_SHAPE_FOLD_H

/*
 * Shapes with fewer nodes: several processes, or several files, become one (aggregation in the ParaTrac
 * paper).  Numbers of it are sums, its life is the time in which any of them lived; edges between the same
 * nodes become one.  Where a folded graph leads back to itself it has cycles.
 *
 * Files are folded if the same nodes write them and the same nodes read them.
 *
 * -ENOMEM is the only error; the shape is to be destroyed then.
 */

#include <stdbool.h>
#include <stdint.h>

struct shape;

struct fold_options {
	bool groups; /* processes by .groups of the workflow; those of no group stay what they are */
	bool directories;   /* files by their directories */
	const char *expand; /* processes of this phase stay what they are; NULL */
};

int fold_shape(struct shape *shape, const struct fold_options *options);

/* Down to so many nodes if there are more: first files, then processes by task, by step, by phase, by program, each
 * time with their files, in the end all that the same nodes write; what is still too much becomes one node "(others)" of each
 * kind, behind the first nodes. */
int fold_to(struct shape *shape, int32_t max_nodes);

#endif
