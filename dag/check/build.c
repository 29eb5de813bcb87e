/* SPDX-License-Identifier: MIT */
#include "dag/check/build.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/vector.h"

struct build *build_create(void)
{
	struct build *build = calloc(1, sizeof(*build));

	if (!build)
		return NULL;
	build->names = path_names_create();
	build->texts = path_names_create();
	if (build->names && build->texts)
		return build;
	build_destroy(build);
	return NULL;
}

void build_destroy(struct build *build)
{
	if (!build)
		return;
	for (int32_t i = 0; i < build->n_nodes; i++)
		free(build->nodes[i].edges);
	path_names_destroy(build->names);
	path_names_destroy(build->texts);
	free(build->nodes);
	free(build->recipes);
	free(build->uses);
	free(build->of_node);
	free(build->missing_names);
	free(build->makefiles);
	free(build);
}

int32_t build_node(struct build *build, const char *path)
{
	int32_t number = path_names_add(build->names, path, strlen(path));
	const struct build_node node = {
		.recipe = BUILD_NONE, .directory = PATH_NAMES_NONE, .name = PATH_NAMES_NONE
	};

	if (number < build->n_nodes) /* or -ENOMEM */
		return number;
	return vector_push(build->nodes, build->n_nodes, node) < 0 ? -ENOMEM : number;
}

int build_declare(struct build *build, int32_t target, int32_t prerequisite,
	enum build_declared kind)
{
	struct build_node *node = &build->nodes[target];

	return vector_push(node->edges, node->n_edges, (struct build_edge){ prerequisite, kind });
}

int build_call(struct build *build, int32_t target, const char *directory, const char *name)
{
	int32_t d = path_names_add(build->texts, directory, strlen(directory));
	int32_t n = path_names_add(build->texts, name, strlen(name));

	if (d < 0 || n < 0)
		return -ENOMEM;
	build->nodes[target].directory = d;
	build->nodes[target].name = n;
	build->nodes[target].flags |= BUILD_TARGET;
	return 0;
}

int32_t build_recipe(struct build *build, int32_t target, int64_t driver)
{
	int32_t i = build->nodes[target].recipe;

	for (; i != BUILD_NONE; i = build->recipes[i].same)
		if (build->recipes[i].driver == driver)
			return i;
	if (vector_reserve(build->recipes, build->n_recipes) < 0)
		return -ENOMEM;
	build->recipes[build->n_recipes] = (struct build_recipe){ .node = target,
		.same = build->nodes[target].recipe,
		.outer = BUILD_NONE,
		.driver = driver,
		.start_ns = INT64_MAX,
		.end_ns = INT64_MIN,
		.makefiles_ns = INT64_MIN };
	build->nodes[target].recipe = build->n_recipes;
	return build->n_recipes++;
}

int build_use(struct build *build, const struct build_use *use)
{
	return vector_push(build->uses, build->n_uses, *use);
}

int build_missing_name(struct build *build, const struct build_missing_name *name)
{
	return vector_push(build->missing_names, build->n_missing_names, *name);
}

/* ---- the end ---- */

static int compare_uses(const void *x, const void *y)
{
	const struct build_use *a = x, *b = y;

	if (a->recipe != b->recipe)
		return a->recipe < b->recipe ? -1 : 1;
	return (a->node > b->node) - (a->node < b->node);
}

static void add_use(struct build_use *to, const struct build_use *use)
{
	to->kinds |= use->kinds;
	if (use->in_ns < to->in_ns) {
		to->in_ns = use->in_ns;
		to->reader = use->reader;
	}
	if (use->out_ns < to->out_ns) {
		to->out_ns = use->out_ns;
		to->writer = use->writer;
	}
}

static void merge_uses(struct build *build)
{
	int32_t n = 0;

	if (build->n_uses)
		qsort(build->uses, build->n_uses, sizeof(*build->uses), compare_uses);
	for (int32_t i = 0; i < build->n_uses; i++) {
		const struct build_use use = build->uses[i];

		if (n > 0 && compare_uses(&build->uses[n - 1], &use) == 0)
			add_use(&build->uses[n - 1], &use);
		else
			build->uses[n++] = use;
	}
	build->n_uses = n;
	for (int32_t i = n - 1; i >= 0; i--) {
		build->recipes[build->uses[i].recipe].first_use = i;
		build->recipes[build->uses[i].recipe].n_uses++;
	}
}

static int index_nodes(struct build *build)
{
	int32_t at = 0;

	build->of_node = reallocarray(NULL, (size_t)build->n_uses + 1, sizeof(int32_t));
	if (!build->of_node)
		return -ENOMEM;
	for (int32_t i = 0; i < build->n_uses; i++)
		build->nodes[build->uses[i].node].n_of++;
	for (int32_t i = 0; i < build->n_nodes; i++) {
		build->nodes[i].first_of = at;
		at += build->nodes[i].n_of;
		build->nodes[i].n_of = 0;
	}
	for (int32_t i = 0; i < build->n_uses; i++) {
		struct build_node *node = &build->nodes[build->uses[i].node];

		build->of_node[node->first_of + node->n_of++] = i;
	}
	return 0;
}

int build_read_by_driver(struct build *build, int64_t driver, int32_t node)
{
	build->nodes[node].flags |= BUILD_MAKEFILE;
	for (int32_t r = build->nodes[node].recipe; r != BUILD_NONE; r = build->recipes[r].same)
		build->recipes[r].remakes |= build->recipes[r].driver == driver;
	return vector_push(build->makefiles, build->n_makefiles, (struct build_makefile){ driver, node });
}

static void end_makefiles(struct build *build, const struct build_recipe *makefile)
{
	for (int32_t i = 0; i < build->n_recipes; i++) {
		struct build_recipe *r = &build->recipes[i];

		if (r->driver == makefile->driver && r->makefiles_ns < makefile->end_ns)
			r->makefiles_ns = makefile->end_ns;
	}
}

int build_finish(struct build *build)
{
	merge_uses(build);
	for (int32_t i = 0; i < build->n_recipes; i++)
		if (build->recipes[i].remakes)
			end_makefiles(build, &build->recipes[i]);
	for (int32_t i = 0; i < build->n_recipes; i++)
		if (build->recipes[i].outer != BUILD_NONE)
			build->recipes[build->recipes[i].outer].has_inner = true;
	return index_nodes(build);
}

/* ---- what is there ---- */

const struct build_use *build_find_use(const struct build *build, int32_t recipe, int32_t node)
{
	const struct build_use key = { .recipe = recipe, .node = node };
	const struct build_recipe *r = &build->recipes[recipe];

	return vector_find(&key, build->uses + r->first_use, (size_t)r->n_uses, sizeof(key),
		compare_uses);
}

bool build_is_inside(const struct build *build, int32_t recipe, int32_t outer)
{
	for (; recipe != BUILD_NONE; recipe = build->recipes[recipe].outer)
		if (recipe == outer)
			return true;
	return false;
}

bool build_is_for_makefiles(const struct build *build, int32_t recipe)
{
	return build->recipes[recipe].end_ns <= build->recipes[recipe].makefiles_ns;
}

bool build_is_phony(const struct build *build, int32_t recipe)
{
	return !(build->nodes[build->recipes[recipe].node].flags & (BUILD_FILE | BUILD_LINK));
}
