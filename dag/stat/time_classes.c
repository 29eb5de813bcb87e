/* SPDX-License-Identifier: MIT */
#include "dag/stat/time_classes.h"

#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/failure.h"
#include "base/saturate.h"
#include "base/vector.h"
#include "dag/container/classes.h"
#include "dag/container/grouped.h"
#include "dag/container/groups.h"
#include "dag/container/sparse.h"
#include "dag/output/chart.h"
#include "dag/stat/stat.h"
#include "dag/stat/sums.h"
#include "dag/stat/time_curves.h"
#include "dag/trace/traces.h"
#include "db/query.h"

#define MAPS 4 /* more are too small to read */

const char *const stat_classes_values[] = { "size", "bytes", "latency", NULL };

/* Of one class in one interval. */
struct cell {
	int64_t operations, bytes;
	bool used, bytes_unknown;
};

struct of_group {
	int64_t first_ns, operations;
	size_t number, rank; /* rank: by first_ns */
	struct sparse *cells; /* NULL: no row was seen */
};

/* A row of the table. */
struct place {
	int64_t n;
	int class;
	struct of_group *group;
	struct cell *cell;
};

struct classes {
	struct grouped of;
	struct place *places;
	size_t count;
	bool of_latency, of_bytes, is_tens;
};

/* Columns behind the keys. */
#define COLUMNS "n value operations bytes first_ns"
enum { N, VALUE, OPERATIONS, BYTES, FIRST };

const char *stat_classes_query(const struct stat_options *o)
{
	return strcmp(o->of, "latency") == 0 ? "time.latency" : "time.size";
}

/* ---- rows of the query ---- */

static int add_group(struct of_group *group, int64_t first_ns)
{
	if (group->cells) {
		group->first_ns = first_ns < group->first_ns ? first_ns : group->first_ns;
		return 0;
	}
	group->first_ns = first_ns;
	return sparse_create(sizeof(struct cell), &group->cells);
}

static int add_row(struct classes *c)
{
	const struct query *query = c->of.query;
	int at = c->of.column;
	int64_t n = query_int(query, at + N), operations = query_int(query, at + OPERATIONS);
	int class = classes_find(query_int(query, at + VALUE), c->is_tens);
	struct of_group *group = groups_find(c->of.groups, query);
	struct cell *cell;

	if (!group || add_group(group, query_int(query, at + FIRST)) < 0)
		return -ENOMEM;
	if (n < 0 || n > INT64_MAX / CLASSES_MAX - 1) /* in made-up traces */
		return 0;
	cell = sparse_at(group->cells, n * CLASSES_MAX + class);
	if (!cell || (!cell->used && vector_push(c->places, c->count, ((struct place){ n, class, group, cell })) < 0))
		return -ENOMEM;
	cell->used = true;
	cell->operations = saturate_add(cell->operations, operations);
	group->operations = saturate_add(group->operations, operations);
	cell->bytes_unknown |= query_type(query, at + BYTES) == QUERY_NULL;
	cell->bytes = saturate_add(cell->bytes, query_int(query, at + BYTES));
	return 0;
}

/* ---- order ---- */

static int compare(const void *a, const void *b)
{
	const struct place *x = a, *y = b;

	if (x->n != y->n)
		return (x->n > y->n) - (x->n < y->n);
	if (x->group != y->group)
		return (x->group->rank > y->group->rank) - (x->group->rank < y->group->rank);
	return (x->class > y->class) - (x->class < y->class);
}

/* Interval by interval, groups by their first operation in the run. */
static int arrange(struct classes *c)
{
	cleanup_free size_t *order = groups_by_time(c->of.groups, offsetof(struct of_group, first_ns));

	for (size_t i = 0; order && i < groups_count(c->of.groups); i++) {
		struct of_group *group = groups_data(c->of.groups, order[i]);

		group->rank = i;
		group->number = order[i];
	}
	if (order && c->count)
		qsort(c->places, c->count, sizeof(*c->places), compare);
	return order ? 0 : -ENOMEM;
}

/* ---- the table ---- */

static void put_row(struct stat_run *run, const struct classes *c, const struct place *place)
{
	struct table *table = run->table;

	table_real(table, (double)(place->n * run->options->choice.step_ns) / 1e9);
	groups_put(c->of.groups, place->group->number, 0, c->of.keys - 1, table);
	table_int(table, classes_begin(place->class, c->is_tens));
	table_int(table, classes_begin(place->class + 1, c->is_tens));
	table_int(table, place->cell->operations);
	if (c->of_bytes && place->cell->bytes_unknown)
		table_null(table);
	else if (c->of_bytes)
		table_int(table, place->cell->bytes);
}

