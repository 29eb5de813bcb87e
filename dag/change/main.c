/* SPDX-License-Identifier: MIT */
#include "dag/change/change.h"

#include <errno.h>
#include <string.h>

#include "base/err.h"
#include "base/failure.h"
#include "base/output.h"
#include "base/place.h"
#include "dag/change/artifacts.h"
#include "dag/change/changes.h"
#include "dag/change/options.h"
#include "dag/change/print.h"
#include "dag/trace/known.h"
#include "dag/trace/traces.h"
#include "db/query.h"

#define WIDTH 80

struct work {
	const struct changes_options *options;
	struct query_db *db;
	struct changes *changes;
	struct failure failure;
	bool whole;
};

static int load(struct work *w, unsigned how)
{
	const struct changes_options *o = w->options;
	int r = traces_open(&o->traces, QUERY_OPS | how | (o->foreign ? QUERY_FOREIGN : 0), err_print, &w->db, &w->failure);

	if (r < 0)
		return r;
	w->whole = traces_are_whole(w->db, err_print);
	if (!query_fact_text(w->db, "fidelity"))
		return failure_set(&w->failure, -ENODATA, "files were not traced, so that it is not known what was changed: record the run by "
			"'ftrac run', or by 'procmon --files kernel'");
	r = known_check(w->db, &o->choice, &w->failure);
	if (r == 0)
		r = changes_load(w->db, &o->choice, &w->changes, &w->failure);
	if (r == 0 && o->statement)
		r = changes_load_inputs(w->changes, w->db, &o->choice, &w->failure);
	return r;
}

static int print_list(struct work *w, int width, FILE *out)
{
	const struct changes_options *o = w->options;
	const struct changes_listing listing = { .cwd = query_fact_text(w->db, "cwd"),
		.text = o->format == TABLE_TEXT,
		.all = o->all,
		.temporary = o->temporary };
	const struct table_style style = { .format = o->format,
		.raw = o->raw,
		.wide = o->wide || o->columns,
		.width = width,
		.begin_ns = query_fact(w->db, "start_ns", 0),
		.program = "ftrac.dag",
		.name = "changes",
		.complete = w->whole };
	struct table *table = table_create();
	int r = failure_of_memory(&w->failure, table ? 0 : -ENOMEM);

	if (r == 0) {
		changes_list(w->changes, &listing, table);
		r = table_arrange(table, o->sort, o->top, o->columns, &w->failure);
	}
	if (r == 0 && (r = table_print(table, &style, out)) < 0)
		r = r == -ENOMEM ? failure_memory(&w->failure) : failure_set(&w->failure, r, "cannot write the output: %s", strerror(-r));
	table_destroy(table);
	return r;
}

static int write_statement(struct work *w)
{
	struct output out = { 0 };
	int r = output_open(w->options->statement, &out);
	FILE *stream = r == 0 ? output_stream(out.fd) : NULL;

	if (r == 0 && stream)
		r = artifacts_state(w->db, w->changes, w->options->builder, err_print, stream, &w->failure);
	else if (r == 0)
		r = -errno;
	if (stream)
		fclose(stream);
	if (out.file)
		r = output_close(&out, r);
	if (r < 0 && !w->failure.code)
		failure_set(&w->failure, r, "cannot write '%s': %s", w->options->statement, place_explain(r));
	return r;
}

static void finish(struct work *w)
{
	changes_destroy(w->changes);
	query_close(w->db);
}

/* ---- at the end of a run ---- */

static int do_own(struct changes_options *o, unsigned how, const char *db, FILE *out)
{
	struct work w = { .options = o };
	int r = words_add(&o->traces, db) == 0 ? 0 : -ENOMEM;

	if (r == 0 && (r = load(&w, how)) == 0)
		r = o->statement ? write_statement(&w) : print_list(&w, WIDTH, out);
	if (w.failure.code)
		failure_status(&w.failure);
	finish(&w);
	words_free(&o->traces);
	return r;
}

int change_print(const char *db, unsigned how, FILE *out)
{
	struct changes_options o = { .top = -1, .choice.step_ns = 1 };

	return do_own(&o, how, db, out);
}

int change_state(const char *db, unsigned how, const char *file)
{
	struct changes_options o = { .top = -1, .choice.step_ns = 1, .statement = file };

	return do_own(&o, how, db, NULL);
}

/* ---- wfdag changes ---- */

static int show(const struct changes_options *o)
{
	struct work w = { .options = o };
	int r = load(&w, 0);

	if (r == 0 && o->list)
		r = print_list(&w, 0, stdout);
	if (r == 0 && o->statement)
		r = write_statement(&w);
	finish(&w);
	return r < 0 ? failure_status(&w.failure) : o->strict && !w.whole ? TRACES_EXIT_STRICT : 0;
}

int change_main(int argc, char **argv)
{
	struct changes_options options;
	int status;

	if (changes_options_parse(argc, argv, &options, &status) &&
		(status = output_replace_stdout(options.list ? options.output : NULL)) == 0) {
		status = show(&options);
		status = output_finish_stdout(status, status == EXIT_OWN || status == EXIT_USAGE);
	}
	changes_options_finish(&options);
	return status;
}
