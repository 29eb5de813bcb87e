/* SPDX-License-Identifier: MIT */
#include "dag/check/annotate.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/output.h"
#include "base/vector.h"
#include "dag/check/rulefile.h"
#include "dag/container/hash.h"
#include "dag/output/annotations.h"

/* In the order of enum check_kind. */
static const struct annotation_rule rules[] = {
	{ "missing", "Missing prerequisite",
		"A recipe uses a file that is not among the prerequisites of its target. A parallel build may run the recipe before the "
		"file is there, or an incremental build may keep a target that is out of date. Add the prerequisite.",
		"error" },
	{ "redundant", "Unused prerequisite",
		"The recipe did not use a prerequisite of its target. The target is made again, and waits, for nothing. Remove the "
		"prerequisite, unless other runs need it.",
		"warning" },
	{ "unordered", "Recipes without an order",
		"Two recipes use the same file, one of them writes it, and nothing says which one comes first. The result of a parallel "
		"build depends on the order. Add an order-only prerequisite, or let the recipes use different files.",
		"error" },
	{ "ghost", "A missing file that would be used",
		"The recipe looked a missing file up, and then found a file of that name elsewhere. If a file appears in the first place, "
		"the recipe uses that one without being run again.",
		"note" },
};
_Static_assert(sizeof(rules) / sizeof(rules[0]) == CHECK_MAX, "a rule for each kind");

#define DECLARED (-2) /* in the place of a node: the CSV file */

struct annotating {
	const struct check *check;
	const struct annotate_options *options;
	struct mending mending;
	struct rulefile rulefile; /* of .driver, if .is_read */
	int64_t driver;
	bool is_read;
	struct annotation *all;
	int32_t n, outside;
};

/* ---- where ---- */

static int read_makefiles(struct annotating *a, int64_t driver)
{
	const struct build *build = a->check->build;
	int r = 0;

	if (a->is_read && a->driver == driver)
		return 0;
	rulefile_finish(&a->rulefile);
	a->is_read = true;
	a->driver = driver;
	if (a->options->declared)
		r = rulefile_read(&a->rulefile, a->options->declared, RULEFILE_CSV, DECLARED);
	for (int32_t i = 0; i < build->n_makefiles && r == 0; i++) {
		const struct build_makefile *m = &build->makefiles[i];

		if (m->driver == driver && path_names_is_below(a->options->root, build_path(build, m->node)))
			r = rulefile_read(&a->rulefile, build_path(build, m->node),
				a->options->mend == CHECK_MEND_NINJA ? RULEFILE_NINJA : RULEFILE_MAKE, m->node);
	}
	return r;
}

/* The makefile that a driver has read first, or BUILD_NONE. */
static int32_t first_makefile(const struct annotating *a, int64_t driver)
{
	const struct build *build = a->check->build;

	for (int32_t i = 0; i < build->n_makefiles; i++)
		if (build->makefiles[i].driver == driver &&
			path_names_is_below(a->options->root, build_path(build, build->makefiles[i].node)))
			return build->makefiles[i].node;
	return a->options->declared ? DECLARED : BUILD_NONE;
}

/* *ret_path: to be freed, NULL: there is none. */
static int find_place(struct annotating *a, const struct check_finding *f, char **ret_path, int32_t *ret_line)
{
	const struct build *build = a->check->build;
	const struct build_recipe *recipe = &build->recipes[f->recipe];
	const char *need = f->kind == CHECK_REDUNDANT ? build_path(build, f->need) : NULL;
	const struct rulefile_rule *rule = NULL;
	int32_t file;
	int r = read_makefiles(a, recipe->driver);

	*ret_path = NULL;
	*ret_line = 0;
	if (r == 0)
		r = rulefile_find(&a->rulefile, mend_directory(&a->mending, recipe->node), build_path(build, recipe->node), need, &rule);
	if (r < 0)
		return r;
	file = rule ? rule->file : first_makefile(a, recipe->driver);
	if (file == BUILD_NONE)
		return 0;
	*ret_line = rule ? rule->line : 0;
	*ret_path = path_names_relative(a->options->root, file == DECLARED ? a->options->declared : build_path(build, file));
	return *ret_path ? 0 : -ENOMEM;
}

/* ---- what ---- */

/* From the root on. */
static char *name_of(const struct annotating *a, int32_t node)
{
	return path_names_relative(a->options->root, build_path(a->check->build, node));
}

