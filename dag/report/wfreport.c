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
#include "base/place.h"
#include "dag/graph/critical.h"
#include "dag/graph/workflow.h"
#include "dag/output/json.h"
#include "dag/report/options.h"
#include "dag/report/page.h"
#include "dag/report/report.h"
#include "dag/shape/palette.h"
#include "dag/shape/shape.h"
#include "dag/stat/stat.h"
#include "dag/trace/traces.h"
#include "db/query.h"

#define POINTS_MAX 240 /* of a curve over time */

/* ---- progress ---- */

/* A thread says what is being done, on a terminal, from when the whole has taken a second. */
static struct {
	pthread_t thread;
	pthread_mutex_t mutex;
	pthread_cond_t changed;
	const char *what;
	bool runs;
} progress = { .mutex = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER };

/* The cursor goes back, so that an error takes the place of it. */
static void *show_progress(void *unused)
{
	struct timespec begin;

	clock_gettime(CLOCK_MONOTONIC, &begin);
	begin.tv_sec++;
	pthread_mutex_lock(&progress.mutex);
	while (progress.what &&
		pthread_cond_clockwait(&progress.changed, &progress.mutex, CLOCK_MONOTONIC, &begin) != ETIMEDOUT)
		;
	while (progress.what) {
		fprintf(stderr, "\033[Kwfreport: %s ...\r", progress.what);
		pthread_cond_wait(&progress.changed, &progress.mutex);
	}
	fputs("\033[K", stderr);
	pthread_mutex_unlock(&progress.mutex);
	return unused;
}

void report_progress(const char *what)
{
	if (!progress.runs && (!what || !isatty(STDERR_FILENO)))
		return;
	pthread_mutex_lock(&progress.mutex);
	progress.what = what;
	pthread_cond_signal(&progress.changed);
	pthread_mutex_unlock(&progress.mutex);
	if (!progress.runs)
		progress.runs = pthread_create(&progress.thread, NULL, show_progress, NULL) == 0;
	else if (!what)
		progress.runs = pthread_join(progress.thread, NULL) != 0;
}

/* ---- sections ---- */

/* Those that wait for the pass over all operations come last. */
static const struct {
	enum section section;
	int (*write)(struct report *report);
	const char *what;
	bool alone; /* it needs nothing but the trace */
} sections[] = {
	{ SECTION_BANNER, report_banner, "summing up", false },
	{ SECTION_GRAPH, report_graph, "drawing the graph", false },
	{ SECTION_FINDINGS, report_findings, "looking for what could be better", true },
	{ SECTION_FILES, report_files, "listing files", true },
	{ SECTION_PHASES, report_phases, "comparing phases", true },
	{ SECTION_TIMELINE, report_timeline, "drawing the time line", false },
	{ SECTION_IO, report_io, "counting operations", false },
};

static int write_section(struct report *r, size_t i)
{
	size_t len;
	int status;

	r->out = open_memstream(&r->sections[sections[i].section], &len);
	if (!r->out)
		return report_out_of_memory();
	status = sections[i].write(r);
	if ((fclose(r->out) != 0 || r->out_of_memory || json_memory_failed()) && status == 0)
		status = report_out_of_memory();
	return status;
}

/* What needs nothing but the trace is written beside all else, by a connection of its own. */
struct beside {
	struct report report;
	pthread_t thread;
	bool running;
	int status;
};

static void *write_beside(void *arg)
{
	struct beside *b = arg;

	b->status = traces_open(&b->report.options->traces, b->report.options->how, &b->report.db);
	for (size_t i = 0; i < SECTION_MAX && b->status == 0; i++)
		if (sections[i].alone)
			b->status = write_section(&b->report, i);
	return NULL;
}

static void start_beside(const struct report *r, struct beside *b)
{
	b->report = *r;
	b->report.db = NULL;
	b->report.scan = NULL;
	b->running = r->is_still && !r->options->perfetto &&
		     pthread_create(&b->thread, NULL, write_beside, b) == 0;
}

/* Its sections are those of the report then. */
static int end_beside(struct report *r, struct beside *b)
{
	if (!b->running)
		return 0;
	pthread_join(b->thread, NULL);
	b->running = false;
	query_close(b->report.db);
	for (int i = 0; i < SECTION_MAX; i++)
		if (!r->sections[i])
			r->sections[i] = b->report.sections[i];
	return b->status;
}

