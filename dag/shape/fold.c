/* SPDX-License-Identifier: MIT */
#include "dag/shape/fold.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "dag/shape/shape.h"

/* ---- nodes become one ---- */

/* A node and the key of its group; nodes of one kind with the same key become one node. */
struct belongs {
	const char *key;
	int32_t node;
};

static int compare_belongs(const void *x, const void *y, void *arg)
{
	const struct shape *shape = arg;
	const struct belongs *a = x, *b = y;
	enum node_kind p = shape->nodes[a->node].kind, q = shape->nodes[b->node].kind;
	int order = p != q ? (p < q ? -1 : 1) : strcmp(a->key, b->key);

	return order ? order : (a->node > b->node) - (a->node < b->node);
}

static void add_spans(struct shape *shape, struct shape_node *leader, const struct shape_node *node)
{
	if (node->first_span == SHAPE_NONE)
		return;
	if (leader->first_span == SHAPE_NONE)
		leader->first_span = node->first_span;
	else
		shape->spans[leader->last_span].next = node->first_span;
	leader->last_span = node->last_span;
}

static int compare_spans(const void *x, const void *y)
{
	const struct shape_span *a = x, *b = y;

	return (a->begin_ns > b->begin_ns) - (a->begin_ns < b->begin_ns);
}

/* The time in which any of them lived.  room: for all spans. */
static int64_t union_of_spans(const struct shape *shape, const struct shape_node *node, struct shape_span *room)
{
	int64_t life_ns = 0, until_ns = INT64_MIN;
	size_t n = 0;

	for (int32_t i = node->first_span; i != SHAPE_NONE; i = shape->spans[i].next)
		room[n++] = shape->spans[i];
	qsort(room, n, sizeof(*room), compare_spans);
	for (size_t i = 0; i < n; i++) {
		int64_t from_ns = room[i].begin_ns > until_ns ? room[i].begin_ns : until_ns;

		life_ns += room[i].end_ns > from_ns ? room[i].end_ns - from_ns : 0;
		until_ns = room[i].end_ns > until_ns ? room[i].end_ns : until_ns;
	}
	return n ? life_ns : -1;
}

/* Nodes come in their order, so that the parts of one process or file follow each other. */
static void add_member(struct shape_node *leader, const struct shape_node *node, bool another)
{
	leader->begin_ns = node->begin_ns < leader->begin_ns ? node->begin_ns : leader->begin_ns;
	leader->end_ns = node->end_ns > leader->end_ns ? node->end_ns : leader->end_ns;
	leader->failed |= node->failed;
	leader->running |= node->running;
	leader->critical |= node->critical;
	if (!another)
		return;
	leader->members += node->members;
	leader->cpu_ns = shape_sum(leader->cpu_ns, node->cpu_ns);
	leader->size_bytes = shape_sum(leader->size_bytes, node->size_bytes);
	leader->rss_bytes =
		node->rss_bytes > leader->rss_bytes ? node->rss_bytes : leader->rss_bytes;
}

/* to[]: of each node, the one that it becomes, which is none behind it. */
static int merge(struct shape *shape, int32_t *to)
{
	cleanup_free bool *kept = malloc((size_t)shape->n_nodes + 1);
	cleanup_free int32_t *last =
		malloc(((size_t)shape->n_nodes + 1) * sizeof(*last)); /* process or file */
	cleanup_free struct shape_span *room = malloc(((size_t)shape->n_spans + 1) * sizeof(*room));
	int32_t n = 0;

	if (!kept || !last || !room)
		return -ENOMEM;
	for (int32_t i = 0; i < shape->n_nodes; i++) {
		kept[i] = to[i] == i;
		if (!kept[i])
			add_spans(shape, &shape->nodes[to[i]], &shape->nodes[i]);
		if (!kept[i])
			add_member(&shape->nodes[to[i]], &shape->nodes[i],
				shape->nodes[i].of != last[to[i]]);
		last[to[i]] = shape->nodes[i].of;
	}
	for (int32_t i = 0; i < shape->n_nodes; i++)
		if (kept[i] && shape->nodes[i].first_span != shape->nodes[i].last_span)
			shape->nodes[i].life_ns = union_of_spans(shape, &shape->nodes[i], room);
	for (int32_t i = 0; i < shape->n_edges; i++) {
		struct shape_edge e = shape->edges[i];

		e.from = to[e.from];
		e.to = to[e.to];
		if (e.from != e.to)
			shape->edges[n++] = e;
	}
	shape->folded += shape->n_nodes;
	shape->n_edges = n;
	shape_join_edges(shape);
	n = shape_keep(shape, kept);
	shape->folded -= shape->n_nodes;
	return n;
}

