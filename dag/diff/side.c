/* SPDX-License-Identifier: MIT */
#include "dag/diff/side.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/vector.h"
#include "dag/container/hash.h"
#include "dag/diff/names.h"
#include "dag/graph/critical.h"

const char *const side_kinds[SIDE_KINDS] = { "read", "execute", "write", "delete" };

struct link {
	int32_t from, to;
	int kinds;
};

struct making {
	struct side *side;
	enum side_what what;
	struct names *names;
	int run;
	int32_t *same;    /* of each file: the first one of its role */
	int32_t *creator; /* of each file, or GRAPH_NONE */
	struct link *links;
	size_t n_links;
};

/* Where data pass unseen, nwrite is not known: then the process counts as a writer.  If writes are counted, an assumed one
 * is that of a mapping. */
static int kinds_of(const struct graph_access *access)
{
	int kinds = access->kinds;
	bool wrote = kinds & EDGE_RENAME || (kinds & EDGE_WRITE && (access->nwrite != 0 || access->assumed_out));

	return (kinds & (EDGE_READ | EDGE_MAP) ? SIDE_READ : 0) |
	       (kinds & EDGE_EXECUTE ? SIDE_EXECUTE : 0) | (wrote ? SIDE_WRITE : 0) |
	       (!wrote && kinds & (EDGE_WRITE | EDGE_CREATE | EDGE_TRUNCATE) ? SIDE_MAKE : 0) |
	       (kinds & EDGE_DELETE ? SIDE_DELETE : 0);
}

/* Files are opened by shells for others that write them. */
static bool only_opens(const struct graph_access *access)
{
	return access->nwrite == 0 && access->kinds & (EDGE_CREATE | EDGE_TRUNCATE) &&
	       !(access->kinds & (EDGE_READ | EDGE_RENAME | EDGE_DELETE));
}

/* Directories, what has no place, and the fifo by which GNU Make 4.4 counts its jobs, which is there with -j only. */
static bool is_no_data(const struct data *data)
{
	const char *base = data->path ? strrchr(data->path, '/') : NULL;

	if (data_is_placeless(data))
		return true;
	return data->kind &&
	       (strcmp(data->kind, "dir") == 0 || (strcmp(data->kind, "fifo") == 0 && base &&
							  strncmp(base, "/GMfifo", 7) == 0));
}

static bool is_wanted(const struct making *m, const struct graph_access *access, int32_t i)
{
	const struct side *side = m->side;

	if (m->what == SIDE_DATA && only_opens(access))
		return false;
	return side->workflow->chosen[i] && side->of[access->process] != GRAPH_NONE &&
	       kinds_of(access) && !is_no_data(workflow_data(side->workflow, access->file));
}

/* ---- nodes ---- */

static void show_processes(struct making *m)
{
	struct side *side = m->side;
	const struct workflow *w = side->workflow;

	for (int32_t i = 0; i < side->n_processes; i++) {
		const struct task *task = workflow_task(w, i);

		side->shown[i] = task->chosen && !critical_is_outside(w, i) &&
				 (m->what != SIDE_DATA || (task->job && !task->driver));
		side->of[i] = side->shown[i] ? i : GRAPH_NONE;
	}
}

static void show_files(struct making *m)
{
	struct side *side = m->side;
	const struct graph *g = side->workflow->graph;

	for (int32_t i = 0; i < g->n_files; i++)
		m->creator[i] = GRAPH_NONE;
	for (int32_t i = 0; i < g->n_accesses; i++) {
		const struct graph_access *access = &g->accesses[i];

		if (!is_wanted(m, access, i))
			continue;
		side->shown[side->n_processes + access->file] = true;
		if (access->kinds & EDGE_CREATE && m->creator[access->file] == GRAPH_NONE)
			m->creator[access->file] = access->process;
	}
}

/* Processes that use no file. */
static void hide_idle(struct making *m)
{
	struct side *side = m->side;
	const struct graph *g = side->workflow->graph;

	for (int32_t i = 0; i < g->n_accesses; i++)
		if (is_wanted(m, &g->accesses[i], i))
			m->same[g->accesses[i].process] = 1;
	for (int32_t i = 0; i < side->n_processes; i++)
		if (m->same[i] != 1) {
			side->shown[i] = false;
			side->of[i] = GRAPH_NONE;
		}
}