static void put_rows(struct stat_run *run, const struct classes *c)
{
	bool unknown = false;

	table_column(run->table, "from_s", strlen("from_s"));
	grouped_name_keys(&c->of, run->table);
	table_columns(run->table, c->of_latency ? "least_ns below_ns operations"
		: c->of_bytes ? "least_bytes below_bytes operations moved_bytes" : "least_bytes below_bytes operations");
	for (size_t i = 0; i < c->count; i++) {
		put_row(run, c, &c->places[i]);
		unknown |= c->of_bytes && c->places[i].cell->bytes_unknown;
	}
	if (unknown)
		table_note(run->table, "Single operations were not recorded: bytes are known where all sizes of a process in a second are of one class.");
}

/* ---- the picture ---- */

static int compare_groups(const void *a, const void *b)
{
	const struct of_group *x = *(struct of_group *const *)a, *y = *(struct of_group *const *)b;

	if (x->operations != y->operations)
		return (x->operations < y->operations) - (x->operations > y->operations);
	return (x->rank > y->rank) - (x->rank < y->rank);
}

/* The groups, from that with the most operations on; NULL: out of memory. */
static const struct of_group **largest(const struct classes *c)
{
	size_t n = groups_count(c->of.groups);
	const struct of_group **all = calloc(n + 1, sizeof(*all));

	for (size_t i = 0; all && i < n; i++)
		all[i] = groups_data(c->of.groups, i);
	if (all)
		qsort(all, n, sizeof(*all), compare_groups);
	return all;
}

static void draw_group(const struct stat_run *run, const struct classes *c, const struct of_group *group, struct chart *chart)
{
	double step = (double)run->options->choice.step_ns / 1e9, scale = c->of_latency ? 1e9 : 1;
	char name[256];

	chart_curve(chart, groups_name(c->of.groups, group->number, name, sizeof(name)));
	for (size_t i = 0; i < c->count; i++) {
		const struct place *p = &c->places[i];
		double x = (double)p->n * step, value = (double)(c->of_bytes ? p->cell->bytes : p->cell->operations);

		if (p->group == group && value > 0 && !(c->of_bytes && p->cell->bytes_unknown))
			chart_box(chart, x, x + step, (double)classes_begin(p->class, c->is_tens) / scale,
				(double)classes_begin(p->class + 1, c->is_tens) / scale, value);
	}
}

static int draw(struct stat_run *run, const struct classes *c)
{
	const struct stat_options *o = run->options;
	const char *values = c->of_bytes ? "bytes" : "operations";
	struct chart *chart = chart_create(c->of_latency ? "Operations by latency" : c->of_bytes ? "Bytes by size of operations" : "Operations by size",
		"time of the run", "s", c->of_latency ? "latency" : "size", 0);
	size_t n = groups_count(c->of.groups);
	cleanup_free const struct of_group **groups = largest(c);

	if (chart)
		chart_map(chart, c->of_latency ? "s" : "B", values);
	for (size_t i = 0; chart && groups && i < n && i < MAPS; i++)
		draw_group(run, c, groups[i], chart);
	if (n > MAPS)
		table_note(run->table, "The picture has the %d of %zu groups with the most operations.", MAPS, n);
	if (!groups)
		return failure_memory(run->failure);
	return chart_finish(chart, o->svg, o->png, o->gnuplot, run->failure);
}

/* ---- all of it ---- */

/* Which query: that of sums has powers of two alone, and knows few bytes. */
static int choose(struct stat_run *run, const struct classes *c, char name[32], bool *ret_known)
{
	bool fits = false;
	int r = 0;

	snprintf(name, 32, "%s.sums", stat_classes_query(run->options));
	if (!c->is_tens && !(c->of_bytes && run->has_ops))
		r = stat_sums_fit(run, name, &fits);
	if (!fits)
		snprintf(name, 32, "%s", stat_classes_query(run->options));
	*ret_known = fits || run->has_ops;
	return r;
}

static int read_rows(struct stat_run *run, struct classes *c, const char *name)
{
	int r = grouped_start(run->db, name, COLUMNS, &run->options->choice, sizeof(struct of_group), &c->of, run->failure);

	while (r == 0 && (r = traces_next(run->db, c->of.query, run->failure)) > 0)
		r = failure_of_memory(run->failure, add_row(c));
	return r < 0 ? r : failure_of_memory(run->failure, arrange(c));
}

static void finish(struct classes *c)
{
	for (size_t i = 0; c->of.groups && i < groups_count(c->of.groups); i++)
		sparse_destroy(((struct of_group *)groups_data(c->of.groups, i))->cells, NULL);
	groups_destroy(c->of.groups);
	grouped_end(&c->of);
	free(c->places);
}

int stat_put_classes(struct stat_run *run, bool *ret_known)
{
	const struct stat_options *o = run->options;
	struct classes c = { .of_latency = strcmp(o->of, "latency") == 0, .of_bytes = strcmp(o->of, "bytes") == 0,
		.is_tens = o->sizes == SIZES_TENS };
	char name[32];
	int r = choose(run, &c, name, ret_known);

	if (r == 0)
		r = read_rows(run, &c, name);
	if (r == 0)
		put_rows(run, &c);
	if (r == 0 && stat_wants_picture(run))
		r = draw(run, &c);
	finish(&c);
	return r;
}
