/* SPDX-License-Identifier: MIT */
#include "dag/stat/values.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/failure.h"
#include "dag/container/classes.h"
#include "dag/container/grouped.h"
#include "dag/container/groups.h"
#include "dag/output/chart.h"
#include "dag/stat/scan.h"
#include "dag/trace/traces.h"
#include "db/query.h"

#define BAR_WIDTH 40

int stat_values_add(struct values *values, const struct query *query)
{
	struct group_values *of = groups_find(values->groups, query);
	int64_t value = query_int(query, values->column);

	if (!of)
		return -ENOMEM;
	if (query_type(query, values->column) == QUERY_NULL) {
		values->unknown++;
		return 0;
	}
	of->classes[classes_find(value, values->is_tens)]++;
	return distribution_add(&of->all, value, values->keep);
}

int values_read(struct stat_run *run, struct values *values)
{
	struct grouped of;
	char name[64];
	int r;

	snprintf(name, sizeof(name), "values.%s", run->options->of);
	r = grouped_start(run->db, name, NULL, &run->options->choice, sizeof(struct group_values), &of, run->failure);
	values->groups = of.groups;
	values->keys = of.keys;
	values->column = of.column;
	if (r == 0) {
		snprintf(values->unit, sizeof(values->unit), "%s", query_name(of.query, of.column));
		grouped_name_keys(&of, run->table);
	}
	while (r == 0 && (r = traces_next(run->db, of.query, run->failure)) > 0)
		r = failure_of_memory(run->failure, stat_values_add(values, of.query));
	grouped_end(&of);
	return r;
}

int stat_values_create(int column, const char *unit, struct values **ret_values)
{
	struct values *values = calloc(1, sizeof(*values));

	*ret_values = values;
	if (!values || groups_create(1, sizeof(struct group_values), &values->groups) < 0)
		return -ENOMEM;
	groups_one(values->groups);
	values->keys = 1;
	values->column = column;
	snprintf(values->unit, sizeof(values->unit), "%s", unit);
	return 0;
}

void values_finish(struct values *values)
{
	for (size_t i = 0; values->groups && i < groups_count(values->groups); i++)
		distribution_finish(&((struct group_values *)groups_data(values->groups, i))->all);
	groups_destroy(values->groups);
}

void values_add_notes(struct stat_run *run, const struct values *values)
{
	if (values->unknown)
		table_note(run->table, "%llu values are unknown and not counted.",
			(unsigned long long)values->unknown);
	if (stat_needs_ops(run->options) && !run->has_ops)
		stat_note_no_ops(run, "Single operations are");
	if (strstr(run->options->of, "read") || strstr(run->options->of, "write") ||
		strstr(run->options->of, "latency"))
		stat_note_fidelity(run);
}

void stat_values_destroy(struct values *values)
{
	if (values)
		values_finish(values);
	free(values);
}

void values_put_bar(struct stat_run *run, int64_t count, int64_t most)
{
	char bar[BAR_WIDTH + 1];
	int width = most ? (int)((double)count / (double)most * BAR_WIDTH + 0.5) : 0;

	memset(bar, '#', width);
	bar[width] = '\0';
	table_string(run->table, bar);
}

bool values_show_bars(const struct stat_run *run)
{
	return run->options->style.format == TABLE_TEXT && isatty(STDOUT_FILENO);
}

double values_on_axis(const struct values *values, double value)
{
	return strstr(values->unit, "_ns") ? value / 1e9 : value;
}

struct chart *values_chart(struct stat_run *run, const struct values *values, const char *what,
	const char *y, int flags)
{
	const struct stat_options *o = run->options;
	bool time = strstr(values->unit, "_ns");
	char title[128];

	if (!o->svg && !o->png && !o->gnuplot)
		return NULL;
	snprintf(title, sizeof(title), "%s of %s", what, o->of);
	return chart_create(title, o->of, time ? "s" : "B", y, flags);
}

int values_finish_chart(struct stat_run *run, struct chart *chart)
{
	const struct stat_options *o = run->options;

	return chart || o->svg || o->png || o->gnuplot
		       ? chart_finish(chart, o->svg, o->png, o->gnuplot, run->failure)
		       : 0;
}
