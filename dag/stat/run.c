/* SPDX-License-Identifier: MIT */

/* Run times of jobs and programs. */

#include "dag/stat/levels.h"

static int fill(struct stat_run *run)
{
	static const struct levels_table kind = { "run", "run", LEVELS_NUMBERS, 0, level_read, level_put };

	return levels_fill_numbers(run, &kind);
}

const struct stat_table stat_run_table = {
	.name = "run",
	.fill = fill,
	.needs_ops = false,
	.options = STAT_BY | STAT_PER | STAT_CHOICE,
	.queries = "run",
	.help = "run times",
};