static void label_nodes(struct making *m)
{
	struct side *side = m->side;
	bool wild;

	for (int32_t i = 0; i < side->n_processes; i++)
		if (side->shown[i])
			side->label[i] = hash_pair('p', names_command(m->names, m->run, i));
	for (int32_t i = side->n_processes; i < side->n_nodes; i++) {
		int32_t file = side_file(side, i);

		if (!side->shown[i])
			continue;
		side->plain[i] = names_path_label(m->names, m->run, file);
		side->loose[i] = hash_pair('f',
			names_role(m->names, m->run, file, m->creator[file], true, &wild));
		side->label[i] = hash_pair('f', names_role(m->names, m->run, file, m->creator[file],
							false, &side->wild[i]));
	}
}

/* Processes that have run no program of their own have the command of their parents. */
static void join_forks(struct side *side)
{
	const struct workflow *w = side->workflow;

	for (int32_t i = 0; i < side->n_processes; i++) {
		int32_t parent = graph_parent(w->graph, i);

		if (side->shown[i] && parent != GRAPH_NONE && side->of[parent] != GRAPH_NONE &&
			workflow_task(w, i)->command && !workflow_task(w, i)->executed &&
			side->label[i] == side->label[parent])
			side->of[i] = parent;
	}
	for (int32_t i = 0; i < side->n_processes; i++) {
		while (side->of[i] != GRAPH_NONE && side->of[side->of[i]] != side->of[i])
			side->of[i] = side->of[side->of[i]];
		side->shown[i] = side->of[i] == i;
	}
}

struct role {
	uint64_t label;
	int32_t file;
};

static int compare_roles(const void *x, const void *y)
{
	const struct role *a = x, *b = y;

	if (a->label != b->label)
		return a->label < b->label ? -1 : 1;
	return (a->file > b->file) - (a->file < b->file);
}

/* Files that had the same path one after the other become the first of them. */
static int join_files(struct making *m)
{
	struct side *side = m->side;
	cleanup_free struct role *roles =
		calloc((size_t)(side->n_nodes - side->n_processes) + 1, sizeof(*roles));
	size_t n = 0;

	if (!roles)
		return -ENOMEM;
	for (int32_t i = side->n_processes; i < side->n_nodes; i++) {
		m->same[side_file(side, i)] = side_file(side, i);
		if (side->shown[i] && !side->wild[i])
			roles[n++] = (struct role){ side->label[i], side_file(side, i) };
	}
	if (n)
		qsort(roles, n, sizeof(*roles), compare_roles);
	for (size_t i = 1; i < n; i++)
		if (roles[i].label == roles[i - 1].label) {
			side->shown[side->n_processes + roles[i].file] = false;
			m->same[roles[i].file] = m->same[roles[i - 1].file];
		}
	return 0;
}

/* ---- links ---- */

static void add_link(struct making *m, int32_t from, int32_t to, int kinds, int back)
{
	m->links[m->n_links++] = (struct link){ from, to, kinds };
	m->links[m->n_links++] = (struct link){ to, from, back };
}

static int list_links(struct making *m)
{
	struct side *side = m->side;
	const struct graph *g = side->workflow->graph;

	m->links =
		calloc(2 * ((size_t)g->n_accesses + (size_t)g->n_processes) + 1, sizeof(*m->links));
	if (!m->links)
		return -ENOMEM;
	for (int32_t i = 0; i < g->n_accesses; i++) {
		const struct graph_access *access = &g->accesses[i];

		if (is_wanted(m, access, i))
			add_link(m, side->of[access->process],
				side->n_processes + m->same[access->file], kinds_of(access),
				kinds_of(access));
	}
	for (int32_t i = 0; i < side->n_processes; i++) {
		int32_t parent = graph_parent(g, i);

		side->parent[i] = GRAPH_NONE;
		if (parent == GRAPH_NONE || !side->shown[i] || side->of[parent] == GRAPH_NONE ||
			m->what == SIDE_DATA)
			continue;
		side->parent[i] = side->of[parent];
		add_link(m, i, side->of[parent], SIDE_PARENT, SIDE_CHILD);
	}
	return 0;
}

