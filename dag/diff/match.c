/* SPDX-License-Identifier: MIT */
#include "dag/diff/match_internal.h"

#include <errno.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "dag/container/hash.h"

#define ROUNDS_MAX 200 /* of one matching_solve(); what is left then is taken in order */

/* ---- pairs ---- */

bool matching_join(struct matching *m, int32_t a, int32_t b)
{
	if (!matching_is_open(m, 0, a) || !matching_is_open(m, 1, b))
		return false;
	m->match->pair[0][a] = b;
	m->match->pair[1][b] = a;
	m->color[0][a] = m->color[1][b] = hash_pair('=', (uint64_t)a);
	return true;
}

uint64_t matching_known(const struct matching *m, int run, int32_t node)
{
	return matching_is_open(m, run, node) ? m->match->side[run]->label[node]
					      : m->color[run][node];
}

int matching_compare(const void *x, const void *y)
{
	const struct member *a = x, *b = y;

	if (a->key != b->key)
		return a->key < b->key ? -1 : 1;
	return a->run != b->run ? a->run - b->run : (a->node > b->node) - (a->node < b->node);
}

static void close_joined(struct matching *m)
{
	for (int run = 0; run < 2; run++) {
		int32_t n = 0;

		for (int32_t i = 0; i < m->n_open[run]; i++)
			if (matching_is_open(m, run, m->open[run][i]))
				m->open[run][n++] = m->open[run][i];
		m->n_open[run] = n;
	}
}

static size_t list_members(struct matching *m, matching_key *key)
{
	size_t n = 0;

	close_joined(m);
	for (int run = 0; run < 2; run++)
		for (int32_t i = 0; i < m->n_open[run]; i++) {
			int32_t node = m->open[run][i];
			uint64_t k = key(m, run, node);

			if (k)
				m->members[n++] = (struct member){ k, run, node };
		}
	if (n)
		qsort(m->members, n, sizeof(*m->members), matching_compare);
	return n;
}

/* A class: members with the same key, those of the first run before the others. */
struct class
{
	struct member *first;
	size_t n[2];
};

static size_t take_class(struct member *members, size_t left, struct class *ret)
{
	*ret = (struct class){ members, { 0, 0 } };
	while (ret->n[0] + ret->n[1] < left && members[ret->n[0] + ret->n[1]].key == members->key)
		ret->n[members[ret->n[0] + ret->n[1]].run]++;
	return ret->n[0] + ret->n[1];
}

static int32_t join_class(struct matching *m, const struct class *class)
{
	int32_t joined = 0;

	for (size_t i = 0; i < class->n[0] && i < class->n[1]; i++)
		joined +=
			matching_join(m, class->first[i].node, class->first[class->n[0] + i].node);
	return joined;
}

int32_t matching_join_all(struct matching *m, matching_key *key, bool alone, size_t *ret_classes)
{
	size_t n = list_members(m, key), classes = 0;
	struct class class;
	int32_t joined = 0;

	for (size_t i = 0; i < n; i += class.n[0] + class.n[1], classes++) {
		take_class(m->members + i, n - i, &class);
		if (!alone || (class.n[0] == 1 && class.n[1] == 1))
			joined += join_class(m, &class);
	}
	if (ret_classes)
		*ret_classes = classes;
	return joined;
}

/* ---- colours ---- */

static uint64_t color_key(const struct matching *m, int run, int32_t node)
{
	return m->color[run][node];
}

static uint64_t label_key(const struct matching *m, int run, int32_t node)
{
	return m->match->side[run]->label[node];
}

uint64_t matching_hash_neighbours(const struct matching *m, int run, int32_t node, int kinds,
	matching_key *color)
{
	const struct side *side = m->match->side[run];
	uint64_t sum = 0;

	for (int32_t i = side->first[node]; i < side->first[node + 1]; i++)
		if (side->links[i].kinds & kinds)
			sum += hash_pair((uint64_t)side->links[i].kinds,
				color(m, run, side->links[i].to));
	return sum;
}

static void refine(struct matching *m)
{
	for (int run = 0; run < 2; run++)
		for (int32_t i = 0; i < m->n_open[run]; i++) {
			int32_t node = m->open[run][i];

			m->next[run][node] = hash_pair(m->match->side[run]->label[node],
				matching_hash_neighbours(m, run, node, -1, color_key));
		}
	for (int run = 0; run < 2; run++)
		for (int32_t i = 0; i < m->n_open[run]; i++)
			m->color[run][m->open[run][i]] = m->next[run][m->open[run][i]];
}

/* ---- ties ---- */

static int32_t find_root(struct matching *m, int32_t class)
{
	while (m->root[class] != class)
		class = m->root[class] = m->root[m->root[class]];
	return class;
}

/* Classes that are neighbours belong together; the root is the one whose first member is the first. */
static void unite(struct matching *m, int32_t a, int32_t b, const struct class *classes)
{
	a = find_root(m, a);
	b = find_root(m, b);
	if (classes[a].first->node < classes[b].first->node)
		m->root[b] = a;
	else
		m->root[a] = b;
}

