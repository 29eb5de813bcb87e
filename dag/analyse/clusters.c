/* SPDX-License-Identifier: MIT */

/* Patterns that occur again and again: sub-trees, fan-outs, fan-ins. */

#include "dag/analyse/analyse.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/output.h"
#include "base/saturate.h"
#include "dag/graph/critical.h"
#include "dag/output/table.h"
#include "dag/shape/shape.h"

#define SHOWN 100 /* of a pattern's name */

/* A process, or a version of a file, and what it is like. */
struct member {
	int64_t above; /* whose member it is: a process, or a node of the shape */
	const char *pattern;
	int32_t process;
};

/* ---- names of patterns ---- */

struct patterns {
	const struct workflow *workflow;
	char **of; /* of each process: "mDiffFit(mDiff mFitplane)" */
};

static int compare_texts(const void *x, const void *y)
{
	return strcmp(*(const char *const *)x, *(const char *const *)y);
}

/* "a b b b" becomes "a b x3". */
static char *join(const char *program, const char **children, int32_t n)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return NULL;
	fputs(program, out);
	qsort(children, n, sizeof(*children), compare_texts);
	for (int32_t i = 0, end; i < n; i = end) {
		for (end = i + 1; end < n && strcmp(children[i], children[end]) == 0; end++)
			;
		fprintf(out, "%s%s", i ? " " : "(", children[i]);
		if (end - i > 1)
			fprintf(out, " x%d", end - i);
	}
	fputs(n ? ")" : "", out);
	return output_close_text(out, &text);
}

static const char *program_of(const struct workflow *w, int32_t process)
{
	const char *program = workflow_task(w, process)->program;

	return program ? program : "?";
}

struct family {
	int32_t *first, *next; /* children of each process, linked */
	int32_t *order;        /* all, children after their parents */
	const char **texts;
	int32_t n;
};

static int family_create(const struct workflow *w, struct family *f)
{
	const struct graph *g = w->graph;
	size_t n = (size_t)g->n_processes + 1;

	*f = (struct family){ malloc(n * sizeof(*f->first)), malloc(n * sizeof(*f->next)),
		malloc(n * sizeof(*f->order)), malloc(n * sizeof(*f->texts)), 0 };
	if (!f->first || !f->next || !f->order || !f->texts)
		return -ENOMEM;
	for (int32_t i = 0; i < g->n_processes; i++)
		f->first[i] = GRAPH_NONE;
	for (int32_t i = g->n_processes - 1; i >= 0; i--) {
		int32_t parent = graph_parent(g, i);

		if (parent == GRAPH_NONE) {
			f->order[f->n++] = i;
			continue;
		}
		f->next[i] = f->first[parent];
		f->first[parent] = i;
	}
	for (int32_t at = 0; at < f->n; at++)
		for (int32_t child = f->first[f->order[at]]; child != GRAPH_NONE;
			child = f->next[child])
			f->order[f->n++] = child;
	return 0;
}

static void family_finish(struct family *f)
{
	free(f->first);
	free(f->next);
	free(f->order);
	free(f->texts);
}

/* If the pattern of a process gets longer, as for a driver of many different jobs, it is the program alone. */
#define PATTERN_MAX 2000

static int name_patterns(struct patterns *p, const struct family *f)
{
	for (int32_t at = f->n - 1; at >= 0; at--) {
		int32_t process = f->order[at], n = 0;
		size_t len = 0;

		for (int32_t child = f->first[process]; child != GRAPH_NONE;
			child = f->next[child]) {
			f->texts[n++] = p->of[child];
			len += strlen(p->of[child]);
		}
		p->of[process] =
			join(program_of(p->workflow, process), f->texts, len > PATTERN_MAX ? 0 : n);
		if (!p->of[process])
			return -ENOMEM;
	}
	return 0;
}

/* ---- rows ---- */

static int compare_members(const void *x, const void *y)
{
	const struct member *a = x, *b = y;
	int order = a->above != b->above ? (a->above < b->above ? -1 : 1)
					 : strcmp(a->pattern, b->pattern);

	return order ? order : (a->process > b->process) - (a->process < b->process);
}

struct moment {
	int64_t time_ns;
	int change;
};

static int compare_moments(const void *x, const void *y)
{
	const struct moment *a = x, *b = y;

	if (a->time_ns != b->time_ns)
		return a->time_ns < b->time_ns ? -1 : 1;
	return a->change - b->change;
}

/* How many of them lived at once, and for how long any did. */
static void put_times(struct table *table, const struct workflow *w, const struct member *members,
	int32_t n, struct moment *moments)
{
	int64_t life = 0, busy = 0;
	int alive = 0, most = 0;

	for (int32_t i = 0; i < n; i++) {
		int32_t process = members[i].process;

		moments[2 * i] = (struct moment){ w->graph->processes[process].start_ns, 1 };
		moments[2 * i + 1] = (struct moment){ critical_end(w, process), -1 };
		life = saturate_add(life, moments[2 * i + 1].time_ns - moments[2 * i].time_ns);
	}
	qsort(moments, 2 * (size_t)n, sizeof(*moments), compare_moments);
	for (int32_t i = 0; i < 2 * n; i++) {
		if (alive > 0)
			busy += moments[i].time_ns - moments[i - 1].time_ns;
		alive += moments[i].change;
		most = alive > most ? alive : most;
	}
	table_int(table, most);
	if (busy)
		table_real(table, (double)life / (double)busy);
	else
		table_null(table);
	table_int(table, life);
	table_int(table, busy);
}

static void put_pattern(struct table *table, const char *pattern)
{
	char text[SHOWN + 4];

	snprintf(text, sizeof(text), "%.*s%s", SHOWN, pattern,
		strlen(pattern) > SHOWN ? "..." : "");
	table_string(table, text);
}

