/* SPDX-License-Identifier: MIT */
#include "dag/check/precede.h"

#include <stdlib.h>
#include <string.h>

struct precede {
	const struct build *build;
	int32_t recipe;
	uint32_t *marks; /* 4 * epoch + how; of an older epoch: not */
	uint32_t epoch;
	int32_t *queues[PRECEDE_DEPFILE + 1]; /* nodes that wait to be gone through, by how */
	int32_t queued[PRECEDE_DEPFILE + 1];
	bool has_alias, is_always_made;
};

struct precede *precede_create(const struct build *build)
{
	struct precede *p = calloc(1, sizeof(*p));
	size_t n = (size_t)build->n_nodes + 1;

	if (!p)
		return NULL;
	p->build = build;
	p->recipe = BUILD_NONE;
	p->marks = calloc(n, sizeof(*p->marks));
	for (int how = PRECEDE_REMAKES; how <= PRECEDE_DEPFILE; how++)
		p->queues[how] = reallocarray(NULL, n, sizeof(int32_t));
	if (p->marks && p->queues[PRECEDE_REMAKES] && p->queues[PRECEDE_ORDER] &&
		p->queues[PRECEDE_DEPFILE])
		return p;
	precede_destroy(p);
	return NULL;
}

void precede_destroy(struct precede *p)
{
	if (!p)
		return;
	for (int how = 0; how <= PRECEDE_DEPFILE; how++)
		free(p->queues[how]);
	free(p->marks);
	free(p);
}

/* Names that stand for "always". */
static bool is_force(const char *name)
{
	static const char *const names[] = { "FORCE", ".FORCE", "force", ".force", "_force", "FRC",
		"cmake_force", "always", "ALWAYS" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strcmp(name, names[i]) == 0)
			return true;
	return false;
}

/* What is no file is made each time, and whatever has it as a prerequisite; and if nothing else is known of
 * it, it is an alias. */
static void look_for_alias(struct precede *p, int32_t n, enum precede_how how)
{
	const struct build_node *node = &p->build->nodes[n];
	unsigned files = BUILD_FILE | BUILD_LINK | (how == PRECEDE_REMAKES ? 0 : BUILD_DIRECTORY);

	if (p->build->is_complete || how == PRECEDE_DEPFILE || (node->flags & files))
		return;
	if (how == PRECEDE_REMAKES)
		p->is_always_made = true;
	if (!(node->flags & BUILD_TARGET) && !node->n_edges &&
		!is_force(path_names_base(build_path(p->build, n))))
		p->has_alias = true;
}

static void reach(struct precede *p, int32_t n, enum precede_how how)
{
	enum precede_how known = precede_how(p, n);

	if (known != PRECEDE_NOT && known <= how)
		return;
	/* It may wait in several queues, in each once; the first turn is the best, and the only one it gets. */
	p->marks[n] = 4 * p->epoch + how;
	p->queues[how][p->queued[how]++] = n;
	look_for_alias(p, n, how);
}

static void reach_makers(struct precede *p, const struct build_node *node, enum precede_how how)
{
	const struct build *b = p->build;

	for (int32_t i = 0; i < node->n_of; i++) {
		const struct build_use *use = &b->uses[b->of_node[node->first_of + i]];

		if ((use->kinds & USE_WRITES) && use->recipe != p->recipe &&
			b->recipes[use->recipe].end_ns <= b->recipes[p->recipe].start_ns)
			reach(p, b->recipes[use->recipe].node, how);
	}
}

static void go_on(struct precede *p, int32_t n, enum precede_how how)
{
	static const enum precede_how of_kind[] = { [BUILD_NORMAL] = PRECEDE_REMAKES,
		[BUILD_ALIAS] = PRECEDE_REMAKES,
		[BUILD_ORDER] = PRECEDE_ORDER,
		[BUILD_DEPFILE] = PRECEDE_DEPFILE };
	const struct build_node *node = &p->build->nodes[n];

	for (int32_t i = 0; i < node->n_edges; i++) {
		enum precede_how next = of_kind[node->edges[i].kind];

		reach(p, node->edges[i].to, next > how ? next : how);
	}
	if (!(node->flags & BUILD_TARGET))
		reach_makers(p, node, how);
}

void precede_of(struct precede *p, int32_t recipe)
{
	if (p->recipe == recipe)
		return;
	p->recipe = recipe;
	p->has_alias = p->is_always_made = false;
	if (++p->epoch == UINT32_MAX / 4) {
		memset(p->marks, 0, sizeof(*p->marks) * p->build->n_nodes);
		p->epoch = 1;
	}
	memset(p->queued, 0, sizeof(p->queued));
	reach(p, p->build->recipes[recipe].node, PRECEDE_REMAKES);
	/* What is reached in the best way first is not gone through again. */
	for (int how = PRECEDE_REMAKES; how <= PRECEDE_DEPFILE; how++)
		while (p->queued[how] > 0) {
			int32_t n = p->queues[how][--p->queued[how]];

			if (precede_how(p, n) == (enum precede_how)how)
				go_on(p, n, how);
		}
}

enum precede_how precede_how(const struct precede *p, int32_t node)
{
	uint32_t mark = p->marks[node];

	return mark / 4 == p->epoch ? mark % 4 : PRECEDE_NOT;
}

bool precede_has_alias(const struct precede *p)
{
	return p->has_alias;
}

bool precede_is_always_made(const struct precede *p)
{
	return p->is_always_made;
}

bool precede_lift(const struct build *build, int32_t *a, int32_t *b)
{
	for (int32_t x = *a; x != BUILD_NONE; x = build->recipes[x].outer)
		for (int32_t y = *b; y != BUILD_NONE; y = build->recipes[y].outer) {
			if (x == y)
				return false;
			if (build->recipes[x].driver == build->recipes[y].driver) {
				*a = x;
				*b = y;
				return true;
			}
		}
	return false;
}