/* Puts together what has the same key; the first of it is the one that stays. */
static void find_leaders(struct shape *shape, struct belongs *belongs, int32_t n, int32_t *to)
{
	for (int32_t i = 0; i < shape->n_nodes; i++)
		to[i] = i;
	qsort_r(belongs, n, sizeof(*belongs), compare_belongs, shape);
	for (int32_t i = 1; i < n; i++)
		if (shape->nodes[belongs[i].node].kind == shape->nodes[belongs[i - 1].node].kind &&
			strcmp(belongs[i].key, belongs[i - 1].key) == 0)
			to[belongs[i].node] = to[belongs[i - 1].node];
}

static void number_folded(struct shape *shape)
{
	int number = 0;

	for (int32_t i = 0; i < shape->n_nodes; i++)
		if (shape->nodes[i].label)
			snprintf(shape->nodes[i].id, sizeof(shape->nodes[i].id), "s%d", ++number);
}

typedef const char *key_of(const struct shape *shape, const struct shape_node *node,
	void *arg);

/* key(): NULL if a node stays what it is; the text must live as long as the shape. */
static int fold_by(struct shape *shape, key_of *key, void *arg)
{
	cleanup_free struct belongs *belongs =
		malloc(((size_t)shape->n_nodes + 1) * sizeof(*belongs));
	cleanup_free int32_t *to = malloc(((size_t)shape->n_nodes + 1) * sizeof(*to));
	int32_t n = 0;
	int r = belongs && to ? 0 : -ENOMEM;

	for (int32_t i = 0; r == 0 && i < shape->n_nodes; i++) {
		const char *text = key(shape, &shape->nodes[i], arg);

		if (text)
			belongs[n++] = (struct belongs){ text, i };
	}
	if (r == 0) {
		find_leaders(shape, belongs, n, to);
		for (int32_t i = 1; i < n; i++)
			if (to[belongs[i].node] == to[belongs[i - 1].node])
				shape->nodes[to[belongs[i].node]].label = belongs[i].key;
		r = merge(shape, to);
	}
	if (r == 0)
		number_folded(shape);
	return r;
}

/* ---- processes ---- */

static const char *group_key(const struct shape *shape, const struct shape_node *node,
	void *arg)
{
	const struct fold_options *o = arg;
	const struct task *t;

	if (node->kind != NODE_PROCESS)
		return NULL;
	t = workflow_task(shape->workflow, node->of);
	if (o->expand && t->phase && strcmp(t->phase, o->expand) == 0)
		return NULL;
	return shape->workflow->groups ? shape->workflow->groups[node->of] : NULL;
}

static const char *task_key(const struct shape *shape, const struct shape_node *node,
	void *arg)
{
	(void)arg;
	return node->kind == NODE_PROCESS ? workflow_task(shape->workflow, node->of)->task : NULL;
}

static const char *step_key(const struct shape *shape, const struct shape_node *node,
	void *arg)
{
	(void)arg;
	return node->kind == NODE_PROCESS ? workflow_task(shape->workflow, node->of)->step : NULL;
}

static const char *phase_key(const struct shape *shape, const struct shape_node *node,
	void *arg)
{
	(void)arg;
	return node->kind == NODE_PROCESS ? workflow_task(shape->workflow, node->of)->phase : NULL;
}

static const char *program_key(const struct shape *shape, const struct shape_node *node,
	void *arg)
{
	(void)arg;
	return node->kind == NODE_PROCESS ? workflow_task(shape->workflow, node->of)->program
					  : NULL;
}

/* All but the first ones, by kind. */
static const char *others_key(const struct shape *shape, const struct shape_node *node, void *arg)
{
	int32_t *left = arg;

	(void)shape;
	(void)node;
	return (*left)-- > 0 ? NULL : "(others)";
}

/* ---- files ---- */

struct directories {
	struct shape *shape; /* which keeps the texts */
	bool failed;	     /* out of memory */
};

static const char *directory_key(const struct shape *shape, const struct shape_node *node, void *arg)
{
	struct directories *directories = arg;
	const char *path =
		node->kind == NODE_FILE ? workflow_data(shape->workflow, node->of)->path : NULL;
	const char *slash = path ? strrchr(path, '/') : NULL, *label;
	cleanup_free char *copy = NULL;

	if (!slash)
		return NULL;
	copy = strndup(path, slash == path ? 1 : (size_t)(slash - path));
	label = copy ? shape_label(directories->shape, copy) : NULL;
	directories->failed |= !label;
	return label;
}

