/* SPDX-License-Identifier: MIT */

/* wfdag: the graph of a workflow, from its trace. */

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/cli.h"
#include "base/complete.h"
#include "base/err.h"
#include "base/failure.h"
#include "base/output.h"
#include "base/stage.h"
#include "dag/export/export.h"
#include "dag/graph/critical.h"
#include "dag/graph/workflow.h"
#include "dag/output/json.h"
#include "dag/trace/choice.h"
#include "dag/trace/known.h"
#include "dag/trace/traces.h"
#include "dag/shape/fold.h"
#include "dag/shape/palette.h"
#include "dag/wfdag/options.h"
#include "dag/wfdag/output.h"
#include "dag/wfdag/verbs.h"
#include "db/query.h"

/* ---- the shape ---- */

/* A missing name has no file, so its own path is compared with --include and --exclude. */
static void choose_missing_names(const struct dag_options *o, struct workflow *w)
{
	for (int32_t i = 0; i < w->n_missing_names; i++)
		w->missing_names[i].chosen &= choice_takes_path(&o->choice, w->missing_names[i].path);
}

static int select_part(const struct dag_options *o, struct shape *shape, struct failure *failure)
{
	const char *missing = NULL;
	int r = reach_select(shape, &o->reach, &missing);

	if (r == -ENOENT)
		return failure_set(failure, r,
			"no node matches '%s': give an id as in --json, or a glob for paths or programs; files of "
			"the system need --all",
			missing);
	return failure_of_memory(failure, r);
}

static int reduce(struct shape *shape, struct failure *failure)
{
	int r = reach_reduce(shape);

	if (r == -ELOOP)
		return failure_set(failure, r,
			"cannot reduce a graph with cycles, which folding makes: leave out --reduce, --fold or "
			"--group-by");
	return failure_of_memory(failure, r);
}

/* Reduces after folding, which may make cycles. */
static int make_shape(const struct dag_options *o, const struct workflow *w,
	const struct critical *critical, struct shape **ret_shape, struct failure *failure)
{
	struct shape_options options = o->shape;
	int r;

	options.critical = critical;
	r = failure_of_memory(failure, shape_create(w, &options, ret_shape));
	if (r == 0)
		r = select_part(o, *ret_shape, failure);
	if (r == 0)
		r = failure_of_memory(failure, fold_shape(*ret_shape, &o->fold));
	return r == 0 && o->reduce ? reduce(*ret_shape, failure) : r;
}

/* ---- what is written ---- */

static int fold_large(int64_t max_nodes, struct shape *shape, struct failure *failure)
{
	int32_t before = shape->folded;

	if (max_nodes && fold_to(shape, max_nodes > INT32_MAX ? INT32_MAX : (int32_t)max_nodes) < 0)
		return failure_memory(failure);
	if (shape->folded > before)
		err_print("%d nodes folded: the graph has %d nodes; --max-nodes 0 shows all",
			shape->folded - before, shape->n_nodes);
	return 0;
}

static int print_table(const struct dag_options *o, const struct workflow *w,
	const struct shape *shape, bool whole, struct failure *failure)
{
	const struct table_style style = { .format = o->format,
		.raw = o->raw,
		.wide = o->wide || o->columns,
		.begin_ns = w->begin_ns,
		.program = "ftrac.dag",
		.name = o->analysis->name,
		.complete = whole };
	struct table *table = table_create();
	int r = failure_of_memory(failure,
		table ? o->analysis->fill(table, w, shape, &o->analyse) : -ENOMEM);

	if (r == 0)
		r = table_arrange(table, o->sort, o->top, o->columns, failure);
	if (r == 0 && (r = table_print(table, &style, stdout)) < 0)
		r = r == -ENOMEM
			    ? failure_memory(failure)
			    : failure_set(failure, r, "cannot write the output: %s", strerror(-r));
	table_destroy(table);
	return r;
}

#define PATIENCE_SECONDS 4 /* with dot, while there is a smaller graph to draw */
#define NODES_LEAST 40

/* Unless the user says how large the picture is: what dot does not draw in a few seconds is folded once more. */
static int draw_picture(struct dag_options *o, struct shape *shape, struct failure *failure)
{
	int64_t max = o->max_nodes;
	int r;

	for (;; max /= 2) {
		bool is_last = o->max_given || max / 2 < NODES_LEAST;

		o->dot.limit_s = is_last ? 0 : PATIENCE_SECONDS;
		r = fold_large(max, shape, failure);
		if (r == 0)
			r = dag_write(o, shape, OUTPUT_PICTURE, failure);
		if (r != -ETIMEDOUT || is_last)
			return r;
		*failure = (struct failure){ 0 };
		err_print("dot took more than %d s to draw %d nodes", PATIENCE_SECONDS, shape->n_nodes);
	}
}

