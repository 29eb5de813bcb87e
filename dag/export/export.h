/* SPDX-License-Identifier: MIT */
#ifndef DAG_EXPORT_EXPORT_H
#define DAG_EXPORT_EXPORT_H

/*
 * A shape in the formats that other programs read, with all attributes (attributes.h) and their types.
 * What is not known is left out.  The same shape gives the same bytes.
 *
 *   GraphML     http://graphml.graphdrawing.org/specification.html; types string, long, double, boolean
 *   Cytoscape   .cyjs of Cytoscape 3 and cytoscape.js; also read by networkx
 *   GML         G. Raitner, M. Himsolt: GML, a portable graph file format (1997); ASCII, integers above 32
 *               bits are real numbers
 *   CSV         RFC 4180; a row for each node, then for each edge: element is "node" or "edge"
 *   JSON        {"schema": "ftrac.dag/1", "nodes": [...], "edges": [...]}
 */

#include <stdio.h>

#include "dag/shape/shape.h"

/* 0 or -errno. */
int export_graphml(const struct shape *shape, FILE *out);
int export_gml(const struct shape *shape, FILE *out);
int export_csv(const struct shape *shape, FILE *out);
int export_cyjs(const struct shape *shape, FILE *out);
int export_json(const struct shape *shape, FILE *out);

#endif
