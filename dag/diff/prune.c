/* SPDX-License-Identifier: MIT */

/* Accesses that depend on which process came first are removed: they differ from run to run. */

#include "dag/diff/side.h"

#include <errno.h>
#include <stdlib.h>

#include "base/cleanup.h"

/* Between a fork and an exec, a process may have to read a page of the program of its parent, if no
 * process has read it before. */
static bool is_of_fork(const struct side *side, int32_t process, int32_t file, int kinds)
{
	int32_t parent = side->parent[process];

	return kinds == SIDE_READ && parent != GRAPH_NONE &&
	       side_kinds_between(side, parent, file) & SIDE_EXECUTE;
}

static bool is_written(const struct side *side, int32_t file)
{
	for (int32_t i = side->first[file]; i < side->first[file + 1]; i++)
		if (side->links[i].kinds & SIDE_WRITE)
			return true;
	return false;
}

/* What remains of a link between a process and a file.  Of the processes that append to one file, the first one makes
 * it: that is an edge only if no process writes it. */
static int pruned(const struct side *side, const bool *written, int32_t process, int32_t file,
	int kinds)
{
	if (is_of_fork(side, process, file, kinds))
		return 0;
	if (!(kinds & SIDE_MAKE))
		return kinds;
	return (kinds & ~SIDE_MAKE) | (written[file] ? 0 : SIDE_WRITE);
}

static void drop_empty(struct side *side, const int *kinds)
{
	int32_t to = 0;

	for (int32_t node = 0, i = 0; node < side->n_nodes; node++) {
		/* .first of this node is set already, that of the next one is as it was */
		for (; i < side->first[node + 1]; i++)
			if (kinds[i])
				side->links[to++] =
					(struct side_link){ side->links[i].to, kinds[i] };
		side->first[node + 1] = to;
	}
}

int side_prune(struct side *side)
{
	cleanup_free int *kinds = calloc((size_t)side->first[side->n_nodes] + 1, sizeof(*kinds));
	cleanup_free bool *written = calloc((size_t)side->n_nodes + 1, sizeof(*written));

	for (int32_t node = 0; kinds && written && node < side->n_nodes; node++)
		written[node] = !side_is_process(side, node) && is_written(side, node);
	for (int32_t node = 0; kinds && written && node < side->n_nodes; node++)
		for (int32_t i = side->first[node]; i < side->first[node + 1]; i++) {
			int32_t to = side->links[i].to;

			kinds[i] = side->links[i].kinds;
			if (!side_is_process(side, node))
				kinds[i] = pruned(side, written, to, node, kinds[i]);
			else if (!side_is_process(side, to))
				kinds[i] = pruned(side, written, node, to, kinds[i]);
		}
	if (kinds && written)
		drop_empty(side, kinds);
	return kinds && written ? 0 : -ENOMEM;
}
