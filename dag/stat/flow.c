/* SPDX-License-Identifier: MIT */

/* Data that flows from process to process through pipes and sockets. */

#include <string.h>

#include "dag/stat/stat.h"
#include "db/query.h"

static int fill(struct stat_run *run)
{
	const char *files = query_fact_text(run->db, "files");
	int r = stat_rows(run, "flow", false);

	if (files && strcmp(files, "preload") == 0)
		table_note(run->table, "Sockets are not recorded, and pipes of programs that the preloaded object did not see; ftrac run "
			"--files kernel records both.");
	else if (!files || strcmp(files, "kernel") != 0)
		table_note(run->table, "A mount does not see pipes and sockets.  Here a pipe is assumed between the programs that had its ends as "
			"standard streams; ftrac run --files kernel records what goes through.");
	return r;
}

const struct stat_table stat_flow_table = {
	.name = "flow",
	.fill = fill,
	.needs_ops = false,
	.options = STAT_CHOICE,
	.queries = "flow",
	.narrow = "writer_program reader reader_program bytes path first_ns",
	.help = "data from process to process through pipes and sockets",
};
