/* SPDX-License-Identifier: MIT */

/*
 * pattern: how files are read and written.  An access of a handle is
 *   consecutive  if it begins where the last access ended; the first: if it begins at 0
 *   sequential   if it begins there or later
 *   strided      if it is not consecutive, and its distance from the last access (begin to begin) is that of the last one
 *                from the access before
 *   random       if it is neither sequential nor strided
 *   aligned      if its offset is a multiple of 4096
 * The first two are Darshan's, as are the classes of sizes (its DARSHAN_BUCKET_INC).
 */

#include "dag/stat/stat.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/failure.h"
#include "base/saturate.h"
#include "dag/container/classes.h"
#include "dag/container/grouped.h"
#include "dag/container/groups.h"
#include "dag/container/sparse.h"
#include "dag/stat/scan.h"
#include "dag/trace/traces.h"
#include "db/query.h"

#define ALIGNMENT 4096

enum { CONSECUTIVE, SEQUENTIAL, STRIDED, RANDOM, ALIGNED, TRAIT_MAX };

static const struct {
	const char *name;
	int64_t largest;
} darshan[] = {
	{ "0-100", 100 },
	{ "101-1K", 1024 },
	{ "1K-10K", 10240 },
	{ "10K-100K", 102400 },
	{ "100K-1M", 1048576 },
	{ "1M-4M", 4194304 },
	{ "4M-10M", 10485760 },
	{ "10M-100M", 104857600 },
	{ "100M-1G", 1073741824 },
	{ "1G+", INT64_MAX },
};
#define DARSHAN_MAX (sizeof(darshan) / sizeof(darshan[0]))

struct accesses {
	int64_t count, bytes, placed; /* placed: accesses with a known offset */
	int64_t traits[TRAIT_MAX];
	int64_t classes[CLASSES_MAX];
};

/* The last access of a handle. */
struct place {
	int64_t end, offset, distance;
	bool used, moved;
};

struct pattern {
	struct groups *groups; /* of two struct accesses: reads and writes */
	struct sparse *places; /* of handles */
	int keys;
	int column; /* the first of: writes, handle, offset, bytes */
	bool powers;
};

static int class_of(const struct pattern *pattern, int64_t bytes)
{
	int i = 0;

	if (pattern->powers)
		return classes_find(bytes, false);
	while (bytes > darshan[i].largest)
		i++;
	return i;
}

static void place_access(struct accesses *accesses, struct place *place, int64_t offset,
	int64_t bytes)
{
	int64_t distance = offset - place->offset;
	bool consecutive = offset == place->end, sequential = offset >= place->end;
	bool strided = !consecutive && place->moved && distance == place->distance && distance != 0;

	accesses->placed++;
	accesses->traits[CONSECUTIVE] += consecutive;
	accesses->traits[SEQUENTIAL] += sequential;
	accesses->traits[STRIDED] += strided;
	accesses->traits[RANDOM] += !sequential && !strided;
	accesses->traits[ALIGNED] += offset % ALIGNMENT == 0;
	place->moved = place->used;
	place->used = true;
	place->distance = distance;
	place->offset = offset;
	place->end = offset + bytes;
}

int stat_pattern_add(struct pattern *pattern, const struct query *query)
{
	int column = pattern->column;
	struct accesses *accesses = groups_find(pattern->groups, query);
	struct place *place = sparse_at(pattern->places, query_int(query, column + 1));
	int64_t bytes = query_int(query, column + 3);

	if (!accesses || !place)
		return -ENOMEM;
	accesses += query_int(query, column); /* writes are the second */
	accesses->count++;
	accesses->bytes = saturate_add(accesses->bytes, bytes);
	accesses->classes[class_of(pattern, bytes)]++;
	if (query_type(query, column + 2) != QUERY_NULL)
		place_access(accesses, place, query_int(query, column + 2), bytes);
	return 0;
}

/* ---- rows ---- */

static void put_head(struct stat_run *run, const struct pattern *pattern, size_t group, bool writes)
{
	groups_put(pattern->groups, group, 0, pattern->keys - 1, run->table);
	table_string(run->table, writes ? "write" : "read");
}

static int largest_class(const struct pattern *pattern)
{
	int last = 0;

	for (size_t i = 0; i < groups_count(pattern->groups); i++) {
		const struct accesses *of = groups_data(pattern->groups, i);

		for (int writes = 0; writes < 2; writes++)
			for (int k = 0; k < CLASSES_MAX; k++)
				if (of[writes].classes[k] && k > last)
					last = k;
	}
	return last;
}

static int add_class_columns(struct stat_run *run, const struct pattern *pattern)
{
	int n = pattern->powers ? largest_class(pattern) + 1 : (int)DARSHAN_MAX;
	char name[48];

	for (int i = 0; i < n; i++) {
		if (!pattern->powers)
			snprintf(name, sizeof(name), "%s", darshan[i].name);
		else if (i == 0)
			snprintf(name, sizeof(name), "0");
		else
			snprintf(name, sizeof(name), "%lld+", 1LL << (i - 1));
		table_column(run->table, name, strlen(name));
	}
	return n;
}

