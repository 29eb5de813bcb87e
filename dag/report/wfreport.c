/* SPDX-License-Identifier: MIT */

/* wfreport: a report of a workflow as one page, from its trace. */

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/cli.h"
#include "base/err.h"
#include "base/failure.h"
#include "base/output.h"
#include "base/stage.h"
#include "dag/graph/critical.h"
#include "dag/graph/workflow.h"
#include "dag/output/json.h"
#include "dag/report/options.h"
#include "dag/report/page.h"
#include "dag/report/report.h"
#include "dag/shape/palette.h"
#include "dag/shape/shape.h"
#include "dag/stat/stat.h"
#include "dag/trace/known.h"
#include "dag/trace/traces.h"
#include "db/query.h"

#define POINTS_MAX 240 /* points of a curve over time */

/* ---- progress ---- */

void report_progress(const char *what)
{
	stage_show("wfreport", what);
}

/* ---- sections ---- */

/* In the order in which they are written: sections that wait for the pass over all operations come last. */
static const struct {
	enum section section;
	int (*write)(struct report *report);
	const char *what;
	bool alone; /* it needs only the trace, not the graph and not the pass */
} sections[] = {
	{ SECTION_BANNER, report_banner, "summing up", false },
	{ SECTION_GRAPH, report_graph, "drawing the graph", false },
	{ SECTION_FINDINGS, report_findings, "looking for what could be better", true },
	{ SECTION_FILES, report_files, "listing files", true },
	{ SECTION_LAYERS, report_layers, "following calls of libraries", true },
	{ SECTION_PHASES, report_phases, "comparing phases", true },
	{ SECTION_TIMELINE, report_timeline, "drawing the time line", false },
	{ SECTION_IO, report_io, "counting operations", false },
};

static int write_section(struct report *r, size_t i)
{
	size_t len;
	int error;

	r->out = open_memstream(&r->sections[sections[i].section], &len);
	if (!r->out)
		return failure_memory(r->failure);
	error = sections[i].write(r);
	if ((fclose(r->out) != 0 || r->out_of_memory || json_memory_failed()) && error == 0)
		error = failure_memory(r->failure);
	return error;
}

/* A thread with its own connection writes the sections that need only the trace. */
struct beside {
	struct report report;
	pthread_t thread;
	bool running;
	struct failure failure;
	int error;
};

static void *write_beside(void *arg)
{
	struct beside *b = arg;
	struct report *r = &b->report;

	b->error = traces_open(&r->options->traces, r->options->how, NULL, &r->db, r->failure);
	for (size_t i = 0; i < SECTION_MAX && b->error == 0; i++)
		if (sections[i].alone)
			b->error = write_section(r, i);
	return NULL;
}

static void start_beside(const struct report *r, struct beside *b)
{
	b->report = *r;
	b->report.db = NULL;
	b->report.scan = NULL;
	b->report.failure = &b->failure;
	b->running = r->is_still && !r->options->perfetto &&
		     pthread_create(&b->thread, NULL, write_beside, b) == 0;
}

/* Waits for the thread.  The report takes its sections, and its failure if there is no other one.  error: the result so
 * far. */
static int end_beside(struct report *r, struct beside *b, int error)
{
	if (!b->running)
		return error;
	pthread_join(b->thread, NULL);
	b->running = false;
	query_close(b->report.db);
	for (int i = 0; i < SECTION_MAX; i++)
		if (!r->sections[i])
			r->sections[i] = b->report.sections[i];
	if (error == 0 && b->error < 0)
		*r->failure = b->failure;
	return error < 0 ? error : b->error;
}

static int write_sections(struct report *r, struct beside *b)
{
	int error = 0;

	for (size_t i = 0; i < SECTION_MAX && error == 0; i++) {
		report_progress(sections[i].what);
		if (!b->running || !sections[i].alone)
			error = write_section(r, i);
	}
	return error;
}

/* ---- the trace and its graph ---- */

/* The length of an interval: 1, 2 or 5 times a power of ten, so that a curve has fewer than POINTS_MAX points. */
static int64_t nice_step(int64_t span_ns)
{
	static const int factors[] = { 1, 2, 5 };
	int64_t step = 1000000;

	for (int64_t power = 1000000;; power *= 10)
		for (size_t i = 0; i < sizeof(factors) / sizeof(factors[0]); i++) {
			step = power * factors[i];
			if (span_ns / step < POINTS_MAX || step > INT64_MAX / 100)
				return step;
		}
}

