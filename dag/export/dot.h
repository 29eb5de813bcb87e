/* SPDX-License-Identifier: MIT */
#ifndef DAG_EXPORT_DOT_H
#define DAG_EXPORT_DOT_H

/*
 * A shape in the language of Graphviz, https://graphviz.org/doc/info/lang.html; dot(1) makes pictures of it.
 *
 * The look is that of the ParaTrac paper: a process is an ellipse with its command and life time, a file
 * a box with its base name and size; edges between processes are dotted, those of data solid, with their
 * bytes and rate; arrowheads differ by what was done; the critical path is red.  Beyond it: colours of
 * phases, failed processes, slow edges, what was folded, and a legend (dot_legend.h).
 *
 * All attributes (attributes.h) that are neither false nor empty are there, too.  In values a backslash is doubled, as
 * in labels; in labels alone, what Graphviz would take for a character of HTML has "&amp;" for its "&".
 *
 * libcgraph makes and writes the graph (agraph.h).
 */

#include <stdio.h>

#include "dag/shape/shape.h"

enum dot_width { DOT_WIDTH_NONE, DOT_WIDTH_BYTES, DOT_WIDTH_RATE, DOT_WIDTH_TIME, DOT_WIDTH_MAX };
enum dot_cluster { DOT_CLUSTER_NONE, DOT_CLUSTER_PHASE, DOT_CLUSTER_JOB, DOT_CLUSTER_MAX };

struct dot_options {
	enum dot_width width;     /* what makes an edge thick */
	enum dot_cluster cluster; /* what is drawn in one frame */
	bool no_legend;
	const char *
		ids; /* what ids of elements in SVG begin with, where several pictures are in one page; NULL */
	/* "#rrggbb" of a phase; NULL: colours of our own. */
	const char *(*colour)(const void *colours, const char *phase);
	const void *colours;
};

/* How much of such a colour is left behind text: alpha. */
#define DOT_PALE "66"

/* 0 or -errno. */
int dot_write(const struct shape *shape, const struct dot_options *options, FILE *out);

#endif
