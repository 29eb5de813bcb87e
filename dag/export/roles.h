/* SPDX-License-Identifier: MIT */
#ifndef DAG_EXPORT_ROLES_H
#define DAG_EXPORT_ROLES_H

/*
 * What an edge between a process and a file is in records of provenance: the process used the file, made it, or removed it,
 * or several of these.  An edge may lead either way, since the graph has no cycle.
 */

#include "dag/shape/shape.h"

enum role { ROLE_USED = 1, ROLE_MADE = 2, ROLE_REMOVED = 4 };

struct roles {
	int roles; /* a set; 0: this is no edge between a process and a file */
	int32_t file, process; /* nodes; without roles: the ends of the edge, as it leads */
};

static inline struct roles roles_of(const struct shape *shape, const struct shape_edge *e)
{
	const enum node_kind from = shape->nodes[e->from].kind, to = shape->nodes[e->to].kind;
	struct roles r = { 0, e->from, e->to };

	if (from == NODE_PROCESS && to == NODE_FILE)
		r = (struct roles){ 0, e->to, e->from };
	else if (from != NODE_FILE || to != NODE_PROCESS)
		return r;
	if (e->kinds & (EDGE_READ | EDGE_EXECUTE | EDGE_MAP | EDGE_META))
		r.roles |= ROLE_USED;
	if (e->kinds & (EDGE_WRITE | EDGE_CREATE | EDGE_RENAME | EDGE_TRUNCATE))
		r.roles |= ROLE_MADE;
	if (e->kinds & EDGE_DELETE)
		r.roles |= ROLE_REMOVED;
	return r;
}

#endif
