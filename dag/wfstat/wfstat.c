/* SPDX-License-Identifier: MIT */

/* wfstat: statistics of a workflow, from its trace. */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cli.h"
#include "base/err.h"
#include "base/output.h"
#include "base/failure.h"
#include "dag/darshan/darshan.h"
#include "dag/output/table.h"
#include "dag/stat/options.h"
#include "dag/stat/stat.h"
#include "dag/trace/known.h"
#include "dag/trace/traces.h"
#include "db/query.h"

static void set_style(struct stat_run *run, bool whole)
{
	run->style = run->options->style;
	run->style.wide |= run->options->columns != NULL;
	run->style.begin_ns = query_fact(run->db, "start_ns", 0);
	run->style.name = run->options->table ? run->options->table : "overview";
	run->style.complete = whole;
}

static int print(struct stat_run *run)
{
	const struct stat_options *o = run->options;

	if ((o->svg && strcmp(o->svg, "-") == 0) || (o->png && strcmp(o->png, "-") == 0))
		return 0; /* the picture is there */
	int r = table_print(run->table, &run->style, stdout);

	return r < 0 ? failure_set(run->failure, r, "cannot write the table: %s", strerror(-r)) : 0;
}

static int print_table(const struct stat_options *options)
{
	struct failure failure = { 0 };
	struct stat_run run = { .options = options, .failure = &failure, .table = table_create(), .to_stdout = true };
	unsigned how = (stat_needs_ops(options) ? QUERY_OPS : 0) | (options->foreign ? QUERY_FOREIGN : 0);
	bool whole = false;
	int r = run.table ? traces_open(&options->traces, how, err_print, &run.db, &failure)
			  : failure_memory(&failure);

	if (r == 0) {
		whole = traces_are_whole(run.db, err_print);
		set_style(&run, whole);
		r = known_check(run.db, &options->choice, &failure);
	}
	if (r == 0)
		r = stat_look(&run);
	if (r == 0)
		r = stat_table(&run);
	if (r == 0)
		r = table_arrange(run.table, options->sort, options->top, options->columns, &failure);
	if (r == 0)
		r = print(&run);
	table_destroy(run.table);
	query_close(run.db);
	return r < 0                       ? failure_status(&failure)
	       : options->strict && !whole ? TRACES_EXIT_STRICT
					   : 0;
}

/* Instead of a table. */
static int print_darshan(const struct stat_options *options)
{
	struct failure failure = { 0 };
	struct query_db *db = NULL;
	bool whole = false;
	int r = traces_open(&options->traces, QUERY_OPS | (options->foreign ? QUERY_FOREIGN : 0), err_print, &db, &failure);

	if (r == 0) {
		whole = traces_are_whole(db, err_print);
		r = known_check(db, &options->choice, &failure);
	}
	if (r == 0)
		r = darshan_write(db, &options->choice, whole, err_print, stdout, &failure);
	query_close(db);
	return r < 0 ? failure_status(&failure) : options->strict && !whole ? TRACES_EXIT_STRICT : 0;
}

static int print_sql(const struct stat_options *options)
{
	struct failure failure = { 0 };

	return stat_sql(options, stdout, &failure) < 0 ? failure_status(&failure) : 0;
}

int main(int argc, char **argv)
{
	struct stat_options options;
	int status;

	cli_begin();
	if (stat_options_parse(argc, argv, &options, &status) && (status = output_replace_stdout(options.output)) == 0) {
		status = options.darshan ? print_darshan(&options) : options.sql ? print_sql(&options) : print_table(&options);
		status = output_finish_stdout(status, status == EXIT_OWN || status == EXIT_USAGE);
	}
	stat_options_finish(&options);
	if (fflush(stdout) != 0 && status == 0)
		status = err_status(EXIT_OWN, "cannot write the output: %s", strerror(errno));
	return status;
}
