/* SPDX-License-Identifier: MIT */

/*
 * file: each file, and the portion of it that was really read.  Where all that read it began at its
 * begin and never moved, the handles tell; else the reads are looked at, one by one.
 */

#include "dag/stat/stat.h"

#include <stdlib.h>
#include <string.h>

#include "base/saturate.h"
#include "dag/container/sparse.h"
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

/* Of a file. */
struct portion {
	struct ranges ranges;
	bool is_plain; /* the handles tell: so many bytes from the begin on */
	int64_t plain;
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
		bytes = saturate_add(bytes,
			saturate_subtract(ranges->range[i].end, ranges->range[i].begin));
	return bytes;
}

/* What handles say is said of all of their users and times. */
static bool asks_for_all(const struct choice *c)
{
	return !c->include.n && !c->exclude.n && !c->phase && !c->job && !c->process &&
	       !c->from_ns && !c->to_ns;
}

static int read_plain(struct stat_run *run, struct sparse *portions)
{
	struct query *query;
	int status = stat_query(run, "file.plain", "file bytes", &run->options->choice, &query, NULL), r = 1;

	while (status == 0 && (r = stat_next(run, query)) > 0) {
		struct portion *portion = sparse_at(portions, query_int(query, 0));

		if (portion) {
			portion->is_plain = true;
			portion->plain = query_int(query, 1);
		} else {
			status = stat_out_of_memory();
		}
	}
	query_end(query);
	return r < 0 ? EXIT_FAILURE : status;
}

static int read_ranges(struct stat_run *run, struct sparse *portions)
{
	struct query *query;
	int status = stat_query(run, "file.reads", "file offset bytes", &run->options->choice, &query, NULL), r = 1;

	while (status == 0 && (r = stat_next(run, query)) > 0) {
		struct portion *portion = sparse_at(portions, query_int(query, 0));
		int64_t offset = query_int(query, 1), bytes = query_int(query, 2);

		if (portion && portion->is_plain)
			continue;
		if (query_type(query, 1) == QUERY_NULL && bytes > 0)
			continue;
		if (portion)
			portion->ranges.reads++;
		if (!portion || (bytes > 0 && add_range(&portion->ranges, offset, offset + bytes) < 0))
			status = stat_out_of_memory();
	}
	query_end(query);
	return r < 0 ? EXIT_FAILURE : status;
}

/* Was a file read of which the handles do not tell how?  -1: out of memory. */
static int needs_reads(const struct stat_run *run, struct sparse *portions)
{
	int id = table_find(run->table, "file"), reads = table_find(run->table, "reads");
	int64_t file, n;

	for (size_t row = 0; row < table_rows(run->table); row++)
		if (table_get_int(run->table, row, id, &file) &&
			table_get_int(run->table, row, reads, &n) && n > 0) {
			const struct portion *portion = sparse_at(portions, file);

			if (!portion || !portion->is_plain)
				return portion ? 1 : -1;
		}
	return 0;
}

/* So many bytes of it were read; -1: it is not known. */
static int64_t bytes_read(struct portion *portion, int64_t reads, bool in_part)
{
	if (portion->is_plain)
		return portion->plain;
	/* A copy inside of the kernel is a read of which only the bytes are known. */
	return portion->ranges.reads >= reads || in_part ? covered(&portion->ranges) : -1;
}

static int put_portions(struct stat_run *run, struct sparse *portions)
{
	struct table *table = run->table;
	int id = table_find(table, "file"), reads = table_find(table, "reads");
	int size = table_find(table, "size_bytes"), share = table_find(table, "portion_share");
	/* Of a part of the run there are only some of the operations, but all that a file's users read. */
	bool in_part = run->options->choice.from_ns || run->options->choice.to_ns;
	int64_t file, n, bytes;

	for (size_t row = 0; row < table_rows(table); row++) {
		struct portion *portion;

		if (!table_get_int(table, row, id, &file) ||
			!table_get_int(table, row, reads, &n) ||
			!table_get_int(table, row, size, &bytes) || bytes == 0)
			continue;
		portion = sparse_at(portions, file);
		if (!portion)
			return stat_out_of_memory();
		n = bytes_read(portion, n, in_part);
		/* What has been cut off since was more than all. */
		if (n >= 0)
			table_set_real(table, row, share, n > bytes ? 1 : (double)n / (double)bytes);
	}
	return 0;
}

static void finish_portion(void *element)
{
	free(((struct portion *)element)->ranges.range);
}

static int fill(struct stat_run *run)
{
	struct sparse *portions = NULL;
	struct query *query;
	int status = stat_query(run, "file", NULL, &run->options->choice, &query, NULL), r = 1;
	int last = status ? 0 : query_columns(query) - 1;

	if (status == 0)
		stat_columns(run->table, query, 0, last);
	while (status == 0 && (r = stat_next(run, query)) > 0)
		stat_put(run->table, query, 0, last);
	query_end(query);
	status = r < 0 ? EXIT_FAILURE : status;
	if (status == 0 && sparse_create(sizeof(struct portion), &portions) < 0)
		status = stat_out_of_memory();
	if (status == 0 && asks_for_all(&run->options->choice))
		status = read_plain(run, portions);
	if (status == 0 && run->has_ops && (r = needs_reads(run, portions)) != 0)
		status = r > 0 ? read_ranges(run, portions) : stat_out_of_memory();
	if (status == 0)
		status = put_portions(run, portions);
	table_note(run->table,
		"reread: bytes read by size; portion: of the file that was read at all; rates: "
		"bytes by the time spent in the calls; never read: written, and not read in this "
		"run; "
		"temporary: created and removed in it.");
	if (!run->has_ops)
		stat_note_no_ops(run,
			"The portion of files that were not read from begin to end is");
	stat_note_fidelity(run);
	sparse_destroy(portions, finish_portion);
	return status;
}

const struct stat_table stat_file_table = {
	.name = "file",
	.fill = fill,
	.needs_ops = true,
	.options = STAT_CHOICE,
	.queries = "file file.plain file.reads",
	.help = "files: how many processes read and wrote them, how much, how often again",
};