/* Of what is drawn, the larger graph first. */
static int draw(const struct dag_options *o, struct shape *shape, struct failure *failure)
{
	struct dag_options coloured = *o;
	struct palette *palette = NULL;
	int r = failure_of_memory(failure, palette_create(shape->workflow, &palette));

	coloured.dot.colour = palette_colour;
	coloured.dot.colours = palette;
	if (r == 0 && dag_has_output(o, OUTPUT_DOT))
		r = fold_large(o->max_given ? o->max_nodes : DAG_MAX_NODES_DOT, shape, failure);
	if (r == 0)
		r = dag_write(&coloured, shape, OUTPUT_DOT, failure);
	stage_show("wfdag", "dot draws the graph");
	if (r == 0 && dag_has_output(o, OUTPUT_PICTURE))
		r = draw_picture(&coloured, shape, failure);
	palette_destroy(palette);
	return r;
}

static int write_all(const struct dag_options *o, const struct workflow *w, struct shape *shape,
	bool whole, struct failure *failure)
{
	int r = o->max_given && !o->analysis ? fold_large(o->max_nodes, shape, failure) : 0;

	if (r == 0 && o->analysis)
		r = print_table(o, w, shape, whole, failure);
	if (r == 0)
		r = dag_write(o, shape, OUTPUT_DATA, failure);
	return r < 0 || !(dag_has_output(o, OUTPUT_DOT) || dag_has_output(o, OUTPUT_PICTURE)) ? r : draw(o, shape, failure);
}

/* Where nodes of a picture are folded, parts of one process or file would remain separate nodes. */
static bool has_many_parts(const struct dag_options *o, const struct shape *shape)
{
	return dag_has_output(o, OUTPUT_PICTURE) && !dag_has_output(o, OUTPUT_DATA) && !dag_has_output(o, OUTPUT_DOT) && !o->analysis &&
	       !o->max_given && shape->n_nodes > o->max_nodes;
}

/* ---- the whole ---- */

static int show(const struct dag_options *o, struct workflow *w, bool whole,
	struct failure *failure)
{
	struct critical *critical = NULL;
	struct shape *shape = NULL;
	int r = failure_of_memory(failure, critical_create(w, false, &critical));

	choose_missing_names(o, w);
	if (r == 0)
		r = make_shape(o, w, critical, &shape, failure);
	if (r == 0 && has_many_parts(o, shape)) {
		struct dag_options folded = *o;

		shape_destroy(shape);
		shape = NULL;
		folded.shape.fold = true;
		r = make_shape(&folded, w, critical, &shape, failure);
	}
	if (r == 0)
		r = write_all(o, w, shape, whole, failure);
	shape_destroy(shape);
	critical_destroy(critical);
	return r;
}

static int open_and_show(const struct dag_options *o)
{
	const struct workflow_options options = { &o->choice, o->shape.metadata, o->missing_names };
	struct workflow *workflow = NULL;
	struct query_db *db = NULL;
	struct failure failure = { 0 };
	bool whole = false;
	int r;

	stage_show("wfdag", "reading the trace");
	r = traces_open(&o->traces, o->foreign ? QUERY_FOREIGN : 0, err_print, &db, &failure);
	if (r == 0) {
		whole = traces_are_whole(db, err_print);
		r = known_check(db, &o->choice, &failure);
	}
	if (r == 0)
		r = known_check_phase(db, &o->choice, o->fold.expand, &failure);
	if (r == 0)
		r = workflow_load(db, &options, &workflow, &failure);
	if (r == 0)
		r = show(o, workflow, whole, &failure);
	stage_show("wfdag", NULL);
	workflow_destroy(workflow);
	query_close(db);
	return r < 0 ? failure_status(&failure) : o->strict && !whole ? TRACES_EXIT_STRICT : 0;
}

static int show_graph(int argc, char **argv)
{
	struct dag_options options;
	int status;

	if (dag_options_parse(argc, argv, &options, &status) && (status = output_replace_stdout(options.table_file)) == 0) {
		status = open_and_show(&options);
		status = output_finish_stdout(status, status == EXIT_OWN || status == EXIT_USAGE);
	}
	dag_options_finish(&options);
	return status;
}

static const struct verb *find_verb(const char *name)
{
	for (const struct verb *verb = verbs; verb->name; verb++)
		if (strcmp(verb->name, name) == 0)
			return verb;
	return NULL;
}

int main(int argc, char **argv)
{
	const char *word = complete_verb(argc, argv);
	const struct verb *verb = word ? find_verb(word) : NULL;
	int status;

	cli_begin();
	json_memory_watch();
	if (verb)
		complete_enter_verb(argv);
	status = verb ? verb->main(argc - 1, argv + 1) : show_graph(argc, argv);
	if (fflush(stdout) != 0 && status == 0)
		status = err_status(EXIT_OWN, "cannot write the output: %s", strerror(errno));
	return status;
}
