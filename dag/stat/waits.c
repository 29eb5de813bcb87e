/* SPDX-License-Identifier: MIT */

/* Where the time of processes went: running, and what they waited for. */

#include <string.h>

#include "dag/stat/stat.h"
#include "db/query.h"

static int fill(struct stat_run *run)
{
	const char *files = query_fact_text(run->db, "files");
	int r = stat_rows_total(run, "waits");

	table_note(run->table, "Sums over the threads of the processes: work is running (on a processor), queue (waiting for one), and "
		"waiting for file, pipe and socket (data), lock (futex, flock), sleep, event (poll and the like), memory (page faults), "
		"stopped (by a signal or a tracer) and other.  child: waiting for children, whose work is in their rows.  Processes that had not "
		"ended are not in it.");
	if (!files || strcmp(files, "kernel") != 0)
		table_note(run->table, "A mount does not see this: ftrac run --files kernel records it.");
	return r;
}

const struct stat_table stat_waits_table = {
	.name = "waits",
	.fill = fill,
	.needs_ops = false,
	.options = STAT_BY | STAT_CHOICE,
	.queries = "waits",
	.help = "where the time of processes went: running, and what they waited for",
};
