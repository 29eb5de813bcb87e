/* SPDX-License-Identifier: MIT */
#include "dag/check/check.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/vector.h"
#include "dag/check/precede.h"

#define WRITERS_MAX 64 /* of one file, that are compared with each other */

const char *const check_kinds[] = { "missing", "redundant", "unordered", "ghost", NULL };
_Static_assert(sizeof(check_kinds) / sizeof(check_kinds[0]) == CHECK_MAX + 1, "a name for each");

int check_add(struct check *check, const struct check_finding *finding)
{
	if (!(check->options.kinds & (1u << finding->kind)))
		return 0;
	return vector_push(check->findings, check->n, *finding);
}

/* ---- files that findings leave out ---- */

static bool has_part(const char *path, const char *part)
{
	size_t len = strlen(part);

	for (const char *at = strchr(path, '/'); at; at = strchr(at + 1, '/'))
		if (strncmp(at + 1, part, len) == 0 && (at[1 + len] == '/' || at[1 + len] == '\0'))
			return true;
	return false;
}

static bool has_end(const char *path, const char *end)
{
	size_t len = strlen(path), n = strlen(end);

	return len >= n && strcmp(path + len - n, end) == 0;
}

/* Files that tools keep for themselves; the tools themselves order accesses to them. */
static bool is_bookkeeping(const char *path)
{
	static const char *const parts[] = { ".git", ".hg", ".svn", "__pycache__", ".ccache",
		".cache", "autom4te.cache", "config.log" };
	static const char *const ends[] = { ".pyc", ".gcda", ".lock", ".lck" };

	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		if (has_part(path, parts[i]))
			return true;
	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++)
		if (has_end(path, ends[i]))
			return true;
	/* What CMake hands on to itself; it answers for that. */
	return has_part(path, "CMakeFiles") &&
	       (has_end(path, ".cmake") || has_end(path, ".make") || has_end(path, ".ts") ||
		       has_end(path, ".txt"));
}

bool check_cares(const struct check *check, int32_t node)
{
	return check->cares[node];
}

static bool is_of_interest(const struct check *check, int32_t node)
{
	const char *path = build_path(check->build, node);
	unsigned flags = check->build->nodes[node].flags;

	if (check->build->nodes[node].n_of > 0 && !(flags & (BUILD_FILE | BUILD_LINK)))
		return false;
	if (check->options.root && !path_names_is_below(check->options.root, path))
		return false;
	return !is_bookkeeping(path);
}

/* ---- order ---- */

static bool is_before(struct precede *of, const struct build *build, int32_t first, int32_t then)
{
	enum precede_how how;

	precede_of(of, then);
	how = precede_how(of, build->recipes[first].node);
	return how == PRECEDE_REMAKES || how == PRECEDE_ORDER;
}

/* What could lie behind an alias had ended when the other began. */
static bool may_hide(const struct precede *of, const struct build *build, int32_t first,
	int32_t then)
{
	return precede_has_alias(of) &&
	       build->recipes[first].end_ns <= build->recipes[then].start_ns;
}

enum check_order check_order(struct check *c, int32_t *a, int32_t *b)
{
	const struct build *build = c->build;
	int32_t before = *a;
	struct precede *of;

	if (!precede_lift(build, a, b) || build->recipes[*a].node == build->recipes[*b].node ||
		build_is_for_makefiles(build, *a) != build_is_for_makefiles(build, *b))
		return CHECK_ORDERED;
	of = *a == before ? c->of : c->far;
	if (is_before(of, build, *b, *a) || is_before(c->against, build, *a, *b))
		return CHECK_ORDERED;
	if (may_hide(of, build, *b, *a) || may_hide(c->against, build, *a, *b))
		return CHECK_UNSURE;
	return CHECK_LOOSE;
}

/* ---- unordered ---- */

struct check_finding check_unordered(const struct check *c, int32_t a, int32_t b, int32_t file)
{
	return (struct check_finding){ .kind = CHECK_UNORDERED,
		.recipe = a,
		.other = b,
		.file = file,
		.need = c->build->recipes[b].node,
		.order_only = true };
}

/* Two that add to the end of a log do each other no harm. */
static bool collide(const struct build_use *a, const struct build_use *b)
{
	const unsigned changes = USE_WRITES | USE_DELETE;

	if (!(a->kinds & changes) || !(b->kinds & changes) || !((a->kinds | b->kinds) & USE_WRITES))
		return false;
	return !(a->kinds & b->kinds & USE_APPEND) ||
	       ((a->kinds | b->kinds) & (USE_WRITE | USE_RENAME));
}

static int check_pair(struct check *c, const struct build_use *first, const struct build_use *then,
	bool *ret_found)
{
	int32_t a = then->recipe, b = first->recipe;
	struct check_finding finding;

	*ret_found = false;
	if (!collide(first, then) || check_order(c, &a, &b) != CHECK_LOOSE)
		return 0;
	*ret_found = true;
	finding = check_unordered(c, a, b, then->node);
	finding.use = then;
	finding.cause = first;
	return check_add(c, &finding);
}

static int compare_writes(const void *x, const void *y)
{
	const struct build_use *a = *(const struct build_use *const *)x,
			       *b = *(const struct build_use *const *)y;

	return a->out_ns != b->out_ns ? (a->out_ns < b->out_ns ? -1 : 1)
				      : (a->recipe > b->recipe) - (a->recipe < b->recipe);
}

