/* SPDX-License-Identifier: MIT */
#include "dag/export/stacks.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/saturate.h"
#include "base/vector.h"
#include "dag/container/path_names.h"
#include "dag/graph/critical.h"
#include "dag/output/printable.h"
#include "dag/shape/shape.h"

#define TITLE_IO "time in reads and writes"

/* X(name, of, value, title, unit) */
#define KINDS(X)                                                                        \
	X("wall", PROCESSES, WALL, "time of processes", "nanoseconds")                  \
	X("cpu", PROCESSES, CPU, "CPU time of processes", "nanoseconds")                \
	X("io", PROCESSES, IO, TITLE_IO " of processes", "nanoseconds")                 \
	X("read", PROCESSES, READ, "bytes that processes read", "bytes")                \
	X("written", PROCESSES, WRITTEN, "bytes that processes wrote", "bytes")         \
	X("directory-io", DIRECTORIES, IO, TITLE_IO " by directory", "nanoseconds")     \
	X("directory-read", DIRECTORIES, READ, "bytes read by directory", "bytes")      \
	X("directory-written", DIRECTORIES, WRITTEN, "bytes written by directory", "bytes")

#define KIND(name, of, value, title, unit) { STACKS_##of, STACKS_##value, title, unit },
#define NAME(name, of, value, title, unit) name,
const struct stacks_kind stacks_kinds[] = { KINDS(KIND) };
const char *const stacks_names[] = { KINDS(NAME) NULL };

struct making {
	const struct workflow *workflow;
	struct stacks *stacks;
	struct path_names *keys; /* of each stack */
	struct printable clean;
	bool *shown;	/* of each process */
	int32_t *stack; /* of each process, or file */
	int32_t *way;	/* scratch: processes */
};

#define NO_STACK (-1)
#define NOT_ASKED (-2)

/* ---- stacks ---- */

static int32_t push(struct stacks *s, int32_t above, int32_t depth, const char *name)
{
	struct stack stack = { .above = above, .depth = depth, .name = arena_text(&s->names, name, strlen(name)) };

	for (int i = 0; i < STACKS_VALUES; i++)
		stack.values[i] = -1;
	return stack.name ? vector_push(s->list, s->n, stack) : -ENOMEM;
}

/* The stack with one more name; -ENOMEM. */
static int32_t enter(struct making *m, int32_t above, const char *name)
{
	struct stacks *s = m->stacks;
	int32_t depth = above < 0 ? 0 : s->list[above].depth + 1, found;
	cleanup_free char *key = NULL;

	if (depth > STACKS_DEPTH)
		return above;
	name = depth == STACKS_DEPTH ? "..." : printable_text(&m->clean, name);
	if (m->clean.failed || asprintf(&key, "%d %s", above, name) < 0)
		return -ENOMEM;
	found = path_names_add(m->keys, key, strlen(key));
	if (found == s->n && push(s, above, depth, name) < 0)
		return -ENOMEM;
	return found;
}

static void add(struct making *m, int32_t stack, enum stacks_value value, int64_t number)
{
	int64_t *sum = &m->stacks->list[stack].values[value];

	if (number >= 0)
		*sum = shape_sum(*sum, number);
}

/* ---- processes ---- */

/* A process that was there before the run is left out, as a shell from which it was started, unless it is shown. */
static bool is_part(const struct making *m, int32_t process)
{
	return process != GRAPH_NONE && (m->shown[process] || !critical_is_outside(m->workflow, process));
}

/* The stacks of a process and of all above it. */
static int place_process(struct making *m, int32_t process)
{
	const struct workflow *w = m->workflow;
	int32_t n = 0, above;

	while (is_part(m, process) && m->stack[process] == NOT_ASKED) {
		m->way[n++] = process;
		process = graph_parent(w->graph, process);
	}
	above = is_part(m, process) ? m->stack[process] : NO_STACK;
	while (n > 0) {
		const char *program = workflow_task(w, m->way[--n])->program;

		above = enter(m, above, program ? program : "?");
		if (above < 0)
			return above;
		m->stack[m->way[n]] = above;
	}
	return 0;
}

/* A child, within the life of its parent. */
struct life {
	int32_t parent;
	int64_t begin_ns, end_ns;
};

