/* SPDX-License-Identifier: MIT */
#include "dag/diff/find.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>

#include "base/vector.h"

const char *const changes[] = { "removed", "added", "changed", NULL };
_Static_assert(sizeof(changes) / sizeof(changes[0]) == CHANGE_MAX + 1, "a name for each change");

const char *find_name(enum find_what what)
{
	static const char *const names[] = { "process", "file", "fork" };

	return what < FIND_EDGE ? names[what] : side_kinds[what - FIND_EDGE];
}

struct finding {
	struct found *found;
	const struct side *side[2];
	int32_t *const *pair;
	struct names *names;
	bool failed;
};

static void add(struct finding *f, const struct difference *difference)
{
	struct found *found = f->found;

	if (vector_push(found->difference, found->n, *difference) < 0) {
		f->failed = true;
		return;
	}
	found->count[difference->what][difference->change]++;
}

/* ---- processes ---- */

static int32_t edges_of(const struct side *side, int32_t process)
{
	int32_t n = 0;

	for (int32_t i = side->first[process]; i < side->first[process + 1]; i++)
		n += side->links[i].kinds & SIDE_CHILD
			     ? 0
			     : __builtin_popcount((unsigned)side->links[i].kinds);
	return n;
}

/* Is it a temporary file of processes that only this run has? Then it is no difference of its own. */
static bool comes_along(const struct finding *f, int run, int32_t file)
{
	const struct side *side = f->side[run];
	const struct data *data = workflow_data(side->workflow, side_file(side, file));

	for (int32_t i = side->first[file]; i < side->first[file + 1]; i++)
		if (f->pair[run][side->links[i].to] != GRAPH_NONE)
			return false;
	return data->created && data->deleted;
}

/* What one run has and the other one has not. */
static void find_alone(struct finding *f, int run, bool processes)
{
	const struct side *side = f->side[run];
	int32_t from = processes ? 0 : side->n_processes;
	int32_t to = processes ? side->n_processes : side->n_nodes;

	for (int32_t i = from; i < to; i++) {
		struct difference d = { .change = run ? CHANGE_ADDED : CHANGE_REMOVED,
			.what = processes ? FIND_PROCESS : FIND_FILE,
			.process = { GRAPH_NONE, GRAPH_NONE },
			.other = { GRAPH_NONE, GRAPH_NONE } };

		if (!side->shown[i] || f->pair[run][i] != GRAPH_NONE ||
			(!processes && comes_along(f, run, i)))
			continue;
		*(processes ? &d.process[run] : &d.other[run]) = i;
		d.edges = processes ? edges_of(side, i) : 0;
		add(f, &d);
	}
}

static void find_changed(struct finding *f)
{
	for (int32_t a = 0; a < f->side[0]->n_processes; a++) {
		int32_t b = f->pair[0][a];

		bool changed = false;

		if (b != GRAPH_NONE &&
			find_is_changed(f->found->match, f->names, a, b, &changed) < 0)
			f->failed = true;
		if (changed)
			add(f, &(struct difference){ CHANGE_CHANGED, FIND_PROCESS, { a, b },
				       { GRAPH_NONE, GRAPH_NONE }, 0 });
	}
}

/* Files that one process has given two names; a deleted file does not count: its name was temporary. */
static void find_renamed(struct finding *f)
{
	const struct side *side = f->side[0];

	for (int32_t a = side->n_processes; a < side->n_nodes; a++) {
		int32_t b = f->pair[0][a];

		if (b == GRAPH_NONE || side->label[a] == f->side[1]->label[b] ||
			side->loose[a] == f->side[1]->loose[b] ||
			side->plain[a] == f->side[1]->plain[b] ||
			workflow_data(side->workflow, side_file(side, a))->deleted)
			continue;
		add(f, &(struct difference){ CHANGE_CHANGED, FIND_FILE, { GRAPH_NONE, GRAPH_NONE },
			       { a, b }, 0 });
	}
}

int64_t found_status(const struct task *task)
{
	static const int faults[] = { SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGSEGV, SIGSYS, SIGTRAP,
		SIGXCPU, SIGXFSZ };

	if (task->exit_signal == WORKFLOW_UNKNOWN)
		return task->exit_code;
	for (size_t i = 0; i < sizeof(faults) / sizeof(faults[0]); i++)
		if (task->exit_signal == faults[i])
			return 128 + faults[i];
	return WORKFLOW_UNKNOWN;
}