static void say_kind(FILE *out, const struct check_finding *f, const char *target, const char *other, const char *file)
{
	const char *verb = f->use && (f->use->kinds & USE_READS)
				   ? f->use->kinds & USE_EXECUTE ? "executes" : "reads"
				   : "uses";

	switch (f->kind) {
	case CHECK_MISSING:
		fprintf(out, "The recipe of '%s' %s '%s'", target, verb, file);
		if (other)
			fprintf(out, ", which the recipe of '%s' makes", other);
		fputs(", and does not declare it", out);
		break;
	case CHECK_REDUNDANT: fprintf(out, "The recipe of '%s' does not use its prerequisite '%s'", target, file); break;
	case CHECK_UNORDERED:
		fprintf(out, "The recipes of '%s' and '%s' both use '%s', and nothing orders them", target, other ? other : "?", file);
		break;
	default:
		fprintf(out, "The recipe of '%s' looks '%s' up, which does not exist, and then uses another file of that name", target,
			file);
	}
}

static char *sentence(const struct annotating *a, const struct check_finding *f, const char *target, const char *file)
{
	const struct build_recipe *recipes = a->check->build->recipes;
	cleanup_free char *other = f->other == BUILD_NONE ? NULL : name_of(a, recipes[f->other].node);
	cleanup_free char *mend = mend_line(&a->mending, f);
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (!out || !mend || (f->other != BUILD_NONE && !other)) {
		if (out)
			free(output_close_text(out, &text));
		return NULL;
	}
	say_kind(out, f, target, other, file);
	if (f->kind == CHECK_REDUNDANT)
		fprintf(out, ": %s", mend);
	else if (f->kind != CHECK_MISSING_NAME)
		fprintf(out, ": add '%s'", mend);
	return output_close_text(out, &text);
}

/* ---- all ---- */

static uint64_t fingerprint_of(const struct check_finding *f, const char *target, const char *file)
{
	uint64_t hash = hash_bytes(HASH_BEGIN, rules[f->kind].id, strlen(rules[f->kind].id) + 1);

	hash = hash_bytes(hash, target, strlen(target) + 1);
	return hash_mix(hash_bytes(hash, file, strlen(file)));
}

/* A phony target has a path, too. */
static bool is_inside(const struct annotating *a, const struct check_finding *f)
{
	const struct build *build = a->check->build;
	const int32_t nodes[] = { f->file, f->need, build->recipes[f->recipe].node,
		f->other == BUILD_NONE ? f->file : build->recipes[f->other].node };

	for (size_t i = 0; i < sizeof(nodes) / sizeof(nodes[0]); i++)
		if (!path_names_is_below(a->options->root, build_path(build, nodes[i])))
			return false;
	return true;
}

static int add(struct annotating *a, const struct check_finding *f)
{
	cleanup_free char *target = name_of(a, a->check->build->recipes[f->recipe].node), *file = name_of(a, f->file);
	cleanup_free char *text = target && file ? sentence(a, f, target, file) : NULL;
	cleanup_free char *place = NULL;
	struct annotation one = { .rule = (int32_t)f->kind };

	if (!text || find_place(a, f, &place, &one.line) < 0)
		return -ENOMEM;
	one.fingerprint = fingerprint_of(f, target, file);
	one.text = text;
	one.file = place;
	one.other = file;
	if (vector_push(a->all, a->n, one) < 0)
		return -ENOMEM;
	steal_ptr(&text);
	steal_ptr(&place);
	steal_ptr(&file);
	return 0;
}

static int print(const struct annotating *a, FILE *out)
{
	cleanup_free char *note = NULL;
	struct annotations all = { "wfdag check", rules, CHECK_MAX, a->all, a->n, NULL };

	if (asprintf(&note, "%d recipes, %d findings%s", a->check->build->n_recipes, a->n,
		    a->outside ? "; what is about files outside of the project is not named" : "") < 0)
		return -ENOMEM;
	all.note = note;
	return a->options->as == ANNOTATE_SARIF ? annotations_sarif(&all, out) : annotations_github(&all, out);
}

int check_annotate(const struct check *check, const struct annotate_options *options, FILE *out)
{
	struct annotating a = { .check = check, .options = options, .mending = { check, options->mend, true } };
	int r = 0;

	for (int32_t i = 0; i < check->n && r == 0; i++)
		if (is_inside(&a, &check->findings[i]))
			r = add(&a, &check->findings[i]);
		else
			a.outside++;
	if (r == 0)
		r = print(&a, out);
	for (int32_t i = 0; i < a.n; i++) {
		free((char *)a.all[i].text);
		free((char *)a.all[i].file);
		free((char *)a.all[i].other);
	}
	free(a.all);
	rulefile_finish(&a.rulefile);
	return r;
}
