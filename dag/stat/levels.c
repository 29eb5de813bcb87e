/* SPDX-License-Identifier: MIT */
#include "dag/stat/levels.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "dag/container/distribution.h"
#include "dag/container/path_names.h"
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
		return stat_out_of_memory();
	for (int i = 0; i < level->n_values; i++) {
		if (known[i])
			distribution_add(&values[i], value[i], false);
		else
			level->unknown++;
	}
	return 0;
}

/* The query has the names of values from this column on. */
static int begin_level(struct level *level, const struct query *query, int column)
{
	int status = 0;

	if (groups_create(level->keys + 1, VALUE_MAX * sizeof(struct distribution),
		    &level->groups) < 0)
		return stat_out_of_memory();
	level->n_values = query_columns(query) - column;
	for (int i = 0; status == 0 && i < level->n_values; i++) {
		level->names[i] = strdup(query_name(query, column + i));
		status = level->names[i] ? 0 : stat_out_of_memory();
	}
	return status;
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

/* Each row is what one job or process is. */
int level_read(struct stat_run *run, const char *name, const struct choice *choice,
	struct level *level)
{
	struct query *query;
	int status = stat_query(run, name, NULL, choice, &query, &level->keys), r = 1;

	if (status == 0)
		status = begin_level(level, query, level->keys + 1);
	while (status == 0 && (r = stat_next(run, query)) > 0)
		status = add_row(level, query);
	query_end(query);
	return r < 0 ? EXIT_FAILURE : status;
}

/* ---- rows that are parts of what a job or process is ---- */

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
		return stat_out_of_memory();
	if (!sum->started || start_ns < sum->start_ns)
		sum->start_ns = start_ns;
	sum->started = true;
	for (int i = 0; i < n_values; i++) {
		sum->unknown[i] |= query_type(query, start + 1 + i) == QUERY_NULL;
		sum->values[i] += query_int(query, start + 1 + i);
	}
	return 0;
}

/* In the order in which they began. */
static int add_units(struct level *level, struct groups *units)
{
	size_t n = groups_count(units), *order = groups_by_time(units, offsetof(struct sum, start_ns));
	int status = order ? 0 : stat_out_of_memory();

	for (size_t i = 0; status == 0 && i < n; i++) {
		const struct sum *sum = groups_data(units, order[i]);
		int64_t value[VALUE_MAX];
		bool known[VALUE_MAX];

		for (int k = 0; k < level->n_values; k++) {
			value[k] = (int64_t)sum->values[k];
			known[k] = !sum->unknown[k] && value[k] == sum->values[k];
		}
		status = add_values(level, groups_above(level->groups, units, order[i]), value,
			known);
	}
	free(order);
	return status;
}

static int remember_unit(struct path_names *met, const struct query *query, int column)
{
	size_t len;
	const char *unit = query_bytes(query, column, &len);

	return path_names_add(met, unit, len) < 0 ? stat_out_of_memory() : 0;
}

/* SQLite would sort all rows to find those that belong together, and once more for their order. */
int level_read_parts(struct stat_run *run, const char *name, const struct choice *choice,
	struct level *level)
{
	struct query *query;
	struct groups *units = NULL;
	struct path_names *met = path_names_create();
	int status = stat_query(run, name, NULL, choice, &query, &level->keys), r = 1,
	    start = level->keys + 2;

	if (status == 0)
		status = begin_level(level, query, start + 1);
	/* keys, job or process, which one */
	if (status == 0 && (!met || groups_create(start, sizeof(struct sum), &units) < 0))
		status = stat_out_of_memory();
	while (status == 0 && (r = stat_next(run, query)) > 0) {
		status = add_part(units, query, start, level->n_values);
		if (status == 0)
			status = remember_unit(met, query, start - 1);
	}
	query_end(query);
	if (status == 0 && r == 0) {
		level->counts = groups_count(units);
		level->units = (uint64_t)path_names_count(met);
		status = add_units(level, units);
	}
	groups_destroy(units);
	path_names_destroy(met);
	return r < 0 ? EXIT_FAILURE : status;
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
	int keys, status = stat_query(run, kind->by_process, NULL, &run->options->choice, &query, &keys);

	if (status == 0)
		stat_columns(run->table, query, 0, keys - 1);
	query_end(query);
	table_columns(run->table, kind->columns);
	return status;
}

/* Of the groups of one job type, jobs and processes without a job: programs come once. */
static bool is_last(const struct groups *groups, size_t group)
{
	for (size_t i = group + 1; i < groups_count(groups); i++)
		if (groups_agree(groups, group, groups, i, 1))
			return false;
	return true;
}

/* The programs of a job type; of all if there are no job types. */
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

/* upper and lower are to be finished. */
int levels_fill(struct stat_run *run, const struct levels_table *kind, struct level *upper,
	struct level *lower)
{
	const struct stat_options *o = run->options;
	bool both = o->by.n == 0 && !o->per_given;
	struct choice jobs = o->choice;
	int status = add_columns(run, kind);

	jobs.per_job = true;
	if (both)
		jobs.by[0] = "xform";
	if (status == 0 && (both || o->choice.per_job))
		status = kind->read(run, kind->by_job, &jobs, upper);
	if (status == 0 && (both || !o->choice.per_job))
		status = kind->read(run, kind->by_process, &o->choice, lower);
	if (status == 0)
		put_levels(run, kind, upper, lower);
	return status;
}

/* What is counted, and whether it is counted more than once. */
void levels_note_counts(struct stat_run *run, const struct level *upper, const struct level *lower)
{
	const struct level *parts = lower->groups ? lower : upper;
	const char *what = lower->groups ? "processes" : "jobs";

	table_note(run->table, "count: jobs or processes, as of says%s.",
		upper->groups && lower->groups ? ", and those of a job type once more, together" : "");
	if (parts->counts > parts->units)
		table_note(run->table,
			"What belongs to several rows, as a process that ran several programs, counts in each: these "
			"are %llu counts of %llu %s.",
			(unsigned long long)parts->counts, (unsigned long long)parts->units, what);
}

int levels_fill_numbers(struct stat_run *run, const struct levels_table *kind)
{
	struct level upper = { 0 }, lower = { 0 };
	int status = levels_fill(run, kind, &upper, &lower);

	if (status == 0)
		levels_note_counts(run, &upper, &lower);

	if (upper.unknown + lower.unknown && (run->has_files || kind->read != level_read_parts))
		table_note(run->table,
			"%llu values are unknown and not counted: the process was still running, or "
			"its figures could not be read (see tier of 'wfstat proc', and procmon(1)).",
			(unsigned long long)(upper.unknown + lower.unknown));
	level_finish(&upper);
	level_finish(&lower);
	return status;
}
