/* SPDX-License-Identifier: MIT */

/* What recipes read, and which recipes make it. */

#include <string.h>

#include "dag/check/check.h"
#include "dag/check/precede.h"

static int add_missing(struct check *c, const struct build_use *use, const struct build_use *maker,
	enum precede_how how)
{
	const struct build *build = c->build;
	int32_t need = use->node, made = maker ? build->recipes[maker->recipe].node : need;

	/* What a recipe makes beside its target is none that make knows. */
	if (maker && !(build->nodes[need].flags & BUILD_TARGET) && !build->is_complete)
		need = made;
	return check_add(c, &(struct check_finding){ .kind = CHECK_MISSING,
				    .recipe = use->recipe,
				    .other = maker ? maker->recipe : BUILD_NONE,
				    .file = use->node,
				    .need = need,
				    .order_only = maker && how == PRECEDE_DEPFILE,
				    .use = use,
				    .cause = maker });
}

/* Whether a change of the file makes the target anew; the recipe is that of c->of. */
static bool is_remade_for(const struct check *c, const struct build_use *use,
	const struct build_use *maker)
{
	const struct build *build = c->build;

	if (precede_is_always_made(c->of) || build_is_phony(build, use->recipe) ||
		precede_how(c->of, use->node) != PRECEDE_NOT)
		return true;
	for (int32_t i = maker ? maker->recipe : BUILD_NONE; i != BUILD_NONE;
		i = build->recipes[i].outer)
		if (precede_how(c->of, build->recipes[i].node) != PRECEDE_NOT)
			return true;
	return false;
}

static bool is_archive(const char *path)
{
	size_t len = strlen(path);

	return len > 2 && strcmp(path + len - 2, ".a") == 0;
}

static bool has_edge(const struct build_node *node, int32_t to)
{
	for (int32_t i = 0; i < node->n_edges; i++)
		if (node->edges[i].to == to)
			return true;
	return false;
}

/* Of a prerequisite like lib.a(x.o) make tells the member alone: one that the archive is made of, and that
 * the recipe does not read. */
static bool is_declared_by_member(const struct check *c, const struct build_use *use,
	const struct build_use *maker)
{
	const struct build *build = c->build;
	const struct build_node *node = &build->nodes[build->recipes[use->recipe].node];
	const struct build_node *archive = &build->nodes[build->recipes[maker->recipe].node];

	if (!is_archive(build_path(build, use->node)))
		return false;
	for (int32_t i = 0; i < node->n_edges; i++) {
		int32_t member = node->edges[i].to;

		if (has_edge(archive, member) && !build_find_use(build, use->recipe, member))
			return true;
	}
	return false;
}

/* A file that another recipe of the same driver makes: 1 if it is declared, or may be. */
static int is_declared_here(struct check *c, const struct build_use *use,
	const struct build_use *maker)
{
	int32_t a = use->recipe, b = maker->recipe;
	enum precede_how how;
	enum check_order order;

	precede_of(c->of, use->recipe);
	how = precede_how(c->of, use->node);
	if ((c->build->nodes[use->node].flags & BUILD_TARGET) &&
		(how == PRECEDE_REMAKES || how == PRECEDE_ORDER))
		return 1;
	if (is_declared_by_member(c, use, maker))
		return 1;
	order = check_order(c, &a, &b);
	c->unsure += order == CHECK_UNSURE;
	return order != CHECK_LOOSE;
}

/* One whose maker belongs to another driver. */
static int check_far(struct check *c, const struct build_use *use, const struct build_use *maker)
{
	int32_t a = use->recipe, b = maker->recipe;
	enum check_order order = check_order(c, &a, &b);
	int r = 0;

	c->unsure += order == CHECK_UNSURE;
	if (order == CHECK_LOOSE) {
		struct check_finding finding = check_unordered(c, a, b, use->node);

		finding.use = use;
		finding.cause = maker;
		r = check_add(c, &finding);
	}
	precede_of(c->of, use->recipe);
	if (r == 0 && order != CHECK_UNSURE && !is_remade_for(c, use, maker))
		r = add_missing(c, use, NULL, PRECEDE_NOT);
	return r;
}

static int check_made(struct check *c, const struct build_use *use, const struct build_use *maker)
{
	int32_t a = use->recipe, b = maker->recipe;
	bool lifted = precede_lift(c->build, &a, &b);

	if (build_is_inside(c->build, maker->recipe, use->recipe) ||
		build_is_inside(c->build, use->recipe, maker->recipe))
		return 0;
	if (!lifted || a != use->recipe || b != maker->recipe)
		return check_far(c, use, maker);
	if (is_declared_here(c, use, maker))
		return 0;
	precede_of(c->of, use->recipe);
	return add_missing(c, use, maker, precede_how(c->of, use->node));
}

/* For each reader of a file there is at most one finding: with the first maker that gives one. */
static int check_read(struct check *c, const struct build_use *use)
{
	const struct build_node *node = &c->build->nodes[use->node];
	bool is_made = false;
	int32_t before = c->n;
	int r = 0;

	for (int32_t i = 0; i < node->n_of && r == 0 && c->n == before; i++) {
		const struct build_use *maker =
			&c->build->uses[c->build->of_node[node->first_of + i]];

		if (!(maker->kinds & USE_WRITES) || maker->recipe == use->recipe)
			continue;
		is_made = true;
		r = check_made(c, use, maker);
	}
	if (is_made || r < 0)
		return r;
	precede_of(c->of, use->recipe);
	return is_remade_for(c, use, NULL) ? 0 : add_missing(c, use, NULL, PRECEDE_NOT);
}

int check_missing(struct check *c)
{
	int r = 0;

	for (int32_t i = 0; i < c->build->n_uses && r == 0; i++) {
		const struct build_use *use = &c->build->uses[i];

		if ((use->kinds & USE_READS) && !(use->kinds & USE_WRITES) &&
			check_cares(c, use->node))
			r = check_read(c, use);
	}
	return r;
}
