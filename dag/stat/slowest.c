/* SPDX-License-Identifier: MIT */

/* The calls of libraries that took longest. */

#include "dag/stat/stat.h"

static int fill(struct stat_run *run)
{
	int r = stat_rows(run, "slowest", false);

	stat_note_no_calls(run);
	return r;
}

const struct stat_table stat_slowest_table = {
	.name = "slowest",
	.fill = fill,
	.needs_ops = true,
	.options = STAT_CHOICE | STAT_OPERATION | STAT_CALL,
	.queries = "slowest",
	.help = "the calls of MPI-IO and libc that took longest",
};
