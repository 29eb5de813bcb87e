/* SPDX-License-Identifier: MIT */

/* Prerequisites that a target does not need. */

#include <stddef.h>
#include <string.h>

#include "dag/check/check.h"
#include "dag/check/precede.h"

#define LOOKS_MAX 4096

/* Did the recipe do anything with what a recipe of this target wrote? */
static bool is_product_used(const struct build *build, int32_t recipe, int32_t target)
{
	for (int32_t i = build->nodes[target].recipe; i != BUILD_NONE; i = build->recipes[i].same) {
		const struct build_recipe *maker = &build->recipes[i];

		if (maker->has_inner)
			return true; /* what the inner make read is not known */
		for (int32_t k = 0; k < maker->n_uses; k++) {
			const struct build_use *use = &build->uses[maker->first_use + k];

			if ((use->kinds & USE_WRITES) && build_find_use(build, recipe, use->node))
				return true;
		}
	}
	return false;
}

/* Did it use it, what is made with it, or what it waits for itself?  Then it is there for the order.  Where
 * there is too much to look at, it is taken for used. */
static bool is_used(const struct build *build, int32_t recipe, int32_t node, int *budget)
{
	const struct build_node *p = &build->nodes[node];

	if (--*budget < 0 || build_find_use(build, recipe, node) ||
		is_product_used(build, recipe, node))
		return true;
	for (int32_t i = 0; i < p->n_edges; i++)
		if (p->edges[i].to != build->recipes[recipe].node &&
			is_used(build, recipe, p->edges[i].to, budget))
			return true;
	return false;
}

/* "Make it again when the build is set up anew." */
static bool is_setup(const char *base)
{
	return strcmp(base, "config.status") == 0 || strcmp(base, "configure") == 0 ||
	       strncmp(base, "Makefile", 8) == 0 || strcmp(base, "GNUmakefile") == 0;
}

/* A makefile is there on purpose, an empty file is a stamp, and of what is no file there is nothing to read. */
static bool is_meant(const struct build *build, int32_t node)
{
	unsigned flags = build->nodes[node].flags;

	return !(flags & BUILD_FILE) || strstr(path_names_base(build_path(build, node)), "stamp") ||
	       is_setup(path_names_base(build_path(build, node))) ||
	       (flags & (BUILD_DIRECTORY | BUILD_LINK | BUILD_EMPTY | BUILD_MAKEFILE |
				BUILD_UNSEEN));
}

/* Recipes that only touch their target, or start another make, say nothing about what they need. */
static bool says_something(const struct build *build, int32_t recipe)
{
	const struct build_recipe *r = &build->recipes[recipe];
	const struct build_node *node = &build->nodes[r->node];

	if (r->failed || r->has_inner || (node->flags & BUILD_LINK) ||
		build_is_phony(build, recipe))
		return false;
	for (int32_t i = 0; i < node->n_edges; i++) {
		const struct build_use *use = build_find_use(build, recipe, node->edges[i].to);

		if (node->edges[i].kind != BUILD_DEPFILE && use && (use->kinds & USE_READS))
			return true;
	}
	return false;
}

int check_redundant(struct check *c, int32_t recipe)
{
	const struct build *build = c->build;
	const struct build_node *node = &build->nodes[build->recipes[recipe].node];
	int r = 0;

	if (!says_something(build, recipe))
		return 0;
	for (int32_t i = 0; i < node->n_edges && r == 0; i++) {
		int32_t to = node->edges[i].to;
		int budget = LOOKS_MAX;

		if (node->edges[i].kind == BUILD_NORMAL && check_cares(c, to) &&
			!is_meant(build, to) && !is_used(build, recipe, to, &budget))
			r = check_add(c, &(struct check_finding){ .kind = CHECK_REDUNDANT,
						 .recipe = recipe,
						 .other = BUILD_NONE,
						 .file = to,
						 .need = to });
	}
	return r;
}
