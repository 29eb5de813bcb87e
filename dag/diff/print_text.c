/* SPDX-License-Identifier: MIT */

/* The differences of two runs as text: what is alike becomes one row. */

#include "dag/diff/print_text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/wrap.h"
#include "dag/container/hash.h"
#include "dag/diff/names.h"

#define ALIKE_SHOWN 3 /* up to so many equal differences get a row each; more get one row */
#define COMMAND_SHOWN 100

int print_text_table(const struct text_output *t, struct table *table, size_t left_out,
	const char *what)
{
	int r = 0;

	if (left_out)
		table_note(table, "%zu more %s: --top 0 shows all", left_out, what);
	if (t->put) {
		r = t->put(t->arg, table);
	} else if (table_rows(table)) {
		fputc('\n', t->out);
		r = table_print(table, t->style, t->out);
	}
	table_destroy(table);
	return r;
}

/* ---- differences ---- */

/* Those of one key are the same over and over. */
struct group {
	uint64_t key;
	int32_t first, n; /* of the list; how many */
	int32_t at;       /* of one difference: which it is */
};

static uint64_t hash_text(const char *text)
{
	return text ? hash_bytes(HASH_BEGIN, text, strlen(text)) : 0;
}

/* Of files that are like each other: the directory, and what the name ends with. */
static uint64_t kind_of_path(const char *path)
{
	const char *slash = path ? strrchr(path, '/') : NULL;
	const char *dot = path ? strrchr(slash ? slash : path, '.') : NULL;

	return hash_pair(slash ? hash_bytes(HASH_BEGIN, path, (size_t)(slash - path)) : 0,
		hash_text(dot));
}

static const char *path_of(const struct comparison *c, const struct difference *d)
{
	int run = d->other[0] == GRAPH_NONE;

	return names_path(c->names, run, side_file(c->match->side[run], d->other[run]));
}

static bool has_file(const struct difference *d)
{
	return d->what == FIND_FILE || d->what >= FIND_EDGE;
}

static uint64_t key_of(const struct comparison *c, const struct difference *d)
{
	int run = d->process[0] == GRAPH_NONE;
	uint64_t key = hash_pair((uint64_t)d->change, (uint64_t)d->what);
	char *words;

	if (d->process[run] != GRAPH_NONE)
		key = hash_pair(key,
			hash_text(workflow_task(c->match->side[run]->workflow, d->process[run])
					  ->program));
	if (d->change == CHANGE_CHANGED && d->what == FIND_PROCESS) {
		words = find_words(c->names, d->process[0], d->process[1]);
		key = hash_pair(key, hash_text(words));
		free(words);
	}
	return has_file(d) ? hash_pair(key, kind_of_path(path_of(c, d))) : key;
}

static int compare_keys(const void *x, const void *y)
{
	const struct group *a = x, *b = y;

	if (a->key != b->key)
		return a->key < b->key ? -1 : 1;
	return (a->at > b->at) - (a->at < b->at);
}

static int compare_places(const void *x, const void *y)
{
	const struct group *a = x, *b = y;

	return (a->at > b->at) - (a->at < b->at);
}

/* In the order of the differences: each with how many there are of its kind, and which one is the first. */
static struct group *group_differences(const struct comparison *c)
{
	int32_t n = c->found->n;
	struct group *groups = calloc((size_t)n + 1, sizeof(*groups));

	for (int32_t i = 0; groups && i < n; i++)
		groups[i] = (struct group){ key_of(c, &c->found->difference[i]), i, 1, i };
	if (!groups || n == 0)
		return groups;
	qsort(groups, (size_t)n, sizeof(*groups), compare_keys);
	for (int32_t i = 0, k; i < n; i = k) {
		for (k = i; k < n && groups[k].key == groups[i].key; k++)
			groups[k].first = groups[i].at;
		for (int32_t j = i; j < k; j++)
			groups[j].n = k - i;
	}
	qsort(groups, (size_t)n, sizeof(*groups), compare_places);
	return groups;
}

int print_text_put_process(struct table *table, const struct comparison *c,
	const int32_t process[2])
{
	int run = process[0] == GRAPH_NONE;
	cleanup_free char *text = NULL;

	if (process[run] == GRAPH_NONE) {
		table_null(table);
		return 0;
	}
	text = report_process(c, run, process[run]);
	table_string(table, text);
	return text ? 0 : -ENOMEM;
}