/* Runs of members of one with the same pattern. */
static int put_members(struct table *table, const struct workflow *w, const char *kind,
	struct member *members, int32_t n,
	void (*put_above)(struct table *, const struct workflow *, const struct shape *, int64_t),
	const struct shape *shape)
{
	cleanup_free struct moment *moments = malloc((2 * (size_t)n + 1) * sizeof(*moments));

	if (!moments)
		return -ENOMEM;
	qsort(members, n, sizeof(*members), compare_members);
	for (int32_t i = 0, end; i < n; i = end) {
		for (end = i + 1; end < n && members[end].above == members[i].above &&
				  strcmp(members[end].pattern, members[i].pattern) == 0;
			end++)
			;
		if (end - i < 2)
			continue;
		table_string(table, kind);
		put_pattern(table, members[i].pattern);
		table_int(table, end - i);
		put_times(table, w, members + i, end - i, moments);
		put_above(table, w, shape, members[i].above);
		table_row(table);
	}
	return 0;
}

static void put_parent(struct table *table, const struct workflow *w, const struct shape *shape,
	int64_t process)
{
	char id[32];

	(void)shape;
	snprintf(id, sizeof(id), "p%lld", (long long)w->graph->processes[process].id);
	table_string(table, id);
	table_string(table, workflow_task(w, (int32_t)process)->command);
}

static void put_file(struct table *table, const struct workflow *w, const struct shape *shape,
	int64_t node)
{
	table_string(table, shape->nodes[node].id);
	table_string(table, workflow_data(w, shape->nodes[node].of)->path);
}

/* ---- the patterns ---- */

static int put_trees(struct table *table, const struct workflow *w, const struct patterns *p,
	struct member *members)
{
	const struct graph *g = w->graph;
	int32_t n = 0;

	for (int32_t i = 0; i < g->n_processes; i++) {
		int32_t parent = graph_parent(g, i);

		if (parent != GRAPH_NONE && workflow_task(w, i)->chosen)
			members[n++] = (struct member){ parent, p->of[i], i };
	}
	return put_members(table, w, "sub-tree", members, n, put_parent, NULL);
}

/* A version that many processes of one program read: what all of them wait for. */
static int put_fan_outs(struct table *table, const struct workflow *w, const struct shape *shape,
	struct member *members)
{
	int32_t n = 0;

	for (int32_t i = 0; i < shape->n_edges; i++) {
		const struct shape_edge *e = &shape->edges[i];

		if (shape_is_flow(e) && shape->nodes[e->from].kind == NODE_FILE)
			members[n++] = (struct member){ e->from,
				program_of(w, shape->nodes[e->to].of), shape->nodes[e->to].of };
	}
	return put_members(table, w, "fan-out", members, n, put_file, shape);
}

/* The processes whose files a process reads, each once. */
static int put_fan_ins(struct table *table, const struct workflow *w, const struct shape *shape,
	struct member *members)
{
	cleanup_free int32_t *writer = malloc(((size_t)shape->n_nodes + 1) * sizeof(*writer));
	int32_t n = 0, kept = 0;

	if (!writer)
		return -ENOMEM;
	for (int32_t i = 0; i < shape->n_nodes; i++)
		writer[i] = GRAPH_NONE;
	for (int32_t i = 0; i < shape->n_edges; i++)
		if (shape_is_flow(&shape->edges[i]) &&
			shape->nodes[shape->edges[i].from].kind == NODE_PROCESS)
			writer[shape->edges[i].to] = shape->nodes[shape->edges[i].from].of;
	for (int32_t i = 0; i < shape->n_edges; i++) {
		const struct shape_edge *e = &shape->edges[i];

		if (shape_is_flow(e) && shape->nodes[e->from].kind == NODE_FILE &&
			writer[e->from] != GRAPH_NONE)
			members[n++] = (struct member){ shape->nodes[e->to].of,
				program_of(w, writer[e->from]), writer[e->from] };
	}
	qsort(members, n, sizeof(*members), compare_members);
	for (int32_t i = 0; i < n; i++)
		if (kept == 0 || compare_members(&members[kept - 1], &members[i]) != 0)
			members[kept++] = members[i];
	return put_members(table, w, "fan-in", members, kept, put_parent, NULL);
}

int analyse_clusters(struct table *table, const struct workflow *w, const struct shape *shape,
	const struct analyse_options *options)
{
	size_t n = (size_t)w->graph->n_processes + shape->n_edges + 1;
	struct patterns patterns = { w,
		calloc((size_t)w->graph->n_processes + 1, sizeof(*patterns.of)) };
	cleanup_free struct member *members = malloc(n * sizeof(*members));
	struct family family;
	int r = family_create(w, &family);

	(void)options;
	if (!patterns.of || !members)
		r = -ENOMEM;
	table_columns(table, "kind pattern count most_at_once parallelism life_ns busy_ns node of");
	if (r == 0)
		r = name_patterns(&patterns, &family);
	if (r == 0)
		r = put_trees(table, w, &patterns, members);
	if (r == 0)
		r = put_fan_outs(table, w, shape, members);
	if (r == 0)
		r = put_fan_ins(table, w, shape, members);
	for (int32_t i = 0; patterns.of && i < w->graph->n_processes; i++)
		free(patterns.of[i]);
	free(patterns.of);
	family_finish(&family);
	table_note(table, "sub-tree: processes of the same form below one (node); fan-out: processes of one program "
		"that read the same file; fan-in: processes of one program whose files one process reads.  "
		"parallelism: the sum of their life times / the time in which at least one lived (busy).");
	return r < 0 ? r : table_sort(table, "count");
}