static void put_accesses(struct stat_run *run, const struct accesses *accesses, int classes)
{
	table_int(run->table, accesses->count);
	table_int(run->table, accesses->bytes);
	for (int i = 0; i < TRAIT_MAX; i++)
		if (accesses->placed)
			table_real(run->table,
				(double)accesses->traits[i] / (double)accesses->placed);
		else
			table_null(run->table);
	for (int i = 0; i < classes; i++)
		table_int(run->table, accesses->classes[i]);
	table_row(run->table);
}

static void put_rows(struct stat_run *run, const struct pattern *pattern)
{
	int classes = add_class_columns(run, pattern);

	for (size_t i = 0; i < groups_count(pattern->groups); i++) {
		const struct accesses *of = groups_data(pattern->groups, i);

		for (int writes = 0; writes < 2; writes++)
			if (of[writes].count) {
				put_head(run, pattern, i, writes);
				put_accesses(run, &of[writes], classes);
			}
	}
}

#define HANDLE_COLUMNS                                                                             \
	"reads read_bytes consecutive_reads sequential_reads writes written_bytes consecutive_writes " \
	"sequential_writes"

static void put_handle(struct table *table, const struct query *query, int keys, bool writes)
{
	int column = keys + 4 * writes;
	double count = query_real(query, column);

	if (count == 0)
		return;
	stat_put(table, query, 0, keys - 1);
	table_string(table, writes ? "write" : "read");
	stat_put(table, query, column, column + 1);
	table_real(table, query_real(query, column + 2) / count);
	table_real(table, query_real(query, column + 3) / count);
	table_row(table);
}

/* Without single operations: the counts of the handles. */
static int put_handles(struct stat_run *run)
{
	struct query *query;
	int keys;
	int r = traces_query(run->db, "pattern.handles", HANDLE_COLUMNS, &run->options->choice,
		&query, &keys, run->failure);

	while (r == 0 && (r = traces_next(run->db, query, run->failure)) > 0) {
		for (int writes = 0; writes < 2; writes++)
			put_handle(run->table, query, keys, writes);
		r = 0;
	}
	query_end(query);
	return r;
}

static int create(struct groups *groups, int keys, int column, bool powers, struct pattern **ret_pattern)
{
	struct pattern *pattern = *ret_pattern = calloc(1, sizeof(*pattern));

	if (!pattern) {
		groups_destroy(groups);
		return -ENOMEM;
	}
	*pattern = (struct pattern){ .groups = groups, .keys = keys, .column = column, .powers = powers };
	return sparse_create(sizeof(struct place), &pattern->places);
}

int stat_pattern_create(int column, struct pattern **ret_pattern)
{
	struct groups *groups;
	int r = groups_create(1, 2 * sizeof(struct accesses), &groups);

	*ret_pattern = NULL;
	if (r == 0)
		groups_one(groups);
	return r < 0 ? r : create(groups, 1, column, false, ret_pattern);
}

void stat_pattern_destroy(struct pattern *pattern)
{
	if (!pattern)
		return;
	sparse_destroy(pattern->places, NULL);
	groups_destroy(pattern->groups);
	free(pattern);
}

int stat_pattern_put(struct stat_run *run, const struct pattern *pattern)
{
	int r = 0;

	table_columns(run->table,
		"operation count moved_bytes consecutive_share sequential_share "
		"strided_share random_share aligned_share");
	if (run->has_ops)
		put_rows(run, pattern);
	else
		r = put_handles(run);
	table_note(run->table,
		"consecutive: begins where the last access of the handle ended, sequential: there "
		"or later, strided: again as far from the last one, random: neither sequential nor "
		"strided, "
		"aligned: at a multiple of 4096.  Columns of sizes count accesses of so many "
		"bytes.");
	if (!run->has_ops)
		stat_note_no_ops(run, "Strides, alignment and sizes are");
	stat_note_fidelity(run);
	return r;
}

static int fill(struct stat_run *run)
{
	struct pattern *pattern = NULL;
	struct grouped of;
	int r = grouped_start(run->db, "pattern", "writes handle offset bytes", &run->options->choice,
		2 * sizeof(struct accesses), &of, run->failure);

	if (r == 0)
		grouped_name_keys(&of, run->table);
	if (of.groups && create(of.groups, of.keys, of.column, run->options->sizes == SIZES_POWERS, &pattern) < 0)
		r = failure_memory(run->failure);
	while (r == 0 && (r = traces_next(run->db, of.query, run->failure)) > 0)
		r = failure_of_memory(run->failure, stat_pattern_add(pattern, of.query));
	grouped_end(&of);
	if (r == 0)
		r = stat_pattern_put(run, pattern);
	stat_pattern_destroy(pattern);
	return r;
}

const struct stat_table stat_pattern_table = {
	.name = "pattern",
	.fill = fill,
	.needs_ops = true,
	.options = STAT_BY | STAT_CHOICE | STAT_SIZES | STAT_OPERATION,
	.queries = "pattern pattern.handles",
	.help = "how files are accessed: order, sizes, alignment",
	.own_keys = "operation",
};
