/* SPDX-License-Identifier: MIT */

/* The run in a few lines. */

#include <stdlib.h>

#include "dag/stat/stat.h"
#include "db/query.h"

/* One row on its side. */
static int fill(struct stat_run *run)
{
	struct query *query;
	int status = stat_query(run, "overview", NULL, &run->options->choice, &query, NULL), r;

	if (status)
		return status;
	table_columns(run->table, "fact value");
	r = stat_next(run, query);
	for (int i = 0; r > 0 && i < query_columns(query); i++) {
		const char *name = query_name(query, i);

		table_name(run->table, name);
		stat_put(run->table, query, i, i);
		table_unit(run->table, name);
	}
	query_end(query);
	table_note(run->table,
		"Tables to see next: io, mem, run, util, sys, phase, file; see wfstat --help.");
	return r < 0 ? EXIT_FAILURE : 0;
}

const struct stat_table stat_overview_table = {
	.name = "overview",
	.fill = fill,
	.needs_ops = false,
	.options = 0,
	.queries = "overview",
	.help = "the run in a few lines",
};
