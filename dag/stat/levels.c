/* SPDX-License-Identifier: MIT */
#include "dag/stat/levels.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/failure.h"
#include "dag/container/distribution.h"
#include "dag/container/path_names.h"
#include "dag/trace/traces.h"
#include "db/query.h"

void level_finish(struct level *level)
{
	for (int i = 0; i < level->n_values; i++)
		free(level->names[i]);
	groups_destroy(level->groups);
}

static int add_values(struct level *level, struct distribution *values, const int64_t *value,
	const bool *known)
{
	if (!values)
		return -ENOMEM;
	for (int i = 0; i < level->n_values; i++) {
		if (known[i])
			distribution_add(&values[i], value[i], false);
		else
			level->unknown++;
	}
	return 0;
}

/* The values are the columns from this one on. */
static int begin_level(struct level *level, const struct query *query, int column)
{
	int r = groups_create(level->keys + 1, VALUE_MAX * sizeof(struct distribution),
		&level->groups);

	level->n_values = query_columns(query) - column;
	for (int i = 0; r == 0 && i < level->n_values; i++) {
		level->names[i] = strdup(query_name(query, column + i));
		r = level->names[i] ? 0 : -ENOMEM;
	}
	return r;
}

static int add_row(struct level *level, const struct query *query)
{
	int64_t value[VALUE_MAX];
	bool known[VALUE_MAX];

	for (int i = 0; i < level->n_values; i++) {
		int column = level->keys + 1 + i;

		known[i] = query_type(query, column) != QUERY_NULL;
		value[i] = query_int(query, column);
	}
	return add_values(level, groups_find(level->groups, query), value, known);
}

int level_read(struct stat_run *run, const char *name, const struct choice *choice,
	struct level *level)
{
	struct query *query;
	int r = traces_query(run->db, name, NULL, choice, &query, &level->keys, run->failure);

	if (r == 0)
		r = failure_of_memory(run->failure, begin_level(level, query, level->keys + 1));
	while (r == 0 && (r = traces_next(run->db, query, run->failure)) > 0)
		r = failure_of_memory(run->failure, add_row(level, query));
	query_end(query);
	return r;
}

/* ---- several rows for each job or process, which are summed up ---- */

struct sum {
	__int128 values[VALUE_MAX];
	bool unknown[VALUE_MAX];
	bool started;
	int64_t start_ns;
};

static int add_part(struct groups *units, const struct query *query, int start, int n_values)
{
	struct sum *sum = groups_find(units, query);
	int64_t start_ns = query_int(query, start);

	if (!sum)
		return -ENOMEM;
	if (!sum->started || start_ns < sum->start_ns)
		sum->start_ns = start_ns;
	sum->started = true;
	for (int i = 0; i < n_values; i++) {
		sum->unknown[i] |= query_type(query, start + 1 + i) == QUERY_NULL;
		sum->values[i] += query_int(query, start + 1 + i);
	}
	return 0;
}

/* Adds the sums in the order in which the units began. */
static int add_units(struct level *level, struct groups *units)
{
	cleanup_free size_t *order = groups_by_time(units, offsetof(struct sum, start_ns));
	int r = order ? 0 : -ENOMEM;

	for (size_t i = 0; r == 0 && i < groups_count(units); i++) {
		const struct sum *sum = groups_data(units, order[i]);
		int64_t value[VALUE_MAX];
		bool known[VALUE_MAX];

		for (int k = 0; k < level->n_values; k++) {
			value[k] = (int64_t)sum->values[k];
			known[k] = !sum->unknown[k] && value[k] == sum->values[k];
		}
		r = add_values(level, groups_above(level->groups, units, order[i]), value, known);
	}
	return r;
}

/* Sums up the parts of each unit.  first: the column of the unit's name; behind it are its start and its values. */
static int read_units(struct stat_run *run, struct query *query, struct level *level, int first,
	struct groups *units, struct path_names *names)
{
	size_t len;
	int r = 0;

	while (r == 0 && (r = traces_next(run->db, query, run->failure)) > 0) {
		const char *unit = query_bytes(query, first, &len);

		r = add_part(units, query, first + 1, level->n_values);
		if (r == 0 && path_names_add(names, unit, len) < 0)
			r = -ENOMEM;
		r = failure_of_memory(run->failure, r);
	}
	level->counts = groups_count(units);
	level->units = (uint64_t)path_names_count(names);
	return r < 0 ? r : failure_of_memory(run->failure, add_units(level, units));
}

/* Done here because SQLite would sort all rows twice: to group them, and for their order. */
int level_read_parts(struct stat_run *run, const char *name, const struct choice *choice,
	struct level *level)
{
	struct query *query;
	struct groups *units = NULL;
	struct path_names *names = path_names_create();
	int r = traces_query(run->db, name, NULL, choice, &query, &level->keys, run->failure);
	int unit = level->keys + 1; /* behind the keys: "job" or "process", then its name */

