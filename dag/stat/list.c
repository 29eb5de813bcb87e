/* SPDX-License-Identifier: MIT */

/* Operations and events of processes, in their order. */

#include "dag/stat/stat.h"

static int fill(struct stat_run *run)
{
	int r = stat_rows(run, "list", false);

	if (!run->has_ops)
		stat_note_no_ops(run, "Operations are");
	return r;
}

const struct stat_table stat_list_table = {
	.name = "list",
	.fill = fill,
	.needs_ops = true,
	.options = STAT_CHOICE | STAT_OPERATION,
	.queries = "list",
	.narrow = "event path program detail result moved_bytes latency_ns process",
	.help = "all events in order: starts and ends of processes, operations",
};
