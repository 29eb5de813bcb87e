/* SPDX-License-Identifier: MIT */

/* Peak resident memory of jobs and programs. */

#include "dag/stat/levels.h"
#include "db/query.h"

static int fill(struct stat_run *run)
{
	int64_t memory = run->options->memory_bytes ? run->options->memory_bytes
						    : query_fact(run->db, "memory_bytes", 0);
	const struct levels_table kind = { "mem.job", "mem.process", memory ? LEVELS_NUMBERS " fit" : LEVELS_NUMBERS,
		memory, level_read, level_put };
	int r = levels_fill_numbers(run, &kind);

	table_note(run->table,
		"rss_upper of a job: the highest sum of the peaks of processes that lived at "
		"the same time; as these peaks need not, it is an upper bound.  rss_lower: the "
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
	.help = "peak resident memory",
};
