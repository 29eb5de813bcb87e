/* SPDX-License-Identifier: MIT */

/*
 * file: each file, and the portion of it that was read.  If all its handles read from the begin without seeking, their
 * counts give the portion; otherwise the ranges of all its reads do.
 */

#include "dag/stat/stat.h"

#include <errno.h>
#include <stdlib.h>

#include "base/failure.h"
#include "base/saturate.h"
#include "base/vector.h"
#include "dag/container/sparse.h"
#include "dag/trace/traces.h"
#include "db/query.h"

/* Parts of a file.  They may overlap until put_in_order(). */
struct range {
	int64_t begin, end;
};

struct ranges {
	struct range *range;
	uint32_t count, ordered; /* ordered: the count after the last put_in_order() */
	int64_t reads;           /* the number of reads that are in it */
};

/* What is known of the reads of one file. */
struct portion {
	struct ranges ranges;
	bool is_plain; /* the first bytes were read, as the handles have counted */
	int64_t plain; /* so many */
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

/* Before the array grows, ranges that touch are joined. */
static int add_range(struct ranges *ranges, int64_t begin, int64_t end)
{
	struct range *last = ranges->count ? &ranges->range[ranges->count - 1] : NULL;

	if (last && begin >= last->begin && begin <= last->end) {
		last->end = end > last->end ? end : last->end;
		return 0;
	}
	if (ranges->count >= 2 * ranges->ordered && !(ranges->count & (ranges->count - 1)))
		put_in_order(ranges);
	return vector_push(ranges->range, ranges->count, (struct range){ begin, end });
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

/* The counts of handles are those of all processes and of the whole run. */
static bool asks_for_all(const struct choice *c)
{
	return !c->include.n && !c->exclude.n && !c->phase && !c->job && !c->process &&
	       !c->from_ns && !c->to_ns;
}

static int read_plain(struct stat_run *run, struct sparse *portions)
{
	struct query *query;
	int r = traces_query(run->db, "file.plain", "file bytes", &run->options->choice, &query,
		NULL, run->failure);

	while (r == 0 && (r = traces_next(run->db, query, run->failure)) > 0) {
		struct portion *portion = sparse_at(portions, query_int(query, 0));

		if (portion)
			*portion =
				(struct portion){ .is_plain = true, .plain = query_int(query, 1) };
		r = portion ? 0 : failure_memory(run->failure);
	}
	query_end(query);
	return r;
}

/* Adds a read: file, offset, bytes. */
static int add_read(struct sparse *portions, const struct query *query)
{
	struct portion *portion = sparse_at(portions, query_int(query, 0));
	int64_t offset = query_int(query, 1), bytes = query_int(query, 2);

	if (!portion)
		return -ENOMEM;
	if (portion->is_plain || (query_type(query, 1) == QUERY_NULL && bytes > 0))
		return 0;
	portion->ranges.reads++;
	return bytes > 0 ? add_range(&portion->ranges, offset, offset + bytes) : 0;
}

static int read_ranges(struct stat_run *run, struct sparse *portions)
{
	struct query *query;
	int r = traces_query(run->db, "file.reads", "file offset bytes", &run->options->choice,
		&query, NULL, run->failure);

	while (r == 0 && (r = traces_next(run->db, query, run->failure)) > 0)
		r = failure_of_memory(run->failure, add_read(portions, query));
	query_end(query);
	return r;
}

/* Sets *ret_needed if a file was read whose portion the handles do not give.  0 or -ENOMEM. */
static int needs_reads(const struct stat_run *run, struct sparse *portions, bool *ret_needed)
{
	int id = table_find(run->table, "file"), reads = table_find(run->table, "reads");
	int64_t file, n;

	for (size_t row = 0; row < table_rows(run->table) && !*ret_needed; row++)
		if (table_get_int(run->table, row, id, &file) &&
			table_get_int(run->table, row, reads, &n) && n > 0) {
			const struct portion *portion = sparse_at(portions, file);

			if (!portion)
				return -ENOMEM;
			*ret_needed = !portion->is_plain;
		}
	return 0;
}

/* The number of bytes that were read; -1: unknown. */
static int64_t bytes_read(struct portion *portion, int64_t reads, bool in_part)
{
	if (portion->is_plain)
		return portion->plain;
	/* Of a copy inside the kernel only the number of bytes is known. */
	return portion->ranges.reads >= reads || in_part ? covered(&portion->ranges) : -1;
}

static int put_portions(struct stat_run *run, struct sparse *portions)
{
	struct table *table = run->table;
	int id = table_find(table, "file"), reads = table_find(table, "reads");
	int size = table_find(table, "size_bytes"), share = table_find(table, "portion_share");
	/* In a part of the run there are fewer operations than the number of reads, which is that of the whole run. */
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
			return -ENOMEM;
		n = bytes_read(portion, n, in_part);
		/* A file may have been truncated after it was read. */
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
	bool reads = false;
	int r = stat_rows(run, "file", true);

	if (r == 0)
		r = failure_of_memory(run->failure,
			sparse_create(sizeof(struct portion), &portions));
	if (r == 0 && asks_for_all(&run->options->choice))
		r = read_plain(run, portions);
	if (r == 0 && run->has_ops)
		r = failure_of_memory(run->failure, needs_reads(run, portions, &reads));
	if (r == 0 && reads)
		r = read_ranges(run, portions);
	if (r == 0)
		r = failure_of_memory(run->failure, put_portions(run, portions));
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
	return r;
}

const struct stat_table stat_file_table = {
	.name = "file",
	.fill = fill,
	.needs_ops = true,
	.options = STAT_CHOICE,
	.queries = "file file.plain file.reads",
	.narrow = "path read_bytes written_bytes readers writers reread size_bytes opens",
	.help = "files: how many processes used them, how much and how often",
};