static int32_t list_classes(struct matching *m, size_t n, struct class *classes)
{
	int32_t n_classes = 0;
	struct class class;

	for (int32_t i = 0; i < m->n_open[0]; i++)
		m->class[0][m->open[0][i]] = GRAPH_NONE;
	for (size_t i = 0; i < n; i += class.n[0] + class.n[1]) {
		take_class(m->members + i, n - i, &class);
		if (!class.n[0] || !class.n[1])
			continue;
		for (size_t k = 0; k < class.n[0]; k++)
			m->class[0][class.first[k].node] = n_classes;
		m->root[n_classes] = n_classes;
		classes[n_classes++] = class;
	}
	return n_classes;
}

static void unite_neighbours(struct matching *m, const struct class *classes)
{
	const struct side *side = m->match->side[0];

	for (int32_t k = 0; k < m->n_open[0]; k++) {
		int32_t node = m->open[0][k], class = m->class[0][node];

		for (int32_t i = side->first[node]; i < side->first[node + 1]; i++) {
			int32_t to = side->links[i].to;

			if (class != GRAPH_NONE && matching_is_open(m, 0, to) &&
				m->class[0][to] != GRAPH_NONE)
				unite(m, class, m->class[0][to], classes);
		}
	}
}

/* Takes one class of each set of classes that belong together, in order; it tells its neighbours apart.  -1: out of
 * memory. */
static int32_t break_ties(struct matching *m)
{
	size_t n = list_members(m, color_key);
	cleanup_free struct class *classes = calloc(n + 1, sizeof(*classes));
	int32_t n_classes = classes ? list_classes(m, n, classes) : 0, joined = 0;

	if (!classes)
		return -1;
	unite_neighbours(m, classes);
	for (int32_t i = 0; i < n_classes; i++)
		if (find_root(m, i) == i)
			joined += join_class(m, &classes[i]);
	return joined;
}

void matching_solve(struct matching *m)
{
	size_t classes, before = 0;

	for (int round = 0; round < ROUNDS_MAX; round++) {
		close_joined(m);
		refine(m);
		if (matching_join_all(m, color_key, true, &classes) == 0 && classes <= before) {
			if (break_ties(m) <= 0)
				break;
			classes = 0;
		}
		before = classes;
	}
	matching_join_all(m, color_key, false, NULL);
}

bool matching_has_open_processes(const struct matching *m)
{
	bool has[2] = { false, false };

	for (int run = 0; run < 2; run++)
		for (int32_t i = 0; i < m->n_open[run]; i++)
			has[run] |= matching_is_open(m, run, m->open[run][i]) &&
				    side_is_process(m->match->side[run], m->open[run][i]);
	return has[0] && has[1];
}

/* ---- the whole ---- */

static int make_room(struct matching *m)
{
	size_t all = 1;

	for (int run = 0; run < 2; run++) {
		size_t n = (size_t)m->match->side[run]->n_nodes + 1;

		all += n;
		m->match->pair[run] = calloc(n, sizeof(*m->match->pair[run]));
		m->color[run] = calloc(n, sizeof(*m->color[run]));
		m->next[run] = calloc(n, sizeof(*m->next[run]));
		m->open[run] = calloc(n, sizeof(*m->open[run]));
		if (!m->match->pair[run] || !m->color[run] || !m->next[run] || !m->open[run])
			return -ENOMEM;
	}
	m->members = calloc(all, sizeof(*m->members));
	m->class[0] = calloc(all, sizeof(*m->class[0]));
	m->root = calloc(all, sizeof(*m->root));
	return m->members && m->class[0] && m->root ? 0 : -ENOMEM;
}

static void begin(struct matching *m)
{
	for (int run = 0; run < 2; run++) {
		const struct side *side = m->match->side[run];

		for (int32_t i = 0; i < side->n_nodes; i++) {
			m->match->pair[run][i] = GRAPH_NONE;
			m->color[run][i] = side->label[i];
			if (side->shown[i])
				m->open[run][m->n_open[run]++] = i;
		}
	}
}

int match_create(const struct side *const sides[2], struct names *names, struct match **ret_match)
{
	struct match *match = calloc(1, sizeof(*match));
	struct matching m = { .match = match, .names = names };
	int r = -ENOMEM;

	if (!match)
		return r;
	match->side[0] = sides[0];
	match->side[1] = sides[1];
	r = make_room(&m);
	if (r == 0) {
		begin(&m);
		matching_join_all(&m, label_key, true, NULL);
		matching_solve(&m);
		match_weak(&m);
		r = changed_match(&m);
		match_weak(&m);
	}
	for (int run = 0; run < 2; run++) {
		free(m.color[run]);
		free(m.next[run]);
		free(m.open[run]);
	}
	free(m.members);
	free(m.class[0]);
	free(m.root);
	if (r < 0) {
		match_destroy(match);
		return r;
	}
	*ret_match = match;
	return 0;
}

void match_destroy(struct match *match)
{
	if (!match)
		return;
	free(match->pair[0]);
	free(match->pair[1]);
	free(match);
}