	if (r == 0 && (!names || groups_create(unit + 1, sizeof(struct sum), &units) < 0 ||
			      begin_level(level, query, unit + 2) < 0))
		r = failure_memory(run->failure);
	if (r == 0)
		r = read_units(run, query, level, unit, units, names);
	query_end(query);
	groups_destroy(units);
	path_names_destroy(names);
	return r;
}

/* ---- rows ---- */

static void put_numbers(struct table *table, const struct distribution *d, const char *name,
	int64_t memory)
{
	table_name(table, name);
	table_int(table, (int64_t)d->count);
	if (d->count) {
		table_int(table, d->min), table_unit(table, name);
		table_int(table, d->max), table_unit(table, name);
		table_real(table, distribution_mean(d)), table_unit(table, name);
		table_real(table, distribution_deviation(d)), table_unit(table, name);
		table_sum(table, d->sum), table_unit(table, name);
		if (memory && d->max > 0)
			table_int(table, memory / d->max);
	}
	table_row(table);
}

void level_put(struct stat_run *run, const struct level *level, size_t group, bool all,
	int64_t memory)
{
	const struct distribution *values = groups_data(level->groups, group);

	for (int i = 0; i < level->n_values; i++) {
		groups_put(level->groups, group, 0, level->keys - 1, run->table);
		if (all)
			table_string(run->table, LEVELS_ALL);
		groups_put(level->groups, group, level->keys, level->keys, run->table);
		put_numbers(run->table, &values[i], level->names[i], memory);
	}
}

static int add_columns(struct stat_run *run, const struct levels_table *kind)
{
	struct query *query;
	int keys;
	int r = traces_query(run->db, kind->by_process, NULL, &run->options->choice, &query, &keys,
		run->failure);

	if (r == 0)
		stat_columns(run->table, query, 0, keys - 1);
	query_end(query);
	table_columns(run->table, kind->columns);
	return r;
}

/* Is this the last group of its job type?  A job type may have two: its jobs, and processes without a job. */
static bool is_last(const struct groups *groups, size_t group)
{
	for (size_t i = group + 1; i < groups_count(groups); i++)
		if (groups_agree(groups, group, groups, i, 1))
			return false;
	return true;
}

/* The programs of a job type; all programs if there are no job types. */
static void put_programs(struct stat_run *run, const struct levels_table *kind, const struct level *upper,
	size_t group, const struct level *lower)
{
	for (size_t i = 0; lower->groups && i < groups_count(lower->groups); i++)
		if (!upper || groups_agree(upper->groups, group, lower->groups, i, 1))
			kind->put(run, lower, i, false, kind->memory);
}

static void put_levels(struct stat_run *run, const struct levels_table *kind, const struct level *upper,
	const struct level *lower)
{
	bool both = upper->groups && lower->groups;

	for (size_t i = 0; upper->groups && i < groups_count(upper->groups); i++) {
		kind->put(run, upper, i, both, kind->memory);
		if (both && is_last(upper->groups, i))
			put_programs(run, kind, upper, i, lower);
	}
	if (!upper->groups)
		put_programs(run, kind, NULL, 0, lower);
}

int levels_fill(struct stat_run *run, const struct levels_table *kind, struct level *upper,
	struct level *lower)
{
	const struct stat_options *o = run->options;
	bool both = o->by.n == 0 && !o->per_given;
	struct choice jobs = o->choice;
	int r = add_columns(run, kind);

	jobs.per_job = true;
	if (both)
		jobs.by[0] = "xform";
	if (r == 0 && (both || o->choice.per_job))
		r = kind->read(run, kind->by_job, &jobs, upper);
	if (r == 0 && (both || !o->choice.per_job))
		r = kind->read(run, kind->by_process, &o->choice, lower);
	if (r == 0)
		put_levels(run, kind, upper, lower);
	return r;
}

void levels_note_counts(struct stat_run *run, const struct level *upper, const struct level *lower)
{
	const struct level *parts = lower->groups ? lower : upper;
	const char *what = lower->groups ? "processes" : "jobs";

	table_note(run->table, "count: jobs or processes, see the column of%s.",
		upper->groups && lower->groups ? ", and all of a job type together" : "");
	if (parts->counts > parts->units)
		table_note(run->table,
			"Jobs and processes that belong to several rows (a process that ran several programs) count "
			"in each of them: %llu counts of %llu %s.",
			(unsigned long long)parts->counts, (unsigned long long)parts->units, what);
}

int levels_fill_numbers(struct stat_run *run, const struct levels_table *kind)
{
	struct level upper = { 0 }, lower = { 0 };
	int r = levels_fill(run, kind, &upper, &lower);

	if (r == 0)
		levels_note_counts(run, &upper, &lower);
	if (upper.unknown + lower.unknown && (run->has_files || kind->read != level_read_parts))
		table_note(run->table,
			"%llu values are unknown and not counted: the process was still running, or "
			"its figures could not be read (see tier of 'wfstat proc', and procmon(1)).",
			(unsigned long long)(upper.unknown + lower.unknown));
	level_finish(&upper);
	level_finish(&lower);
	return r;
}