static int fold_directories(struct shape *shape)
{
	struct directories directories = { .shape = shape };
	int r = fold_by(shape, directory_key, &directories);

	return directories.failed ? -ENOMEM : r;
}

/* Which nodes are joined with a file, and how. */
struct neighbours {
	int32_t node;
	int32_t first, n; /* of ends[] */
};

struct ends {
	struct neighbours *files;
	int64_t *ends; /* node * 2 + whether it is the reader */
	const struct shape *shape;
};

static int compare_files(const void *x, const void *y, void *arg)
{
	const struct neighbours *a = x, *b = y;
	const struct ends *all = arg;
	enum node_kind p = all->shape->nodes[a->node].kind, q = all->shape->nodes[b->node].kind;

	if (p != q)
		return p < q ? -1 : 1;
	if (a->n != b->n)
		return a->n < b->n ? -1 : 1;
	for (int32_t i = 0; i < a->n; i++)
		if (all->ends[a->first + i] != all->ends[b->first + i])
			return all->ends[a->first + i] < all->ends[b->first + i] ? -1 : 1;
	return 0;
}

static int compare_nodes(const void *x, const void *y, void *arg)
{
	int order = compare_files(x, y, arg);
	int32_t a = ((const struct neighbours *)x)->node, b = ((const struct neighbours *)y)->node;

	return order ? order : (a > b) - (a < b);
}

/* Edges are in the order of their first end, then of the other: both lists come in order.  files[] has a
 * place for each node. */
static void list_ends(const struct shape *shape, struct ends *all)
{
	int32_t at = 0;

	for (int32_t i = 0; i < shape->n_nodes; i++)
		all->files[i] = (struct neighbours){ .node = i };
	for (int32_t i = 0; i < shape->n_edges; i++) {
		all->files[shape->edges[i].from].n++;
		all->files[shape->edges[i].to].n++;
	}
	for (int32_t i = 0; i < shape->n_nodes; i++) {
		all->files[i].first = at;
		at += all->files[i].n;
		all->files[i].n = 0;
	}
	for (int32_t i = 0; i < shape->n_edges; i++) {
		const struct shape_edge *e = &shape->edges[i];
		struct neighbours *from = &all->files[e->from], *to = &all->files[e->to];

		all->ends[from->first + from->n++] = 2 * (int64_t)e->to + 1;
		all->ends[to->first + to->n++] = 2 * (int64_t)e->from;
	}
}

static int compare_ends(const void *x, const void *y)
{
	int64_t a = *(const int64_t *)x, b = *(const int64_t *)y;

	return (a > b) - (a < b);
}

/* Of files that have nothing in common: the largest, or the first of several. */
static const char *largest_name(struct shape *shape, const struct neighbours *files, int32_t n)
{
	int32_t largest = files[0].node;
	cleanup_free char *name = NULL;

	for (int32_t i = 1; i < n; i++)
		if (shape->nodes[files[i].node].size_bytes > shape->nodes[largest].size_bytes)
			largest = files[i].node;
	return asprintf(&name, "%s, ...", shape_base_name(shape, largest)) < 0 ? NULL : shape_label(shape, name);
}

/* "include/" and a star for files below /usr/include. */
static const char *common_directory(struct shape *shape, const struct neighbours *files, int32_t n)
{
	const char *first = shape_path(shape, files[0].node), *slash;
	size_t len = first ? strlen(first) : 0;
	cleanup_free char *name = NULL;

	for (int32_t i = 1; i < n; i++) {
		const char *other = shape_path(shape, files[i].node);
		size_t k = 0;

		while (other && k < len && first[k] == other[k])
			k++;
		len = k;
	}
	while (len && first[len - 1] != '/')
		len--;
	slash = len > 1 ? memrchr(first, '/', len - 1) : NULL;
	if (!slash)
		return largest_name(shape, files, n);
	if (asprintf(&name, "%.*s*", (int)(first + len - slash - 1), slash + 1) < 0)
		return NULL;
	return shape_label(shape, name);
}

