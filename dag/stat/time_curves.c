/* SPDX-License-Identifier: MIT */
#include "dag/stat/time_curves.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/failure.h"
#include "dag/output/chart.h"
#include "dag/stat/stat.h"

#define CURVES 10 /* more cannot be told apart */
#define NAME 160

/* The rows of a group are linked, in their order. */
struct line {
	char name[NAME];
	size_t first, last;
	int64_t operations;
};

struct lines {
	const struct table *table;
	struct line *all;
	size_t n, *next; /* next: of each row, the next one of its group; 0: none */
	int from, operations;
};

bool stat_wants_picture(const struct stat_run *run)
{
	const struct stat_options *o = run->options;

	return o->svg || o->png || o->gnuplot;
}

/* The keys of a row: the columns between the time and the operations. */
static void name_of(const struct lines *lines, size_t row, char name[NAME])
{
	size_t used = 0;

	name[0] = '\0';
	for (int i = lines->from + 1; i < lines->operations && used < NAME; i++) {
		const char *text = table_string_at(lines->table, row, i);
		int64_t number;

		used += (size_t)snprintf(name + used, NAME - used, "%s", used ? " " : "");
		if (used >= NAME)
			return;
		if (text)
			used += (size_t)snprintf(name + used, NAME - used, "%s", text);
		else if (table_get_int(lines->table, row, i, &number))
			used += (size_t)snprintf(name + used, NAME - used, "%lld", (long long)number);
		else
			used += (size_t)snprintf(name + used, NAME - used, "-");
	}
}

static struct line *line_of(struct lines *lines, const char *name)
{
	for (size_t i = 0; i < lines->n; i++)
		if (strcmp(lines->all[i].name, name) == 0)
			return &lines->all[i];
	return NULL;
}

static void add_row(struct lines *lines, size_t row)
{
	char name[NAME];
	struct line *line;
	int64_t operations = 0;

	name_of(lines, row, name);
	table_get_int(lines->table, row, lines->operations, &operations);
	line = line_of(lines, name);
	if (line) {
		lines->next[line->last] = row;
	} else {
		line = &lines->all[lines->n++];
		memcpy(line->name, name, NAME);
		line->first = row;
	}
	line->last = row;
	line->operations += operations;
}

static int compare(const void *a, const void *b)
{
	const struct line *x = a, *y = b;

	return x->operations != y->operations ? (x->operations < y->operations) - (x->operations > y->operations)
		: (x->first > y->first) - (x->first < y->first);
}

/* Intervals in which the group did nothing have no row. */
static void draw_line(const struct lines *lines, const struct line *line, double step, struct chart *chart)
{
	double behind = 0, from, n;
	size_t row = line->first;

	chart_curve(chart, line->name);
	for (;; row = lines->next[row]) {
		if (!table_get_real(lines->table, row, lines->from, &from) || !table_get_real(lines->table, row, lines->operations, &n))
			break;
		if (row != line->first && from > behind + step / 2) {
			chart_point(chart, behind, 0);
			chart_point(chart, from - step, 0);
		}
		chart_point(chart, from, n);
		behind = from + step;
		if (row == line->last)
			break;
	}
	chart_point(chart, behind, 0);
}

static void draw(struct stat_run *run, struct lines *lines, struct chart *chart)
{
	double step = (double)run->options->choice.step_ns / 1e9;

	qsort(lines->all, lines->n, sizeof(*lines->all), compare);
	for (size_t i = 0; i < lines->n && i < CURVES; i++)
		draw_line(lines, &lines->all[i], step, chart);
	if (lines->n > CURVES)
		table_note(run->table, "The picture has the %d of %zu groups with the most operations.", CURVES, lines->n);
}

int stat_draw_time(struct stat_run *run)
{
	const struct stat_options *o = run->options;
	size_t rows = table_rows(run->table);
	cleanup_free struct line *all = calloc(rows + 1, sizeof(*all));
	cleanup_free size_t *next = calloc(rows + 1, sizeof(*next));
	struct lines lines = { run->table, all, 0, next, table_find(run->table, "from_s"), table_find(run->table, "operations") };
	struct chart *chart = chart_create("Operations per interval", "time of the run", "s", "operations", 0);

	for (size_t row = 0; all && next && row < rows; row++)
		add_row(&lines, row);
	if (all && next && chart)
		draw(run, &lines, chart);
	if (!all || !next)
		return failure_memory(run->failure);
	return chart_finish(chart, o->svg, o->png, o->gnuplot, run->failure);
}