/* Compares each writer of a file with the writers before it; one finding each. */
static int check_writers(struct check *c, int32_t n)
{
	const struct build_node *node = &c->build->nodes[n];
	const struct build_use *writers[WRITERS_MAX];
	int count = 0, r = 0;

	for (int32_t i = 0; i < node->n_of && count < WRITERS_MAX; i++) {
		const struct build_use *use =
			&c->build->uses[c->build->of_node[node->first_of + i]];

		if (use->kinds & (USE_WRITES | USE_DELETE))
			writers[count++] = use;
	}
	qsort(writers, count, sizeof(writers[0]), compare_writes);
	for (int i = 1; i < count && r == 0; i++) {
		bool found = false;

		for (int k = i - 1; k >= 0 && !found && r == 0; k--)
			r = check_pair(c, writers[k], writers[i], &found);
	}
	return r;
}

static int check_writes(struct check *c)
{
	int r = 0;

	for (int32_t n = 0; n < c->build->n_nodes && r == 0; n++)
		if (c->build->nodes[n].n_of > 1 && check_cares(c, n))
			r = check_writers(c, n);
	return r;
}

/* ---- missing names ---- */

/* What a recipe both looked for and read is missing, which says more. */
static bool reads_later(const struct check *c, const struct build_missing_name *name)
{
	const struct build_use *use = build_find_use(c->build, name->recipe, name->node);

	return name->found == BUILD_NONE && use && (use->kinds & USE_READS);
}

/* If another recipe made the file later in this run, the order of the two decides what the recipe finds. */
static int check_missing_name(struct check *c, const struct build_missing_name *name)
{
	const struct build_node *node = &c->build->nodes[name->node];
	struct check_finding finding;

	for (int32_t i = 0; i < node->n_of; i++) {
		const struct build_use *maker =
			&c->build->uses[c->build->of_node[node->first_of + i]];
		int32_t a = name->recipe, b = maker->recipe;

		if (!(maker->kinds & USE_WRITES) ||
			(name->found == BUILD_NONE && maker->out_ns < name->time_ns))
			continue;
		if (a == b || reads_later(c, name) || check_order(c, &a, &b) != CHECK_LOOSE)
			return 0;
		finding = check_unordered(c, a, b, name->node);
		finding.cause = maker;
		finding.missing_name = name;
		return check_add(c, &finding);
	}
	if (name->found == BUILD_NONE || node->n_of || (node->flags & (BUILD_FILE | BUILD_DIRECTORY)))
		return 0;
	return check_add(c, &(struct check_finding){ .kind = CHECK_MISSING_NAME,
				    .recipe = name->recipe,
				    .other = BUILD_NONE,
				    .file = name->node,
				    .need = name->found,
				    .missing_name = name });
}

static int check_missing_names(struct check *c)
{
	int r = 0;

	for (int32_t i = 0; i < c->build->n_missing_names && r == 0; i++)
		if (check_cares(c, c->build->missing_names[i].node))
			r = check_missing_name(c, &c->build->missing_names[i]);
	return r;
}

/* ---- all of it ---- */

static const struct build *sorted_by; /* qsort() hands nothing on; one thread */

static int compare_findings(const void *x, const void *y)
{
	const struct check_finding *a = x, *b = y;
	int order;

	if (a->kind != b->kind)
		return a->kind < b->kind ? -1 : 1;
	order = strcmp(build_path(sorted_by, sorted_by->recipes[a->recipe].node),
		build_path(sorted_by, sorted_by->recipes[b->recipe].node));
	if (order == 0)
		order = strcmp(build_path(sorted_by, a->file), build_path(sorted_by, b->file));
	return order ? order : (a->other > b->other) - (a->other < b->other);
}

static bool is_same(const struct check_finding *a, const struct check_finding *b)
{
	return a->kind == b->kind && a->file == b->file &&
	       sorted_by->recipes[a->recipe].node == sorted_by->recipes[b->recipe].node;
}

static void sort(struct check *c)
{
	int32_t n = 0;

	sorted_by = c->build;
	if (c->n)
		qsort(c->findings, c->n, sizeof(*c->findings), compare_findings);
	for (int32_t i = 0; i < c->n; i++)
		if (n == 0 || !is_same(&c->findings[n - 1], &c->findings[i]))
			c->findings[n++] = c->findings[i];
	c->n = n;
}

int check_run(const struct build *build, const struct check_options *options,
	struct check *ret_check)
{
	struct check *c = ret_check;
	int r;

	*c = (struct check){ .build = build,
		.options = *options,
		.of = precede_create(build),
		.against = precede_create(build),
		.far = precede_create(build),
		.cares = calloc((size_t)build->n_nodes + 1, 1) };
	if (!c->of || !c->against || !c->far || !c->cares)
		return -ENOMEM;
	for (int32_t i = 0; i < build->n_nodes; i++)
		c->cares[i] = is_of_interest(c, i);
	r = check_missing(c);
	if (r == 0)
		r = check_writes(c);
	for (int32_t i = 0;
		i < build->n_recipes && r == 0 && (options->kinds & (1u << CHECK_REDUNDANT)); i++)
		r = check_redundant(c, i);
	if (r == 0)
		r = check_missing_names(c);
	if (r == 0)
		sort(c);
	return r;
}

void check_finish(struct check *check)
{
	precede_destroy(check->of);
	precede_destroy(check->against);
	precede_destroy(check->far);
	free(check->findings);
	free(check->cares);
}