static int compare_lives(const void *x, const void *y)
{
	const struct life *a = x, *b = y;

	if (a->parent != b->parent)
		return a->parent < b->parent ? -1 : 1;
	return (a->begin_ns > b->begin_ns) - (a->begin_ns < b->begin_ns);
}

static int64_t life_of(const struct workflow *w, int32_t process)
{
	int64_t ns = saturate_subtract(critical_end(w, process), critical_begin(w, process));

	return ns > 0 ? ns : 0;
}

/* Takes from the time of each process what its children lived.  lives are in the order of their parents and begins. */
static void take_children(const struct life *lives, int32_t n, int64_t *own_ns)
{
	int64_t past_ns = INT64_MIN;

	for (int32_t i = 0; i < n; i++) {
		int64_t begin_ns = lives[i].begin_ns;

		if (i == 0 || lives[i].parent != lives[i - 1].parent)
			past_ns = INT64_MIN;
		begin_ns = begin_ns > past_ns ? begin_ns : past_ns;
		if (lives[i].end_ns <= begin_ns)
			continue;
		own_ns[lives[i].parent] = saturate_subtract(own_ns[lives[i].parent], saturate_subtract(lives[i].end_ns, begin_ns));
		past_ns = lives[i].end_ns;
	}
}

static int find_own(const struct workflow *w, int64_t *ret_own_ns)
{
	const struct graph *g = w->graph;
	cleanup_free struct life *lives = malloc(((size_t)g->n_processes + 1) * sizeof(*lives));
	int32_t n = 0;

	if (!lives)
		return -ENOMEM;
	for (int32_t i = 0; i < g->n_processes; i++) {
		int32_t parent = graph_parent(g, i);
		int64_t begin_ns = critical_begin(w, i), end_ns = critical_end(w, i), above_ns;

		ret_own_ns[i] = life_of(w, i);
		if (parent == GRAPH_NONE)
			continue;
		above_ns = critical_begin(w, parent);
		begin_ns = begin_ns > above_ns ? begin_ns : above_ns;
		above_ns = critical_end(w, parent);
		end_ns = end_ns < above_ns ? end_ns : above_ns;
		lives[n++] = (struct life){ parent, begin_ns, end_ns };
	}
	qsort(lives, (size_t)n, sizeof(*lives), compare_lives);
	take_children(lives, n, ret_own_ns);
	return 0;
}

static int add_processes(struct making *m)
{
	const struct workflow *w = m->workflow;
	cleanup_free int64_t *own_ns = calloc((size_t)w->graph->n_processes + 1, sizeof(*own_ns));
	int r = own_ns ? find_own(w, own_ns) : -ENOMEM;

	for (int32_t i = 0; i < w->graph->n_processes && r == 0; i++) {
		if (!m->shown[i])
			continue;
		r = place_process(m, i);
		if (r < 0)
			break;
		add(m, m->stack[i], STACKS_WALL, own_ns[i]);
		add(m, m->stack[i], STACKS_CPU, workflow_task(w, i)->cpu_ns);
	}
	return r;
}

/* ---- directories ---- */

static int32_t enter_part(struct making *m, int32_t above, const char *part, size_t len)
{
	cleanup_free char *name = strndup(part, len);

	return name ? enter(m, above, name) : -ENOMEM;
}

/* "/" and the directories of an absolute path. */
static int32_t place_path(struct making *m, const char *path)
{
	int32_t stack = enter(m, NO_STACK, "/");

	while (stack >= 0) {
		const char *slash = strchr(path += strspn(path, "/"), '/');

		if (!slash)
			break;
		stack = enter_part(m, stack, path, (size_t)(slash - path));
		path = slash;
	}
	return stack;
}

static int32_t place_file(struct making *m, const struct data *data)
{
	char kind[64];

	if (data->path && *data->path == '/')
		return place_path(m, data->path);
	snprintf(kind, sizeof(kind), "[%s]", data_is_pipe(data) ? "pipe" : data->kind ? data->kind : "?");
	return enter(m, NO_STACK, kind);
}

static int add_directory(struct making *m, int32_t file)
{
	if (m->stack[file] == NOT_ASKED)
		m->stack[file] = place_file(m, workflow_data(m->workflow, file));
	return m->stack[file] < 0 ? m->stack[file] : 0;
}

/* ---- both ---- */

