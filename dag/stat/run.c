/* SPDX-License-Identifier: MIT */

/* Run times of jobs and programs. */

#include "dag/stat/levels.h"

static int fill(struct stat_run *run)
{
	static const struct levels_table kind = { "run", "run", LEVELS_NUMBERS, 0, level_read, level_put };

	int r;

	if (!stat_is_by_step(run->options))
		return levels_fill_numbers(run, &kind);
	r = stat_rows_total(run, "run.steps");
	table_note(run->table, "time: in which any process of the row lived, so that rows overlap.  min, mean, max: of its tasks, from the "
		"first start to the last end.");
	return r;
}

const struct stat_table stat_run_table = {
	.name = "run",
	.fill = fill,
	.needs_ops = false,
	.options = STAT_BY | STAT_PER | STAT_CHOICE,
	.queries = "run",
	.steps = "run.steps",
	.help = "run times",
};