static int read_span(struct report *r)
{
	const struct stat_options options = { .choice = r->choice, .top = -1 };
	struct stat_run run = { .options = &options, .db = r->db, .failure = r->failure };
	struct query *query;
	int error =
		traces_query(r->db, "time.span", "span_ns run_ns", &r->choice, &query, NULL, r->failure);

	if (error == 0 && (error = traces_next(r->db, query, r->failure)) > 0) {
		r->span_ns = query_int(query, 0);
		r->run_ns = query_int(query, 1);
	}
	query_end(query);
	if (error < 0)
		return error;
	r->span_ns = r->span_ns > 0 ? r->span_ns : 1;
	r->choice.step_ns = nice_step(r->span_ns);
	error = stat_look(&run);
	r->has_ops = run.has_ops;
	return error;
}

static int open_trace(struct report *r)
{
	int error;

	report_progress("opening the trace");
	error = traces_open(&r->options->traces, r->options->how, err_print, &r->db, r->failure);
	report_progress("reading the graph");
	if (error < 0)
		return error;
	r->whole = traces_are_whole(r->db, err_print);
	r->is_still = r->options->traces.n == 1 && query_fact(r->db, "complete", 0);
	r->choice = r->options->choice;
	r->begin_ns = query_fact(r->db, "start_ns", 0);
	r->style = (struct table_style){ .format = TABLE_TEXT, .program = "ftrac.stat",
		.begin_ns = r->begin_ns, .complete = r->whole };
	error = known_check(r->db, &r->choice, r->failure);
	return error < 0 ? error : read_span(r);
}

static int make_graph(struct report *r)
{
	struct shape_options all = { .what = SHAPE_DAG };
	int error = critical_create(r->workflow, true, &r->critical);

	if (error == 0)
		error = palette_create(r->workflow, &r->palette);
	all.critical = r->critical;
	if (error == 0)
		error = shape_create(r->workflow, &all, &r->shape);
	return failure_of_memory(r->failure, error);
}

static int load(struct report *r, struct beside *beside)
{
	const struct workflow_options options = { .choice = &r->options->choice };
	int error = open_trace(r);

	if (error == 0)
		error = report_scan_start(r);
	if (error < 0)
		return error;
	start_beside(r, beside);
	error = workflow_load(r->db, &options, &r->workflow, r->failure);
	return error < 0 ? error : make_graph(r);
}

/* ---- the page ---- */

static const char *title_of(const struct report *r)
{
	const char *command = query_fact_text(r->db, "command");

	return r->options->title ? r->options->title : command && *command ? command : r->options->traces.word[0];
}

static bool is_part(const struct choice *c)
{
	return c->phase || c->job || c->process || c->include.n || c->exclude.n || c->from_ns || c->to_ns;
}

static int write_page(const struct report *r)
{
	static const struct page_section names[] = { { "summary", "Summary", NULL }, { "findings", "Findings", NULL },
		{ "timeline", "Time line", NULL }, { "by-phase", "Steps", NULL }, { "io-section", "Reads and writes", NULL },
		{ "files", "Files", NULL }, { "layers", "Library calls", NULL }, { "graphs", "Graphs", NULL } };
	struct page_section of_page[SECTION_MAX];
	struct page page = { title_of(r), of_page, 0, "dag-picture", "To the graph",
		is_part(&r->options->choice) ? "<p class=\"note\">A part of the run was chosen: numbers are of that part, but for those of "
					       "the summary, the critical path and the makespan.</p>\n"
					     : NULL };

	_Static_assert(sizeof(names) / sizeof(names[0]) == SECTION_MAX, "a name for each section");
	for (int i = 0; i < SECTION_MAX; i++) {
		if (!*r->sections[i])
			continue;
		of_page[page.n] = names[i];
		of_page[page.n++].text = r->sections[i];
	}
	return report_write_page(&page, r->options->output, r->failure);
}

static int write_report(const struct report_options *options)
{
	struct failure failure = { 0 };
	struct report r = { .options = options, .failure = &failure };
	struct beside beside = { 0 };
	int error = load(&r, &beside);

	if (error == 0)
		error = options->perfetto ? report_perfetto(&r) : write_sections(&r, &beside);
	error = end_beside(&r, &beside, error);
	if (error == 0 && !options->perfetto)
		error = write_page(&r);
	report_progress(NULL);
	report_scan_finish(&r);
	for (int i = 0; i < SECTION_MAX; i++)
		free(r.sections[i]);
	shape_destroy(r.shape);
	palette_destroy(r.palette);
	critical_destroy(r.critical);
	workflow_destroy(r.workflow);
	query_close(r.db);
	return error < 0                     ? failure_status(&failure)
	       : options->strict && !r.whole ? TRACES_EXIT_STRICT
					     : 0;
}

int main(int argc, char **argv)
{
	struct report_options options;
	int status;

	cli_begin();
	json_memory_watch();
	if (report_options_parse(argc, argv, &options, &status))
		status = options.is_diff ? report_compare(&options) : write_report(&options);
	report_options_finish(&options);
	if (fflush(stdout) != 0 && status == 0)
		status = err_status(EXIT_OWN, "cannot write the output: %s", strerror(errno));
	return status;
}
