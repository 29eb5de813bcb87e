/* SPDX-License-Identifier: MIT */
#ifndef DAG_EXPORT_EXPORT_H
#define DAG_EXPORT_EXPORT_H

/*
 * A shape in the formats that other programs read, with all attributes (attributes.h) and their types.  Unknown values
 * are left out.  The same shape gives the same bytes.
 *
 *   GraphML     http://graphml.graphdrawing.org/specification.html; types string, long, double, boolean
 *   yEd         the same with y:ShapeNode and y:PolyLineEdge, which say how yEd draws it
 *   Cytoscape   .cyjs of Cytoscape 3 and cytoscape.js; also read by networkx
 *   GML         G. Raitner, M. Himsolt: GML, a portable graph file format (1997); ASCII, integers above 32
 *               bits are real numbers
 *   CSV         RFC 4180; a row for each node, then for each edge: element is "node" or "edge"
 *   JSON        {"schema": "ftrac.dag/1", "nodes": [...], "edges": [...]}
 *   PROV-JSON   https://www.w3.org/submissions/prov-json/; files are entities, processes activities, users agents
 *
 *   RO-Crate    the profile Process Run Crate 0.5, https://w3id.org/ro/wfrun/process/0.5: what is to be ro-crate-metadata.json in
 *               the directory of the run
 *
 * And its processes as stacks (stacks.h):
 *
 *   collapsed   a line for each stack, with one kind of values
 *   speedscope  a profile for each kind; https://github.com/jlfwong/speedscope/blob/main/src/lib/file-format-spec.ts
 */

#include <stdio.h>

#include "dag/export/dot.h"
#include "dag/shape/shape.h"

/*
 * All formats, in the order of wfdag's help: the option --NAME FILE, and what the file is for.  A FORMAT is written by
 * export_NAME(), which stands in NAME.c, and so is a SINGLE one, which shows each process for itself; LINES are stacks of one kind, by NAME_write(); a DRAWING is DOT, or
 * what dot makes of it with -Tpicture.
 */
#define EXPORTS(FORMAT, SINGLE, LINES, DRAWING)                      \
	DRAWING(dot, NULL, "for Graphviz")                           \
	FORMAT(gml, "for networkx and yEd")                          \
	FORMAT(graphml, "for networkx, igraph, yEd and Gephi")       \
	FORMAT(yed, "GraphML with labels and colours for yEd")       \
	FORMAT(cyjs, "for Cytoscape")                                \
	FORMAT(csv, "a row for each node and each edge")             \
	FORMAT(json, "nodes and edges with all their attributes")    \
	FORMAT(prov, "provenance: W3C PROV-JSON")                    \
	SINGLE(rocrate, "provenance: Process Run RO-Crate, its metadata") \
	LINES(collapsed, "stacks for flame graphs, a line each (--stacks)") \
	SINGLE(speedscope, "all of these stacks for speedscope")      \
	DRAWING(svg, "svg", "a picture, drawn by Graphviz")          \
	DRAWING(png, "png", "a picture, drawn by Graphviz")          \
	DRAWING(pdf, "pdf", "a picture, drawn by Graphviz")          \
	DRAWING(ps, "ps", "a picture, drawn by Graphviz")            \
	DRAWING(jpeg, "jpeg", "a picture, drawn by Graphviz")

struct attribute_value;
struct stacks_kind;

struct export
{
	const char *option;
	const char *help;
	int (*write)(const struct shape *shape, FILE *out); /* 0 or -errno; NULL: lines, or a drawing */
	int (*write_lines)(const struct shape *shape, const struct stacks_kind *kind, FILE *out);
	bool is_single; /* it shows each process for itself */
	const char *picture; /* NULL: the file is what is written */
};

struct export_options {
	const struct dot_options *dot;	  /* of drawings */
	const struct stacks_kind *stacks; /* of lines */
};

extern const struct export exports[]; /* ended by a NULL option */
#define EXPORTS_MAX 16

/* DOT and pictures show a drawing; large graphs are folded for them. */
bool export_is_drawing(const struct export *format);

/*
 * Writes the shape to the descriptor out.
 *
 * 0 or -errno; for pictures also what pipe_run() returns.
 */
int export_write(const struct export *format, const struct shape *shape,
	const struct export_options *options, int out);
#define EXPORT_PICTURE_SECONDS 300 /* that dot may take */

/* For writers: frees the value in which they got attributes, and flushes the file.  0, -ENOMEM if an attribute is missing,
 * or -EIO. */
int export_finish(struct attribute_value *value, FILE *out);

/* export_NAME() of each format. */
#define EXPORT_FORMAT(name, help) int export_##name(const struct shape *shape, FILE *out);
#define EXPORT_OTHER(...)
EXPORTS(EXPORT_FORMAT, EXPORT_FORMAT, EXPORT_OTHER, EXPORT_OTHER)
#undef EXPORT_FORMAT
#undef EXPORT_OTHER

#endif
