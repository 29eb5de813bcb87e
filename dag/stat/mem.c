/* SPDX-License-Identifier: MIT */

/* Peak resident memory of jobs and programs. */

#include "dag/stat/levels.h"
#include "dag/trace/traces.h"
#include "db/query.h"

static int fill_steps(struct stat_run *run, int64_t memory)
{
	struct query *query;
	int r = traces_query(run->db, "mem.steps", NULL, &run->options->choice, &query, NULL, run->failure);
	int last = r == 0 ? query_columns(query) - 1 : -1;

	stat_columns(run->table, query, 0, last);
	if (memory)
		table_columns(run->table, "fit");
	if (r == 0)
		stat_stream(run);
	while (r == 0 && (r = traces_next(run->db, query, run->failure)) > 0) {
		stat_put(run->table, query, 0, last);
		if (memory && query_int(query, last) > 0)
			table_int(run->table, memory / query_int(query, last));
		else if (memory)
			table_null(run->table);
		table_row(run->table);
		r = 0;
	}
	query_end(query);
	table_note(run->table, "rss: the highest peak of a process.  task rss: the highest sum, in a task, of the peaks of processes that "
		"lived at the same time; an upper bound, as these peaks need not be at the same time.");
	if (memory)
		table_note(run->table, "fit: how many such tasks fit into %.1f GiB%s.", (double)memory / (1 << 30),
			run->options->memory_bytes ? "" : ", the memory of the host");
	return r;
}

static int fill(struct stat_run *run)
{
	int64_t memory = run->options->memory_bytes ? run->options->memory_bytes
						    : query_fact(run->db, "memory_bytes", 0);
	const struct levels_table kind = { "mem.job", "mem.process", memory ? LEVELS_NUMBERS " fit" : LEVELS_NUMBERS,
		memory, level_read, level_put };
	int r;

	if (stat_is_by_step(run->options))
		return fill_steps(run, memory);
	r = levels_fill_numbers(run, &kind);

	table_note(run->table,
		"rss upper of a job: the highest sum of the peaks of processes that lived at "
		"the same time; as these peaks need not, it is an upper bound.  rss lower: the "
		"highest peak "
		"of one of them.");
	if (memory)
		table_note(run->table, "fit: how many of the largest fit into %.1f GiB%s.",
			(double)memory / (1 << 30),
			run->options->memory_bytes ? "" : ", the memory of the host");
	return r;
}

const struct stat_table stat_mem_table = {
	.name = "mem",
	.fill = fill,
	.needs_ops = false,
	.options = STAT_BY | STAT_PER | STAT_CHOICE | STAT_MEMORY,
	.queries = "mem.process mem.job",
	.steps = "mem.steps",
	.help = "peak resident memory",
};
