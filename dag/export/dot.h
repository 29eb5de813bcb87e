/* SPDX-License-Identifier: MIT */
#ifndef DAG_EXPORT_DOT_H
#define DAG_EXPORT_DOT_H

/*
 * A shape in the language of Graphviz, https://graphviz.org/doc/info/lang.html; dot(1) makes pictures of it.
 *
 * The picture is drawn as in the ParaTrac paper.  A process is an ellipse with what it runs and its life time, a file is a box
 * with its base name and size.  Edges between processes are dotted; edges of data are solid, with bytes and rate.  The
 * arrowhead shows the operation.  The critical path is red.  In addition, the picture shows steps by colour, failed
 * processes, slow edges, the number of folded nodes, and a legend (dot_legend.h).
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
	enum dot_width width;     /* edges are as thick as this is large */
	enum dot_cluster cluster; /* a frame for each phase or job */
	bool no_legend;
	const char *
		ids; /* prefix of the ids of SVG elements, for several pictures in one page; NULL: none */
	/* Gives "#rrggbb" for a step, and for NULL the colour of all that have none; NULL: dot_write() chooses the colours. */
	const char *(*colour)(const void *colours, const char *step);
	const void *colours;
	int limit_s; /* that dot(1) may take to draw it; 0: EXPORT_PICTURE_SECONDS */
};

/* The alpha of such a colour, so that text on it can be read. */
#define DOT_PALE "66"

/* 0 or -errno. */
int dot_write(const struct shape *shape, const struct dot_options *options, FILE *out);

#endif
