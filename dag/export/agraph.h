/* SPDX-License-Identifier: MIT */
#ifndef DAG_EXPORT_AGRAPH_H
#define DAG_EXPORT_AGRAPH_H

/*
 * A graph of Graphviz, made and written by libcgraph: its nodes, edges, frames and their attributes.
 *
 * libcgraph follows a null pointer when it has no memory, newer versions end the program, and both may print.  So the
 * graph is made and written by a child process, whose memory ends with it; the caller only sees whether it worked.
 *
 * libcgraph quotes every text.  The same calls give the same bytes: nodes and edges are written in the order in which
 * they are made, as far as agwrite() keeps it (a node stands before its edges), attributes in the order of their names.
 *
 * Attributes have a default for each kind of object, "" if none was set; a value that is the default is not written.
 */

#include <stdint.h>
#include <stdio.h>

enum agraph_kind { AGRAPH_GRAPH, AGRAPH_NODE, AGRAPH_EDGE };

struct agraph;

/*
 * Calls make() in the child process with an empty directed graph of that name, and writes what make() has put into it
 * to out.  make() returns 0 or -errno.  The functions below are for make() alone.
 *
 * 0; -ENOMEM: make() failed, or the child ended early; -EIO: out cannot be written; other -errno: no child process.
 */
int agraph_write(const char *name, int (*make)(struct agraph *graph, void *arg), void *arg,
	FILE *out);

/* A default, for the objects that exist and those to come. */
void agraph_default(struct agraph *graph, enum agraph_kind kind, const char *name,
	const char *value);

/* Objects live as long as the graph.  Nodes have different names, frames too. */
void *agraph_node(struct agraph *graph, const char *name);
void *agraph_edge(struct agraph *graph, void *from, void *to);
void *agraph_frame(struct agraph *graph, const char *name);
void agraph_put_into(void *frame, void *node);

/* The graph itself, for its attributes. */
void *agraph_whole(struct agraph *graph);

/* An attribute of a node, an edge, a frame or the whole graph.  A backslash begins an escape for Graphviz. */
void agraph_set(struct agraph *graph, void *object, const char *name, const char *value);

/* A label in Graphviz' HTML. */
void agraph_set_html(struct agraph *graph, void *object, const char *name, const char *markup);

#endif
