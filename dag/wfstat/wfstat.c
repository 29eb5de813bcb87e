/* SPDX-License-Identifier: MIT */

/* wfstat: statistics of a workflow, from its trace. */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cli.h"
#include "base/err.h"
#include "dag/output/table.h"
#include "dag/stat/options.h"
#include "dag/stat/stat.h"
#include "dag/trace/traces.h"
#include "db/query.h"

static void set_style(struct stat_run *run, bool whole)
{
	run->style = run->options->style;
	run->style.begin_ns = query_fact(run->db, "start_ns", 0);
	run->style.name = run->options->table ? run->options->table : "overview";
	run->style.complete = whole;
}

static int arrange(struct stat_run *run)
{
	const struct stat_options *o = run->options;
	int r = o->sort ? table_sort(run->table, o->sort) : 0;

	if (r == -EINVAL)
		return err_status(EXIT_USAGE,
			"no column '%s' to sort by; the columns are those that "
			"--csv names",
			o->sort);
	if (r < 0)
		return stat_out_of_memory();
	if (o->top >= 0)
		table_top(run->table, o->top);
	return 0;
}

static int print(struct stat_run *run)
{
	int r = table_print(run->table, &run->style, stdout);

	return r < 0 ? err_status(EXIT_OWN, "cannot write the table: %s", strerror(-r)) : 0;
}

static int run_table(const struct stat_options *options)
{
	struct stat_run run = { .options = options, .table = table_create() };
	unsigned how = (stat_needs_ops(options) ? QUERY_OPS : 0) | (options->foreign ? QUERY_FOREIGN : 0);
	int status = run.table ? traces_open(&options->traces, how, &run.db)
			       : stat_out_of_memory();
	bool whole = status == 0 && traces_are_whole(run.db);

	if (status == 0)
		set_style(&run, whole);
	if (status == 0)
		status = stat_look(&run);
	if (status == 0)
		status = stat_table(&run);
	if (status == 0)
		status = arrange(&run);
	if (status == 0)
		status = print(&run);
	if (status == 0 && options->strict && !whole)
		status = TRACES_EXIT_STRICT;
	table_destroy(run.table);
	query_close(run.db);
	return status;
}

int main(int argc, char **argv)
{
	struct stat_options options;
	int status;

	cli_begin();
	if (stat_options_parse(argc, argv, &options, &status))
		status = options.sql ? stat_sql(&options, stdout) : run_table(&options);
	stat_options_finish(&options);
	if (fflush(stdout) != 0 && status == 0)
		status = err_status(EXIT_OWN, "cannot write the output: %s", strerror(errno));
	return status;
}