static int write_sections(struct report *r, struct beside *b)
{
	int status = 0;

	for (size_t i = 0; i < SECTION_MAX && status == 0; i++) {
		report_progress(sections[i].what);
		if (!b->running || !sections[i].alone)
			status = write_section(r, i);
	}
	return status;
}

/* ---- what all sections need ---- */

/* 1, 2 or 5 times a power of ten, as long as a curve needs. */
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
	struct stat_run run = { .options = &options, .db = r->db };
	struct query *query = NULL;
	int status = stat_query(&run, "time.span", "span_ns", &r->choice, &query, NULL), next = 0;

	if (status == 0 && (next = stat_next(&run, query)) > 0)
		r->span_ns = query_int(query, 0);
	query_end(query);
	if (next < 0)
		return EXIT_FAILURE;
	r->span_ns = r->span_ns > 0 ? r->span_ns : 1;
	r->choice.step_ns = nice_step(r->span_ns);
	if (status == 0)
		status = stat_look(&run);
	r->has_ops = run.has_ops;
	return status;
}

static int load(struct report *r, struct beside *beside)
{
	const struct workflow_options options = { .choice = &r->options->choice };
	struct shape_options all = { .what = SHAPE_DAG };
	struct failure failure = { 0 };
	int status;

	report_progress("opening the trace");
	status = traces_open(&r->options->traces, r->options->how, &r->db);
	report_progress("reading the graph");
	r->whole = status == 0 && traces_are_whole(r->db);
	r->is_still = status == 0 && r->options->traces.n == 1 && query_fact(r->db, "complete", 0);
	r->choice = r->options->choice;
	r->begin_ns = status == 0 ? query_fact(r->db, "start_ns", 0) : 0;
	r->style = (struct table_style){ .format = TABLE_TEXT, .program = "ftrac.stat",
		.begin_ns = r->begin_ns, .complete = r->whole };
	if (status == 0)
		status = read_span(r);
	if (status == 0)
		status = report_scan_start(r);
	if (status == 0)
		start_beside(r, beside);
	if (status == 0 && workflow_load(r->db, &options, &r->workflow, &failure) < 0)
		status = failure_status(&failure);
	if (status == 0 && critical_create(r->workflow, true, &r->critical) < 0)
		status = report_out_of_memory();
	if (status == 0 && palette_create(r->workflow, &r->palette) < 0)
		status = report_out_of_memory();
	all.critical = r->critical;
	if (status == 0 && shape_create(r->workflow, &all, &r->shape) < 0)
		status = report_out_of_memory();
	return status;
}

/* ---- the page ---- */

static int write_page(const struct report *r)
{
	const char *file = r->options->output;
	struct output output;
	int status = output_open(file, &output);
	FILE *out;

	if (status == 0) {
		out = output_stream(output.fd);
		status = out ? report_page_put(r, out) : -errno;
		if (out && fclose(out) != 0 && status == 0)
			status = -errno;
		status = output_close(&output, status);
	}
	return status < 0 ? err_status(EXIT_OWN, "cannot write '%s': %s", file, place_explain(status)) : 0;
}

static int tell(const struct report_options *options)
{
	struct report r = { .options = options };
	struct beside beside = { 0 };
	int status = load(&r, &beside), other;

	if (status == 0)
		status = options->perfetto ? report_perfetto(&r) : write_sections(&r, &beside);
	other = end_beside(&r, &beside);
	status = status ? status : other;
	if (status == 0 && !options->perfetto)
		status = write_page(&r);
	report_progress(NULL);
	if (status == 0 && options->strict && !r.whole)
		status = TRACES_EXIT_STRICT;
	report_scan_finish(&r);
	for (int i = 0; i < SECTION_MAX; i++)
		free(r.sections[i]);
	shape_destroy(r.shape);
	palette_destroy(r.palette);
	critical_destroy(r.critical);
	workflow_destroy(r.workflow);
	query_close(r.db);
	return status;
}

int main(int argc, char **argv)
{
	struct report_options options;
	int status;

	cli_begin();
	err_once();
	json_memory_watch();
	if (report_options_parse(argc, argv, &options, &status))
		status = tell(&options);
	report_options_finish(&options);
	if (fflush(stdout) != 0 && status == 0)
		status = err_status(EXIT_OWN, "cannot write the output: %s", strerror(errno));
	return status;
}
