/* SPDX-License-Identifier: MIT */

/* Calls of libraries, and what they became below.  The terms are those of IOPin. */

#include "dag/stat/stat.h"

static int fill(struct stat_run *run)
{
	int r = stat_rows(run, "hierarchy", false);

	stat_note_no_calls(run);
	table_note(run->table,
		"asked, moved: of the calls; lib, operation: what was made inside of them. latency: the longest of the parts; rate: bytes per "
		"second, the sum of the parts of a collective call, and the mean of all.");
	return r;
}

const struct stat_table stat_hierarchy_table = {
	.name = "hierarchy",
	.fill = fill,
	.needs_ops = true,
	.options = STAT_BY | STAT_CHOICE | STAT_OPERATION | STAT_CALL,
	.queries = "hierarchy",
	.help = "calls of MPI-IO and libc, and what they became below",
	.own_keys = "operation",
};
