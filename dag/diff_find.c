/* SPDX-License-Identifier: MIT */
#include "dag/diff_find.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dag/diff_names.h"

#define WORDS_SHOWN 6 /* of what has changed in a command */

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

	if (found->n == found->room) {
		int32_t room = found->room ? 2 * found->room : 64;
		struct difference *more =
			reallocarray(found->difference, (size_t)room, sizeof(*more));

		if (!more) {
			f->failed = true;
			return;
		}
		found->difference = more;
		found->room = room;
	}
	found->difference[found->n++] = *difference;
	found->count[difference->what][difference->change]++;
}

/* ---- words ---- */

struct words_list {
	char **word;
	int n;
};

static void words_list_free(struct words_list *list)
{
	for (int i = 0; i < list->n; i++)
		free(list->word[i]);
	free(list->word);
}

static bool list_words(struct names *names, int run, int32_t process, bool plain,
	struct words_list *list)
{
	struct names_words words;

	*list = (struct words_list){ 0 };
	names_words_begin(&words, names, run, process);
	words.plain = plain;
	while (names_words_next(&words)) {
		char **more = reallocarray(list->word, (size_t)list->n + 1, sizeof(*more));

		list->word = more ? more : list->word;
		if (!more || !(more[list->n] = strndup(words.word, words.len)))
			return false;
		list->n++;
	}
	return true;
}

/* From the first to the last that differ. */
static void cut_same(struct words_list *a, struct words_list *b, int *ret_from, int *ret_behind)
{
	int from = 0, behind = 0, least = a->n < b->n ? a->n : b->n;

	while (from < least && strcmp(a->word[from], b->word[from]) == 0)
		from++;
	while (behind < least - from &&
		strcmp(a->word[a->n - 1 - behind], b->word[b->n - 1 - behind]) == 0)
		behind++;
	*ret_from = from;
	*ret_behind = behind;
}

static void put_words(FILE *out, const struct words_list *list, int from, int behind)
{
	int to = list->n - behind;

	if (from >= to)
		fputs("(nothing)", out);
	for (int i = from; i < to && i < from + WORDS_SHOWN; i++)
		fprintf(out, "%s%s", i > from ? " " : "", list->word[i]);
	if (to > from + WORDS_SHOWN)
		fputs(" ...", out);
}

char *find_words(struct names *names, int32_t a, int32_t b)
{
	struct words_list list[2] = { { 0 } };
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	int from, behind;
	bool ok = out && list_words(names, 0, a, false, &list[0]) &&
		  list_words(names, 1, b, false, &list[1]);

	if (ok) {
		cut_same(&list[0], &list[1], &from, &behind);
		put_words(out, &list[0], from, behind);
		fputs(" -> ", out);
		put_words(out, &list[1], from, behind);
	}
	ok &= out && fclose(out) == 0;
	words_list_free(&list[0]);
	words_list_free(&list[1]);
	if (!ok) {
		free(text);
		text = NULL;
	}
	return text;
}

/* ---- processes ---- */

static const char *base_of(const char *path)
{
	const char *slash = path ? strrchr(path, '/') : NULL;

	return slash ? slash + 1 : path;
}

/* Are two words the names of one file that both processes use? */
static bool are_one_file(const struct finding *f, int32_t a, const char *x, const char *y)
{
	const struct side *side = f->side[0];

	for (int32_t i = side->first[a]; i < side->first[a + 1]; i++) {
		int32_t to = side->links[i].to, other = f->pair[0][to];
		const char *path[2];

		if (side_is_process(side, to) || other == GRAPH_NONE)
			continue;
		path[0] = workflow_data(side->workflow, side_file(side, to))->path;
		path[1] = workflow_data(f->side[1]->workflow, side_file(f->side[1], other))->path;
		if (path[0] && path[1] && strcmp(base_of(path[0]), base_of(x)) == 0 &&
			strcmp(base_of(path[1]), base_of(y)) == 0)
			return true;
	}
	return false;
}

static bool have_changed(struct finding *f, int32_t a, int32_t b, bool plain)
{
	struct words_list list[2] = { { 0 } };
	bool changed;

	if (!list_words(f->names, 0, a, plain, &list[0]) ||
		!list_words(f->names, 1, b, plain, &list[1]))
		f->failed = true;
	changed = list[0].n != list[1].n;
	for (int i = 0; i < list[0].n && !changed; i++)
		changed = strcmp(list[0].word[i], list[1].word[i]) != 0 &&
			  !are_one_file(f, a, list[0].word[i], list[1].word[i]);
	words_list_free(&list[0]);
	words_list_free(&list[1]);
	return changed;
}

/* A name that only chance has made another is not a change; nor is a number that only by chance is one of a process
 * here, but not there. */
static bool is_changed(struct finding *f, int32_t a, int32_t b)
{
	return f->side[0]->label[a] != f->side[1]->label[b] && have_changed(f, a, b, false) &&
	       have_changed(f, a, b, true);
}

static int32_t edges_of(const struct side *side, int32_t process)
{
	int32_t n = 0;

	for (int32_t i = side->first[process]; i < side->first[process + 1]; i++)
		n += side->links[i].kinds & SIDE_CHILD
			     ? 0
			     : __builtin_popcount((unsigned)side->links[i].kinds);
	return n;
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

		if (!side->shown[i] || f->pair[run][i] != GRAPH_NONE)
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

		if (b != GRAPH_NONE && is_changed(f, a, b))
			add(f, &(struct difference){ CHANGE_CHANGED, FIND_PROCESS, { a, b },
				       { GRAPH_NONE, GRAPH_NONE }, 0 });
	}
}

/* Files that one process has given two names; those that were deleted had theirs by chance. */
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

/* Who was killed by another one did not end by itself: when that is, is chance. */
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
