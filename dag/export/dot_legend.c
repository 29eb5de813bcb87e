/* SPDX-License-Identifier: MIT */
#include "dag/export/dot_legend.h"

#include <string.h>

const struct dot_sign_words dot_sign_words[DOT_SIGN_MAX] = {
	[DOT_SIGN_PROCESS] = { "ellipse", NULL, "process: command, life time" },
	[DOT_SIGN_FAILED] = { "dark red, double line", "darkred", "failed: exit status or signal" },
	[DOT_SIGN_FILE] = { "box", NULL, "file: base name, size" },
	[DOT_SIGN_MISSING] = { "dashed box", "gray40", "missing name: looked up, but not found" },
	[DOT_SIGN_SEVERAL] = { "octagon, folder", NULL,
		"several processes, files; times: in which any lived" },
	[DOT_SIGN_STARTED] = { "dotted", NULL, "from a process to each process that it started" },
	[DOT_SIGN_NEXT] = { "bold", NULL, "the next part of the same process or file" },
	[DOT_SIGN_LOOKED] = { "dotted, no head", NULL, "read the attributes, or looked up the name" },
	[DOT_SIGN_DATA] = { "solid", NULL, "data: bytes, rate" },
	[DOT_SIGN_ASSUMED] = { "dashed", NULL,
		"assumed from how the file was opened; reads and writes were not recorded" },
	[DOT_SIGN_BOTH] = { "two heads", NULL, "written, and read by the same process" },
	[DOT_SIGN_READ] = { "open", NULL, "read" },
	[DOT_SIGN_EXECUTE] = { "box", NULL, "execute" },
	[DOT_SIGN_WRITE] = { "normal", NULL, "write" },
	[DOT_SIGN_CREATE] = { "dot", NULL, "create" },
	[DOT_SIGN_RENAME] = { "diamond", NULL, "rename" },
	[DOT_SIGN_DELETE] = { "tee", NULL, "delete" },
	[DOT_SIGN_PIPE] = { "veevee", NULL, "through a pipe" },
	[DOT_SIGN_SLOW] = { "orange", "darkorange3",
		"from 1 MB and 10 ms on, and slower than the average of all edges: a possible bottleneck" },
	[DOT_SIGN_FEEDBACK] = { "blue", "blue",
		"feedback: back to what was used before" },
	[DOT_SIGN_CRITICAL] = { "red", "red", "critical path" },
};

enum dot_sign dot_sign_of(const struct shape_edge *edge)
{
	int kinds = edge->kinds;

	return kinds & EDGE_PIPE                      ? DOT_SIGN_PIPE
	       : kinds & EDGE_FORK                    ? DOT_SIGN_STARTED
	       : kinds & EDGE_DELETE                  ? DOT_SIGN_DELETE
	       : kinds & EDGE_RENAME                  ? DOT_SIGN_RENAME
	       : kinds & EDGE_CREATE                  ? DOT_SIGN_CREATE
	       : kinds & (EDGE_WRITE | EDGE_TRUNCATE) ? DOT_SIGN_WRITE
	       : kinds & EDGE_EXECUTE                 ? DOT_SIGN_EXECUTE
	       : kinds & (EDGE_READ | EDGE_MAP)       ? DOT_SIGN_READ
	       : kinds & EDGE_NEXT                    ? DOT_SIGN_NEXT
						      : DOT_SIGN_LOOKED;
}

static void of_node(const struct shape_node *n, bool *there)
{
	static const enum dot_sign kinds[] = { [NODE_PROCESS] = DOT_SIGN_PROCESS,
		[NODE_FILE] = DOT_SIGN_FILE,
		[NODE_MISSING_NAME] = DOT_SIGN_MISSING };

	there[n->label ? DOT_SIGN_SEVERAL : kinds[n->kind]] = true;
	there[DOT_SIGN_FAILED] |= n->kind == NODE_PROCESS && n->failed;
	there[DOT_SIGN_CRITICAL] |= n->critical;
}

static void of_edge(const struct shape_edge *e, bool *there)
{
	there[dot_sign_of(e)] = true;
	there[DOT_SIGN_DATA] |= shape_is_flow(e);
	there[DOT_SIGN_ASSUMED] |= shape_is_flow(e) && e->assumed;
	there[DOT_SIGN_BOTH] |= e->read_back;
	there[DOT_SIGN_SLOW] |= e->slow;
	there[DOT_SIGN_FEEDBACK] |= e->feedback && !e->critical;
	there[DOT_SIGN_CRITICAL] |= e->critical;
}

void dot_signs(const struct shape *shape, bool ret_there[DOT_SIGN_MAX])
{
	memset(ret_there, 0, DOT_SIGN_MAX * sizeof(*ret_there));
	for (int32_t i = 0; i < shape->n_nodes; i++)
		of_node(&shape->nodes[i], ret_there);
	for (int32_t i = 0; i < shape->n_edges; i++)
		of_edge(&shape->edges[i], ret_there);
}