/* What their names begin and end with: "p*.fits". */
static const char *common_name(struct shape *shape, const struct neighbours *files, int32_t n)
{
	const char *first = shape_base_name(shape, files[0].node);
	size_t len = strlen(first), begin = len, end = len;
	cleanup_free char *name = NULL;

	for (int32_t i = 1; i < n; i++) {
		const char *other = shape_base_name(shape, files[i].node);
		size_t other_len = strlen(other), k = 0;

		while (k < begin && first[k] == other[k])
			k++;
		begin = k;
		for (k = 0;
			k < end && k < other_len && first[len - 1 - k] == other[other_len - 1 - k];
			k++)
			;
		end = k;
	}
	if (begin == len) /* parts of one file */
		return shape_label(shape, first);
	end = end > len - begin ? len - begin : end;
	if (begin == 0 && end == 0)
		return common_directory(shape, files, n);
	if (asprintf(&name, "%.*s*%s", (int)begin, first, first + len - end) < 0)
		return NULL;
	return shape_label(shape, name);
}

/* Runs of files that have the same neighbours. */
static int fold_runs(struct shape *shape, struct ends *all, int32_t n, int32_t *to)
{
	for (int32_t i = 0, end; i < n; i = end) {
		for (end = i + 1;
			end < n && compare_files(&all->files[i], &all->files[end], all) == 0; end++)
			to[all->files[end].node] = all->files[i].node;
		if (end == i + 1)
			continue;
		shape->nodes[all->files[i].node].label =
			common_name(shape, &all->files[i], end - i);
		if (!shape->nodes[all->files[i].node].label)
			return -ENOMEM;
	}
	return merge(shape, to);
}

/* Of a file only its writers, if it has any. */
static void keep_writers(struct ends *all, struct neighbours *file)
{
	int32_t n = 0;

	for (int32_t i = 0; i < file->n; i++)
		if (all->ends[file->first + i] % 2 == 0)
			all->ends[file->first + n++] = all->ends[file->first + i];
	file->n = n;
}

/* writers: their readers make no difference. */
static int fold_files(struct shape *shape, bool writers)
{
	struct ends all = { .shape = shape,
		.files = malloc(((size_t)shape->n_nodes + 1) * sizeof(*all.files)),
		.ends = malloc((2 * (size_t)shape->n_edges + 1) * sizeof(*all.ends)) };
	cleanup_free int32_t *to = malloc(((size_t)shape->n_nodes + 1) * sizeof(*to));
	int32_t n = 0;
	int r = all.files && all.ends && to ? 0 : -ENOMEM;

	if (r == 0) {
		list_ends(shape, &all);
		for (int32_t i = 0; i < shape->n_nodes; i++) {
			to[i] = i;
			qsort(all.ends + all.files[i].first, all.files[i].n, sizeof(*all.ends),
				compare_ends);
			/* files are compared by their processes; a file without edges has none */
			if (shape->nodes[i].kind == NODE_PROCESS || !all.files[i].n)
				continue;
			if (writers && shape->nodes[i].kind == NODE_FILE)
				keep_writers(&all, &all.files[i]);
			all.files[n++] = all.files[i];
		}
		qsort_r(all.files, n, sizeof(*all.files), compare_nodes, &all);
		r = fold_runs(shape, &all, n, to);
	}
	if (r == 0)
		number_folded(shape);
	free(all.files);
	free(all.ends);
	return r;
}

/* ---- by the options ---- */

int fold_shape(struct shape *shape, const struct fold_options *options)
{
	int r = options->groups ? fold_by(shape, group_key, (void *)(uintptr_t)options) : 0;

	if (r == 0 && options->directories)
		return fold_directories(shape);
	return r == 0 && options->groups ? fold_files(shape, false) : r;
}

int fold_to(struct shape *shape, int32_t max_nodes)
{
	static key_of *const keys[] = { task_key, step_key, phase_key, program_key };
	int32_t apart = max_nodes - (NODE_MISSING_NAME + 1); /* beside one of each kind */
	int r = 0;

	if (shape->n_nodes > max_nodes)
		r = fold_files(shape, false);
	for (size_t i = 0;
		i < sizeof(keys) / sizeof(keys[0]) && r == 0 && shape->n_nodes > max_nodes; i++) {
		r = fold_by(shape, keys[i], NULL);
		if (r == 0)
			r = fold_files(shape, false);
		if (r == 0 && shape->n_nodes > max_nodes)
			r = fold_files(shape, true);
	}
	if (r == 0 && shape->n_nodes > max_nodes)
		r = fold_by(shape, others_key, &apart);
	return r;
}
