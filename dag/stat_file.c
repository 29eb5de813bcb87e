/* SPDX-License-Identifier: MIT */

/*
 * file: each file, and the portion of it that was really read.  Where all that read it began at its
 * begin and never moved, the handles tell; else the reads are looked at, one by one.
 */

#include "dag/stat.h"

#include <stdlib.h>
#include <string.h>

#include "db/query.h"

/* Parts of a file, which may overlap until they are put in order. */
struct range {
	int64_t begin, end;
};

struct ranges {
	struct range *range;
	uint32_t count, size, ordered; /* so many were left by the last time */
	int64_t reads;                 /* so many of the file were looked at */
};

struct portions {
	struct ranges *of; /* files, by id */
	int64_t n;
	int64_t *plain; /* bytes from the begin on; -1: it is not known so */
};

static int compare(const void *a, const void *b)
{
	const struct range *x = a, *y = b;

	return (x->begin > y->begin) - (x->begin < y->begin);
}

static void put_in_order(struct ranges *ranges)
{
	uint32_t n = 0;

	if (ranges->count == 0)
		return;
	qsort(ranges->range, ranges->count, sizeof(*ranges->range), compare);
	for (uint32_t i = 1; i < ranges->count; i++)
		if (ranges->range[i].begin > ranges->range[n].end)
			ranges->range[++n] = ranges->range[i];
		else if (ranges->range[i].end > ranges->range[n].end)
			ranges->range[n].end = ranges->range[i].end;
	ranges->ordered = ranges->count = n + 1;
}

/* Room is found first by putting together what belongs together. */
static int add_range(struct ranges *ranges, int64_t begin, int64_t end)
{
	struct range *last = ranges->count ? &ranges->range[ranges->count - 1] : NULL;

	if (last && begin >= last->begin && begin <= last->end) {
		last->end = end > last->end ? end : last->end;
		return 0;
	}
	if (ranges->count == ranges->size && ranges->count >= 2 * ranges->ordered)
		put_in_order(ranges);
	if (2 * ranges->count >= ranges->size) {
		uint32_t size = ranges->size ? 2 * ranges->size : 4;
		struct range *range = realloc(ranges->range, size * sizeof(*range));

		if (!range)
			return -1;
		ranges->range = range;
		ranges->size = size;
	}
	ranges->range[ranges->count++] = (struct range){ begin, end };
	return 0;
}

static int64_t covered(struct ranges *ranges)
{
	int64_t bytes = 0;

	put_in_order(ranges);
	for (uint32_t i = 0; i < ranges->count; i++)
		bytes += ranges->range[i].end - ranges->range[i].begin;
	return bytes;
}

static int make_room(struct stat_run *run, struct portions *portions)
{
	int column = table_find(run->table, "file");
	int64_t id;

	for (size_t row = 0; row < table_rows(run->table); row++)
		if (table_get_int(run->table, row, column, &id) && id >= portions->n)
			portions->n = id + 1;
	portions->of = calloc(portions->n + 1, sizeof(*portions->of));
	portions->plain = malloc((portions->n + 1) * sizeof(*portions->plain));
	if (!portions->of || !portions->plain)
		return stat_out_of_memory();
	for (int64_t i = 0; i <= portions->n; i++)
		portions->plain[i] = -1;
	return 0;
}

/* What handles say is said of all of their users and times. */
static bool asks_for_all(const struct choice *c)
{
	return !c->include.n && !c->exclude.n && !c->phase && !c->job && !c->process &&
	       !c->from_ns && !c->to_ns;
}

static int read_plain(struct stat_run *run, struct portions *portions)
{
	struct query *query;
	int status = stat_query(run, "file.plain", &run->options->choice, &query, NULL), r = 1;

	while (status == 0 && (r = stat_next(run, query)) > 0) {
		int64_t file = query_int(query, 0);

		if (file >= 0 && file < portions->n)
			portions->plain[file] = query_int(query, 1);
	}
	query_end(query);
	return r < 0 ? EXIT_FAILURE : status;
}

