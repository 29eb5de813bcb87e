/* SPDX-License-Identifier: MIT */

/* The run in a few lines. */

#include "dag/stat/stat.h"
#include "dag/trace/traces.h"
#include "db/query.h"

/* A row for each column of the query, which gives one row. */
static int fill(struct stat_run *run)
{
	struct query *query;
	int r = traces_query(run->db, "overview", NULL, &run->options->choice, &query, NULL,
		run->failure);

	table_columns(run->table, "fact value");
	if (r == 0)
		r = traces_next(run->db, query, run->failure);
	for (int i = 0; r > 0 && i < query_columns(query); i++) {
		const char *name = query_name(query, i);

		table_name(run->table, name);
		stat_put(run->table, query, i, i);
		table_unit(run->table, name);
	}
	query_end(query);
	table_note(run->table,
		"Tables to see next: io, mem, run, util, sys, phase, file; see wfstat --help.");
	return r < 0 ? r : 0;
}

const struct stat_table stat_overview_table = {
	.name = "overview",
	.fill = fill,
	.needs_ops = false,
	.options = 0,
	.queries = "overview",
	.help = "the run in a few lines",
};
