/* SPDX-License-Identifier: MIT */
#ifndef DAG_EXPORT_EXPORT_H
#define DAG_EXPORT_EXPORT_H

/*
 * A shape in the formats that other programs read, with all attributes (attributes.h) and their types.  Unknown values
 * are left out.  The same shape gives the same bytes.
 *
 *   GraphML     http://graphml.graphdrawing.org/specification.html; types string, long, double, boolean
 *   Cytoscape   .cyjs of Cytoscape 3 and cytoscape.js; also read by networkx
 *   GML         G. Raitner, M. Himsolt: GML, a portable graph file format (1997); ASCII, integers above 32
 *               bits are real numbers
 *   CSV         RFC 4180; a row for each node, then for each edge: element is "node" or "edge"
 *   JSON        {"schema": "ftrac.dag/1", "nodes": [...], "edges": [...]}
 */

#include <stdio.h>

#include "dag/export/dot.h"
#include "dag/shape/shape.h"

/* A format that wfdag writes.  wfdag makes its options and its help from the list of exports. */
struct export
{
	const char *option; /* the option is --option FILE */
	const char *help;   /* what the file is for */
	int (*write)(const struct shape *shape,
		FILE *out); /* one of those below; NULL: DOT is written */
	const char *
		picture; /* dot -Tpicture makes the file from DOT; NULL: the file is what is written */
};

extern const struct export exports[]; /* ended by a NULL option */
#define EXPORTS_MAX 16

/* DOT and pictures show a drawing; large graphs are folded for them. */
bool export_is_drawing(const struct export *format);

/*
 * Writes the shape to the descriptor out.  dot_options are for drawings.
 *
 * 0 or -errno; for pictures also what pipe_run() returns.
 */
int export_write(const struct export *format, const struct shape *shape,
	const struct dot_options *dot_options, int out);
#define EXPORT_PICTURE_SECONDS 300 /* that dot may take */

/* 0 or -errno. */
int export_graphml(const struct shape *shape, FILE *out);
int export_gml(const struct shape *shape, FILE *out);
int export_csv(const struct shape *shape, FILE *out);
int export_cyjs(const struct shape *shape, FILE *out);
int export_json(const struct shape *shape, FILE *out);

#endif
