/* SPDX-License-Identifier: MIT */

/* Second pass: match on weaker evidence than colour refinement. */

#include "dag/diff/match_internal.h"

#include "dag/container/hash.h"

/* A number in a path may be that of a process in one run alone. */
static uint64_t path_key(const struct matching *m, int run, int32_t node)
{
	return side_is_process(m->match->side[run], node) ? 0 : m->match->side[run]->plain[node];
}

static uint64_t near_key(const struct matching *m, int run, int32_t node)
{
	return hash_pair(m->match->side[run]->label[node],
		matching_hash_neighbours(m, run, node, -1, matching_known));
}

static uint64_t parent_key(const struct matching *m, int run, int32_t node)
{
	const struct side *side = m->match->side[run];
	int32_t parent = side_is_process(side, node) ? side->parent[node] : GRAPH_NONE;

	if (!side_is_process(side, node))
		return 0;
	return hash_pair(side->label[node],
		parent == GRAPH_NONE ? 0 : matching_known(m, run, parent));
}

static uint64_t name_key(const struct matching *m, int run, int32_t node)
{
	const struct side *side = m->match->side[run];

	return side->wild[node] ? 0 : side->label[node];
}

/* The processes that use a file with a generated name, in these ways: its name says nothing. */
static uint64_t users_of(const struct matching *m, int run, int32_t node, int kinds)
{
	const struct side *side = m->match->side[run];

	for (int32_t i = side->first[node]; i < side->first[node + 1]; i++)
		if (side->links[i].kinds & kinds && !matching_is_open(m, run, side->links[i].to))
			return matching_hash_neighbours(m, run, node, kinds, matching_known);
	return 0;
}

static const struct data *data_of(const struct matching *m, int run, int32_t node)
{
	const struct side *side = m->match->side[run];

	return side_is_process(side, node) ? NULL
					   : workflow_data(side->workflow, side_file(side, node));
}

static uint64_t loose_key(const struct matching *m, int run, int32_t node)
{
	const struct data *data = data_of(m, run, node);
	uint64_t users;

	if (!data || !data->created)
		return 0;
	users = users_of(m, run, node, -1);
	return users ? hash_pair(m->match->side[run]->loose[node], users) : 0;
}

/* The same processes made it, even if others read it. */
static uint64_t writers_key(const struct matching *m, int run, int32_t node)
{
	const struct data *data = data_of(m, run, node);
	uint64_t writers = data && data->created ? users_of(m, run, node, SIDE_WRITE) : 0;

	return writers ? hash_pair(m->match->side[run]->loose[node], writers) : 0;
}

static uint64_t temporary_key(const struct matching *m, int run, int32_t node)
{
	const struct data *data = data_of(m, run, node);

	return data && data->created && data->deleted ? users_of(m, run, node, -1) : 0;
}

/* A file with the same users and another name: its maker has renamed it. */
static uint64_t renamed_key(const struct matching *m, int run, int32_t node)
{
	const struct data *data = data_of(m, run, node);

	return data && data->created && users_of(m, run, node, SIDE_WRITE)
		       ? users_of(m, run, node, -1)
		       : 0;
}

void match_weak(struct matching *m)
{
	static const struct {
		matching_key *key;
		bool alone;
	} keys[] = { { path_key, true }, { near_key, false }, { parent_key, false },
		{ name_key, true }, { loose_key, false }, { temporary_key, false },
		{ writers_key, false }, { renamed_key, true } };

	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		if (matching_join_all(m, keys[i].key, keys[i].alone, NULL))
			matching_solve(m);
}