static int read_ranges(struct stat_run *run, struct portions *portions)
{
	struct query *query;
	int status = stat_query(run, "file.reads", &run->options->choice, &query, NULL), r = 1;

	while (status == 0 && (r = stat_next(run, query)) > 0) {
		int64_t file = query_int(query, 0), offset = query_int(query, 1);
		int64_t bytes = query_int(query, 2);

		if (file < 0 || file >= portions->n || portions->plain[file] >= 0)
			continue;
		if (query_type(query, 1) == QUERY_NULL && bytes > 0)
			continue;
		portions->of[file].reads++;
		if (bytes > 0 && add_range(&portions->of[file], offset, offset + bytes) < 0)
			status = stat_out_of_memory();
	}
	query_end(query);
	return r < 0 ? EXIT_FAILURE : status;
}

/* Was a file read of which the handles do not tell how? */
static bool needs_reads(const struct stat_run *run, const struct portions *portions)
{
	int id = table_find(run->table, "file"), reads = table_find(run->table, "reads");
	int64_t file, n;

	for (size_t row = 0; row < table_rows(run->table); row++)
		if (table_get_int(run->table, row, id, &file) &&
			table_get_int(run->table, row, reads, &n) && file >= 0 && n > 0 &&
			portions->plain[file] < 0)
			return true;
	return false;
}

static void put_portions(struct stat_run *run, struct portions *portions)
{
	struct table *table = run->table;
	int id = table_find(table, "file"), reads = table_find(table, "reads");
	int size = table_find(table, "size_bytes"), portion = table_find(table, "portion_share");
	/* Of a part of the run there are only some of the operations, but all that a file's users read. */
	bool in_part = run->options->choice.from_ns || run->options->choice.to_ns;
	int64_t file, n, bytes;

	for (size_t row = 0; row < table_rows(table); row++) {
		if (!table_get_int(table, row, id, &file) ||
			!table_get_int(table, row, reads, &n) ||
			!table_get_int(table, row, size, &bytes) || bytes == 0 || file < 0)
			continue;
		/* A copy inside of the kernel is a read of which only the bytes are known. */
		n = portions->plain[file] >= 0                 ? portions->plain[file]
		    : portions->of[file].reads >= n || in_part ? covered(&portions->of[file])
							       : -1;
		/* What has been cut off since was more than all. */
		if (n >= 0)
			table_set_real(table, row, portion,
				n > bytes ? 1 : (double)n / (double)bytes);
	}
}

int stat_file(struct stat_run *run)
{
	struct portions portions = { 0 };
	struct query *query;
	int status = stat_query(run, "file", &run->options->choice, &query, NULL), r = 1;
	int last = status ? 0 : query_columns(query) - 1;

	if (status == 0)
		stat_columns(run->table, query, 0, last);
	while (status == 0 && (r = stat_next(run, query)) > 0)
		stat_put(run->table, query, 0, last);
	query_end(query);
	status = r < 0 ? EXIT_FAILURE : status ? status : make_room(run, &portions);
	if (status == 0 && asks_for_all(&run->options->choice))
		status = read_plain(run, &portions);
	if (status == 0 && run->has_ops && needs_reads(run, &portions))
		status = read_ranges(run, &portions);
	if (status == 0)
		put_portions(run, &portions);
	table_note(run->table,
		"reread: bytes read by size; portion: of the file that was read at all; rates: "
		"bytes by the time spent in the calls; never read: written, and not read in this "
		"run; "
		"temporary: created and removed in it.");
	if (!run->has_ops)
		stat_note_no_ops(run,
			"The portion of files that were not read from begin to end is");
	stat_note_fidelity(run);
	for (int64_t i = 0; portions.of && i < portions.n; i++)
		free(portions.of[i].range);
	free(portions.of);
	free(portions.plain);
	return status;
}