/* What is to be said of it beside its name; to be freed. */
static char *detail_of(const struct comparison *c, const struct difference *d)
{
	int run = d->other[0] == GRAPH_NONE;
	cleanup_free char *parent = NULL;
	char *text = NULL;

	if (d->change == CHANGE_CHANGED && d->what == FIND_PROCESS)
		return find_words(c->names, d->process[0], d->process[1]);
	if (d->change == CHANGE_CHANGED)
		return asprintf(&text, "-> %s",
			       names_path(c->names, 1, side_file(c->match->side[1], d->other[1]))) <
				       0
			       ? NULL
			       : text;
	if (d->what == FIND_PROCESS)
		return asprintf(&text, d->edges == 1 ? "with %d edge" : "with %d edges", d->edges) <
				       0
			       ? NULL
			       : text;
	if (d->what != FIND_FORK)
		return strdup("");
	parent = report_process(c, run, d->other[run]);
	if (!parent || asprintf(&text, "started by %s", parent) < 0)
		text = NULL;
	return text;
}

static int put_row(struct table *table, const struct comparison *c, const struct difference *d,
	int32_t others)
{
	cleanup_free char *detail = detail_of(c, d);
	char *text = NULL;
	int r = detail ? 0 : -ENOMEM;

	table_string(table, changes[d->change]);
	table_string(table, find_name(d->what));
	if (r == 0)
		r = print_text_put_process(table, c, d->process);
	table_string(table, has_file(d) ? path_of(c, d) : NULL);
	if (r == 0 && others &&
		asprintf(&text, "%s%sand %d others", detail, *detail ? ", " : "", others) < 0)
		r = -ENOMEM;
	if (r == 0 && (others || *detail))
		table_string(table, others ? text : detail);
	table_row(table);
	if (others)
		free(text);
	return r;
}

/* All edges count together. */
static enum find_what element_of(const struct difference *d)
{
	return d->what < FIND_FORK ? d->what : FIND_EDGE;
}

int print_text_differences(const struct text_output *t)
{
	const struct comparison *c = t->comparison;
	cleanup_free struct group *groups = group_differences(c);
	struct table *table = table_create();
	size_t left_out = 0, shown[FIND_WHAT_MAX] = { 0 };
	int r = groups && table ? 0 : -ENOMEM;

	if (r == 0) {
		table_columns(table, "change what process path detail");
		table_narrow(table, "what process path detail");
	}
	for (int32_t i = 0; i < c->found->n && r == 0; i++) {
		bool many = groups[i].n > ALIKE_SHOWN && t->top;

		if (many && groups[i].first != i)
			continue;
		if (shown[element_of(&c->found->difference[i])]++ < (print_text_limit(t) + 1) / 2)
			r = put_row(table, c, &c->found->difference[i], many ? groups[i].n - 1 : 0);
		else
			left_out++;
	}
	if (r == 0)
		return print_text_table(t, table, left_out, "differences");
	table_destroy(table);
	return r;
}

/* ---- the whole ---- */

int report_print_text(const struct comparison *c, const struct table_style *style, int64_t top,
	FILE *out)
{
	struct text_output t = { c, style, top, out, NULL, NULL };
	cleanup_free char *summary = report_summary(c);
	int r = 0;

	if (!summary)
		return -ENOMEM;
	wrap_print(out, "", "", summary);
	fputc('\n', out);
	for (int run = 0; run < 2; run++) {
		fprintf(out, "%c: ", 'A' + run);
		report_put_short(out, c->trace[run], SIZE_MAX);
		if (c->n_runs[run] > 1)
			fprintf(out, " and %d more", c->n_runs[run] - 1);
		fputs(c->command[run] ? ": " : "", out);
		report_put_short(out, c->command[run] ? c->command[run] : "", COMMAND_SHOWN);
		fputc('\n', out);
	}
	if (c->found->n)
		r = print_text_differences(&t);
	if (r == 0 && report_has_several(c))
		r = print_text_figures(&t);
	if (r == 0 && report_has_several(c))
		r = print_text_noise(&t);
	if (r == 0)
		r = print_text_measures(&t);
	return r < 0 ? r : print_text_paths(&t);
}