/* A process that another one killed did not end by itself: the moment differs from run to run. */
static int find_ends(struct finding *f)
{
	struct found *found = f->found;

	found->ends = calloc((size_t)f->side[0]->n_processes + 1, sizeof(*found->ends));
	if (!found->ends)
		return -ENOMEM;
	for (int32_t a = 0; a < f->side[0]->n_processes; a++) {
		int32_t b = f->pair[0][a];
		int64_t status[2];

		if (b == GRAPH_NONE)
			continue;
		status[0] = found_status(workflow_task(f->side[0]->workflow, a));
		status[1] = found_status(workflow_task(f->side[1]->workflow, b));
		if (status[0] != status[1] && status[0] != WORKFLOW_UNKNOWN &&
			status[1] != WORKFLOW_UNKNOWN)
			found->ends[found->n_ends++] = a;
	}
	return 0;
}

/* ---- edges ---- */

static void find_forks(struct finding *f)
{
	for (int32_t a = 0; a < f->side[0]->n_processes; a++) {
		int32_t b = f->pair[0][a], parent[2];

		if (b == GRAPH_NONE)
			continue;
		parent[0] = f->side[0]->parent[a];
		parent[1] = f->side[1]->parent[b];
		if (parent[0] == GRAPH_NONE
				? parent[1] == GRAPH_NONE
				: f->pair[0][parent[0]] == parent[1] && parent[1] != GRAPH_NONE)
			continue;
		for (int run = 0; run < 2; run++)
			if (parent[run] != GRAPH_NONE)
				add(f, &(struct difference){ run ? CHANGE_ADDED : CHANGE_REMOVED,
					       FIND_FORK, { a, b },
					       { run ? GRAPH_NONE : parent[0],
						       run ? parent[1] : GRAPH_NONE },
					       0 });
	}
}

/* Those of one process of a run that it has not in the other. */
static void find_edges_of(struct finding *f, int run, int32_t process)
{
	const struct side *side = f->side[run];
	int32_t other = f->pair[run][process];

	for (int32_t i = side->first[process]; i < side->first[process + 1]; i++) {
		int32_t file = side->links[i].to, same = f->pair[run][file];
		int kinds = side->links[i].kinds;

		if (side_is_process(side, file))
			continue;
		if (same != GRAPH_NONE)
			kinds &= ~side_kinds_between(f->side[!run], other, same);
		for (int k = 0; k < SIDE_KINDS; k++)
			if (kinds & 1 << k)
				add(f, &(struct difference){ run ? CHANGE_ADDED : CHANGE_REMOVED,
					       FIND_EDGE + k,
					       { run ? other : process, run ? process : other },
					       { run ? same : file, run ? file : same }, 0 });
	}
}

static void find_edges(struct finding *f)
{
	find_forks(f);
	for (int run = 0; run < 2; run++)
		for (int32_t i = 0; i < f->side[run]->n_processes; i++)
			if (f->pair[run][i] != GRAPH_NONE)
				find_edges_of(f, run, i);
}

/* ---- the whole ---- */

static void count(struct finding *f, int run)
{
	const struct side *side = f->side[run];

	for (int32_t i = 0; i < side->n_nodes; i++) {
		if (!side->shown[i])
			continue;
		if (side_is_process(side, i)) {
			f->found->processes[run]++;
			f->found->edges[run] += edges_of(side, i);
		} else {
			f->found->files[run]++;
		}
	}
}

int find_differences(const struct match *match, struct names *names, struct found **ret_found)
{
	struct found *found = calloc(1, sizeof(*found));
	struct finding f = { found, { match->side[0], match->side[1] }, match->pair, names, false };

	if (!found)
		return -ENOMEM;
	found->match = match;
	for (int run = 0; run < 2; run++)
		find_alone(&f, run, true);
	find_changed(&f);
	for (int run = 0; run < 2; run++)
		find_alone(&f, run, false);
	find_renamed(&f);
	find_edges(&f);
	count(&f, 0);
	count(&f, 1);
	if (find_ends(&f) < 0 || f.failed) {
		found_destroy(found);
		return -ENOMEM;
	}
	*ret_found = found;
	return 0;
}

void found_destroy(struct found *found)
{
	if (!found)
		return;
	free(found->difference);
	free(found->ends);
	free(found);
}

int32_t found_edges(const struct found *found, enum change change)
{
	int32_t n = 0;

	for (int what = FIND_FORK; what < FIND_WHAT_MAX; what++)
		n += found->count[what][change];
	return n;
}