static int compare_links(const void *x, const void *y)
{
	const struct link *a = x, *b = y;

	if (a->from != b->from)
		return a->from < b->from ? -1 : 1;
	return (a->to > b->to) - (a->to < b->to);
}

/* Merges the links between the same two nodes into one, and sorts the links by their node. */
static int set_links(struct making *m)
{
	struct side *side = m->side;
	size_t n = 0;

	if (m->n_links)
		qsort(m->links, m->n_links, sizeof(*m->links), compare_links);
	side->links = calloc(m->n_links + 1, sizeof(*side->links));
	if (!side->links)
		return -ENOMEM;
	for (size_t i = 0; i < m->n_links; i++) {
		const struct link *link = &m->links[i];

		if (i && compare_links(link - 1, link) == 0) {
			side->links[n - 1].kinds |= link->kinds;
		} else {
			side->links[n++] = (struct side_link){ link->to, link->kinds };
			side->first[link->from + 1]++;
		}
	}
	for (int32_t i = 0; i < side->n_nodes; i++)
		side->first[i + 1] += side->first[i];
	return 0;
}

/* ---- the whole ---- */

static int make_room(struct making *m)
{
	struct side *side = m->side;
	size_t n = (size_t)side->n_nodes + 1;

	m->same = calloc(n, sizeof(*m->same));
	m->creator = calloc(n, sizeof(*m->creator));
	side->of = calloc(n, sizeof(*side->of));
	side->shown = calloc(n, sizeof(*side->shown));
	side->wild = calloc(n, sizeof(*side->wild));
	side->label = calloc(n, sizeof(*side->label));
	side->loose = calloc(n, sizeof(*side->loose));
	side->plain = calloc(n, sizeof(*side->plain));
	side->parent = calloc(n, sizeof(*side->parent));
	side->first = calloc(n + 1, sizeof(*side->first));
	return m->same && m->creator && side->of && side->shown && side->wild && side->label &&
			       side->loose && side->plain && side->parent && side->first
		       ? 0
		       : -ENOMEM;
}

int side_create(const struct workflow *workflow, struct names *names, int run, enum side_what what,
	struct side **ret_side)
{
	struct side *side = calloc(1, sizeof(*side));
	struct making m = { side, what, names, run, NULL, NULL, NULL, 0 };
	int r = -ENOMEM;

	if (!side)
		return r;
	side->workflow = workflow;
	side->n_processes = workflow->graph->n_processes;
	side->n_nodes = side->n_processes + workflow->graph->n_files;
	if ((r = make_room(&m)) == 0) {
		show_processes(&m);
		show_files(&m);
		if (what != SIDE_ALL)
			hide_idle(&m);
		label_nodes(&m);
		join_forks(side);
		r = join_files(&m);
	}
	if (r == 0)
		r = list_links(&m);
	if (r == 0)
		r = set_links(&m);
	if (r == 0)
		r = side_prune(side);
	free(m.same);
	free(m.creator);
	free(m.links);
	if (r < 0) {
		side_destroy(side);
		return r;
	}
	*ret_side = side;
	return 0;
}

void side_destroy(struct side *side)
{
	if (!side)
		return;
	free(side->of);
	free(side->shown);
	free(side->wild);
	free(side->label);
	free(side->loose);
	free(side->plain);
	free(side->parent);
	free(side->first);
	free(side->links);
	free(side);
}

static int compare_to(const void *key, const void *element)
{
	int32_t a = *(const int32_t *)key, b = ((const struct side_link *)element)->to;

	return (a > b) - (a < b);
}

int side_kinds_between(const struct side *side, int32_t from, int32_t to)
{
	const struct side_link *links = side->links + side->first[from],
			       *found = vector_find(&to, links,
				       (size_t)(side->first[from + 1] - side->first[from]),
				       sizeof(*links), compare_to);

	return found ? found->kinds : 0;
}
