/* SPDX-License-Identifier: MIT */

/* What people are told of two runs: much of the same is one row. */

#include "dag/diff_report.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "dag/diff_hash.h"
#include "dag/diff_names.h"

#define ALIKE_SHOWN 3     /* so many of the same are still a row each */
#define PART_OF_WHOLE .01 /* of the run: less is not worth a row */
#define PART_OF_ITSELF .05

struct telling {
	const struct comparison *comparison;
	const struct table_style *style;
	int64_t top;
	FILE *out;
};

static size_t limit(const struct telling *t)
{
	return t->top ? (size_t)t->top : SIZE_MAX - 1;
}

/* An empty table is not worth a line. */
static int print_part(const struct telling *t, struct table *table, size_t left_out,
	const char *what)
{
	int r = 0;

	if (left_out)
		table_note(table, "%zu more %s: --top 0 shows all", left_out, what);
	if (table_rows(table)) {
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

static int put_process(struct table *table, const struct comparison *c, const int32_t process[2])
{
	int run = process[0] == GRAPH_NONE;
	char *text;

	if (process[run] == GRAPH_NONE) {
		table_null(table);
		return 0;
	}
	text = report_process(c, run, process[run]);
	table_string(table, text);
	free(text);
	return text ? 0 : -ENOMEM;
}

/* What is to be said of it beside its name; to be freed. */
static char *detail_of(const struct comparison *c, const struct difference *d)
{
	int run = d->other[0] == GRAPH_NONE;
	char *text = NULL, *parent;

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
	free(parent);
	return text;
}

static int put_row(struct table *table, const struct comparison *c, const struct difference *d,
	int32_t others)
{
	char *detail = detail_of(c, d), *text = NULL;
	int r = detail ? 0 : -ENOMEM;

	table_string(table, changes[d->change]);
	table_string(table, find_name(d->what));
	if (r == 0)
		r = put_process(table, c, d->process);
	table_string(table, has_file(d) ? path_of(c, d) : NULL);
	if (r == 0 && others &&
		asprintf(&text, "%s%sand %d others", detail, *detail ? ", " : "", others) < 0)
		r = -ENOMEM;
	if (r == 0 && (others || *detail))
		table_string(table, others ? text : detail);
	table_row(table);
	if (others)
		free(text);
	free(detail);
	return r;
}

/* All edges count together. */
static enum find_what element_of(const struct difference *d)
{
	return d->what < FIND_FORK ? d->what : FIND_EDGE;
}

static int tell_differences(const struct telling *t)
{
	const struct comparison *c = t->comparison;
	struct group *groups = group_differences(c);
	struct table *table = table_create();
	size_t left_out = 0, shown[FIND_WHAT_MAX] = { 0 };
	int r = groups && table ? 0 : -ENOMEM;

	if (r == 0)
		table_columns(table, "change what process path detail");
	for (int32_t i = 0; i < c->found->n && r == 0; i++) {
		bool many = groups[i].n > ALIKE_SHOWN && t->top;

		if (many && groups[i].first != i)
			continue;
		if (shown[element_of(&c->found->difference[i])]++ < (limit(t) + 1) / 2)
			r = put_row(table, c, &c->found->difference[i], many ? groups[i].n - 1 : 0);
		else
			left_out++;
	}
	free(groups);
	if (r == 0)
		return print_part(t, table, left_out, "differences");
	table_destroy(table);
	return r;
}

/* ---- numbers ---- */

/* A row of a table with the first run, the second, and the change; larger ones come first. */
struct change_row {
	double weight;
	int32_t of, measure;
};

static int compare_rows(const void *x, const void *y)
{
	const struct change_row *a = x, *b = y;

	if (a->weight != b->weight)
		return a->weight > b->weight ? -1 : 1;
	return a->of != b->of ? a->of - b->of : a->measure - b->measure;
}

static void put_number(struct table *table, int64_t number, const char *unit)
{
	if (number == WORKFLOW_UNKNOWN)
		table_null(table);
	else
		table_int(table, number);
	table_unit(table, unit);
}

static void put_numbers(struct table *table, int64_t a, int64_t b, const char *unit)
{
	bool known = a != WORKFLOW_UNKNOWN && b != WORKFLOW_UNKNOWN;

	put_number(table, a, unit);
	put_number(table, b, unit);
	put_number(table, known ? b - a : WORKFLOW_UNKNOWN, unit);
	table_real(table, measure_percent(a, b) / 100);
	table_row(table);
}

static void put_measure(struct table *table, const struct measured *m, int measure)
{
	table_string(table, m->whole ? "whole run" : m->phase);
	table_name(table, measures[measure]);
	put_numbers(table, m->of[measure][0], m->of[measure][1], measures[measure]);
}

/* How much of the change of the run it makes; 0: it is not worth a row. */
static double weight_of(const struct measurement *m, int32_t i, int measure)
{
	const int64_t *of = m->measured[i].of[measure], *whole = m->measured[0].of[measure];
	double a = of[0] == WORKFLOW_UNKNOWN ? 0 : (double)of[0];
	double b = of[1] == WORKFLOW_UNKNOWN ? 0 : (double)of[1];
	double part = whole[0] > 0 ? fabs(b - a) / (double)whole[0] : fabs(b - a) > 0;

	return part >= PART_OF_WHOLE && fabs(b - a) >= PART_OF_ITSELF * a ? part : 0;
}

static size_t list_phases(const struct telling *t, struct change_row *rows)
{
	const struct measurement *m = t->comparison->measurement;
	size_t n = 0;

	for (int32_t i = 1; i < m->n; i++)
		for (int k = 0; k < MEASURE_MAX; k++) {
			double weight = weight_of(m, i, k);

			if ((weight > 0 && m->measured[i].phase) || !t->top)
				rows[n++] = (struct change_row){ weight, i, k };
		}
	if (n && t->top)
		qsort(rows, n, sizeof(*rows), compare_rows);
	return n;
}

static int tell_measures(const struct telling *t)
{
	const struct measurement *m = t->comparison->measurement;
	struct change_row *rows = calloc((size_t)m->n * MEASURE_MAX + 1, sizeof(*rows));
	struct table *table = table_create();
	size_t n = rows ? list_phases(t, rows) : 0, shown = n < limit(t) ? n : limit(t);

	if (!rows || !table) {
		free(rows);
		table_destroy(table);
		return -ENOMEM;
	}
	table_columns(table, "phase what A B difference difference_share");
	for (int k = 0; k < MEASURE_MAX; k++)
		put_measure(table, &m->measured[0], k);
	for (size_t i = 0; i < shown; i++)
		put_measure(table, &m->measured[rows[i].of], rows[i].measure);
	free(rows);
	return print_part(t, table, n - shown, "changes of phases");
}

/* ---- critical paths ---- */

static size_t list_steps(const struct telling *t, struct change_row *rows)
{
	const struct paths *paths = t->comparison->paths;
	size_t n = 0;

	for (int32_t i = 0; i < paths->n; i++) {
		const int64_t *on = paths->step[i].on_ns;
		double part = fabs((double)(on[1] - on[0])) / fmax((double)paths->length_ns[0], 1);

		if (part >= PART_OF_WHOLE || !t->top)
			rows[n++] = (struct change_row){ part, i, 0 };
	}
	if (n && t->top)
		qsort(rows, n, sizeof(*rows), compare_rows);
	return n;
}

static int put_steps(const struct telling *t, struct table *table, const struct change_row *rows,
	size_t n)
{
	const struct paths *paths = t->comparison->paths;
	int r = 0;

	table_columns(table, "critical_path A B difference difference_share");
	table_string(table, "all");
	put_numbers(table, paths->length_ns[0], paths->length_ns[1], "time_ns");
	for (size_t i = 0; i < n && r == 0; i++) {
		const struct path_step *step = &paths->step[rows[i].of];

		r = put_process(table, t->comparison, step->process);
		put_numbers(table, step->on_ns[0], step->on_ns[1], "time_ns");
	}
	table_note(table,
		"On the critical path of both: %d processes; of A alone: %d; of B alone: %d.",
		paths->both, paths->only[0], paths->only[1]);
	return r;
}

static int tell_paths(const struct telling *t)
{
	const struct paths *paths = t->comparison->paths;
	struct change_row *rows = calloc((size_t)paths->n + 1, sizeof(*rows));
	struct table *table = table_create();
	size_t most = t->top ? (limit(t) + 1) / 2 : SIZE_MAX, n = rows ? list_steps(t, rows) : 0;
	int r = rows && table ? put_steps(t, table, rows, n < most ? n : most) : -ENOMEM;

	free(rows);
	if (r == 0)
		return print_part(t, table, n < most ? 0 : n - most, "processes");
	table_destroy(table);
	return r;
}

/* ---- the whole ---- */

int report_people(const struct comparison *c, const struct table_style *style, int64_t top,
	FILE *out)
{
	struct telling t = { c, style, top, out };
	char *summary = report_summary(c);
	int r = 0;

	if (!summary)
		return -ENOMEM;
	fprintf(out, "%s\n\n", summary);
	free(summary);
	for (int run = 0; run < 2; run++)
		fprintf(out, "%c: %s%s%s\n", 'A' + run, c->trace[run], c->command[run] ? ": " : "",
			c->command[run] ? c->command[run] : "");
	if (c->found->n)
		r = tell_differences(&t);
	if (r == 0)
		r = tell_measures(&t);
	return r < 0 ? r : tell_paths(&t);
}