static int add_accesses(struct making *m, enum stacks_of of)
{
	const struct workflow *w = m->workflow;
	int r = 0;

	for (int32_t i = 0; i < w->graph->n_accesses && r == 0; i++) {
		const struct graph_access *a = &w->graph->accesses[i];
		int32_t stack;

		if (!w->chosen[i] || !m->shown[a->process])
			continue;
		r = of == STACKS_DIRECTORIES ? add_directory(m, a->file) : 0;
		if (r < 0)
			break;
		stack = m->stack[of == STACKS_DIRECTORIES ? a->file : a->process];
		add(m, stack, STACKS_IO, a->io_ns);
		add(m, stack, STACKS_READ, a->bread);
		add(m, stack, STACKS_WRITTEN, a->bwrite);
	}
	return r;
}

static int begin(struct making *m, const struct shape *shape, enum stacks_of of)
{
	const struct graph *g = shape->workflow->graph;
	int32_t n = of == STACKS_PROCESSES ? g->n_processes : g->n_files;

	m->keys = path_names_create();
	m->shown = calloc((size_t)g->n_processes + 1, sizeof(*m->shown));
	m->stack = malloc(((size_t)n + 1) * sizeof(*m->stack));
	m->way = malloc(((size_t)g->n_processes + 1) * sizeof(*m->way));
	if (!m->stacks || !m->keys || !m->shown || !m->stack || !m->way)
		return -ENOMEM;
	for (int32_t i = 0; i < n; i++)
		m->stack[i] = NOT_ASKED;
	for (int32_t i = 0; i < shape->n_nodes; i++)
		if (shape->nodes[i].kind == NODE_PROCESS)
			m->shown[shape->nodes[i].of] = true;
	return 0;
}

static void finish(struct making *m)
{
	path_names_destroy(m->keys);
	printable_finish(&m->clean);
	free(m->shown);
	free(m->stack);
	free(m->way);
}

/* ---- order ---- */

/* The first stack with one more name, and the next one with as many: both counted from 1, those of no stack in front. */
static void list_below(const struct stacks *s, int32_t *first, int32_t *next)
{
	for (int32_t i = s->n; i > 0; i--) {
		int32_t *head = &first[s->list[i - 1].above + 1];

		next[i] = *head;
		*head = i;
	}
}

/* Each is followed by those below it, which otherwise stay as they came. */
static int arrange(struct stacks *s)
{
	cleanup_free int32_t *first = calloc((size_t)s->n + 1, sizeof(*first)), *next = calloc((size_t)s->n + 1, sizeof(*next)),
			     *now = calloc((size_t)s->n + 1, sizeof(*now));
	struct stack *list = malloc(((size_t)s->n + 1) * sizeof(*list));
	int32_t n = 0;

	if (!first || !next || !now || !list) {
		free(list);
		return -ENOMEM;
	}
	list_below(s, first, next);
	now[0] = NO_STACK;
	for (int32_t i = first[0]; i;) {
		list[n] = s->list[i - 1];
		list[n].above = now[list[n].above + 1];
		now[i] = n++;
		if (first[i]) {
			i = first[i];
			continue;
		}
		while (i && !next[i])
			i = s->list[i - 1].above + 1;
		i = next[i];
	}
	free(s->list);
	s->list = list;
	return 0;
}

/* ---- the whole ---- */

int stacks_create(const struct shape *shape, enum stacks_of of, struct stacks **ret_stacks)
{
	struct making m = { .workflow = shape->workflow, .stacks = calloc(1, sizeof(*m.stacks)) };
	int r = begin(&m, shape, of);

	if (r == 0 && of == STACKS_PROCESSES)
		r = add_processes(&m);
	if (r == 0)
		r = add_accesses(&m, of);
	if (r == 0)
		r = arrange(m.stacks);
	finish(&m);
	if (r < 0)
		stacks_destroy(m.stacks);
	else
		*ret_stacks = m.stacks;
	return r;
}

void stacks_destroy(struct stacks *stacks)
{
	if (!stacks)
		return;
	free(stacks->list);
	arena_free(&stacks->names);
	free(stacks);
}

int32_t stacks_way(const struct stacks *stacks, int32_t stack, int32_t ret_way[static STACKS_DEPTH + 1])
{
	int32_t n = stacks->list[stack].depth + 1;

	for (int32_t i = n; i-- > 0; stack = stacks->list[stack].above)
		ret_way[i] = stack;
	return n;
}
