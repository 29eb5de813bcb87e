/* SPDX-License-Identifier: MIT */

/* Bytes and operations of jobs and programs. */

#include "dag/stat/levels.h"

static int fill(struct stat_run *run)
{
	static const struct levels_table kind = { "io", "io", LEVELS_NUMBERS, 0, level_read_parts, level_put };
	int r = stat_is_by_step(run->options) ? stat_rows_total(run, "io.steps") : levels_fill_numbers(run, &kind);

	stat_note_fidelity(run);
	return r;
}

const struct stat_table stat_io_table = {
	.name = "io",
	.fill = fill,
	.needs_ops = false,
	.options = STAT_BY | STAT_PER | STAT_CHOICE,
	.queries = "io",
	.steps = "io.steps",
	.help = "bytes and operations, read and written",
};
