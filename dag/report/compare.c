/* SPDX-License-Identifier: MIT */

/* The page that compares two traces: what changed, in words; figures, steps and time lines side by side; what differs. */

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/err.h"
#include "base/failure.h"
#include "base/units.h"
#include "dag/diff/figures.h"
#include "dag/diff/noise.h"
#include "dag/diff/options.h"
#include "dag/diff/print_text.h"
#include "dag/diff/sides.h"
#include "dag/graph/critical.h"
#include "dag/output/html.h"
#include "dag/output/json.h"
#include "dag/report/page.h"
#include "dag/report/report.h"
#include "dag/trace/choice.h"
#include "dag/trace/traces.h"
#include "db/query.h"

#define UNIT_ROOM 32
#define ROWS 200         /* of each table */
#define LINES_MAX 2000   /* processes of each run in the time lines: the longest */
#define STEPS_SAID 5
#define STEP_NS 10000000 /* a change of a step that is worth a sentence, and which part of it */
#define STEP_PART .05

enum part { PART_SUMMARY, PART_FIGURES, PART_STEPS, PART_LINES, PART_DIFFERENCES, PART_PATH, PART_MAX };

static const struct page_section names[PART_MAX] = { { "summary", "What changed", NULL }, { "counted", "Counted and measured", NULL },
	{ "by-phase", "Steps", NULL }, { "timeline", "Time lines", NULL }, { "differences", "Differences", NULL },
	{ "paths", "Critical paths", NULL } };

struct comparing {
	const struct report_options *options;
	struct report report; /* for exhibits: out, style, failure */
	const struct comparison *c;
	const struct exhibit *exhibit; /* of put_table() */
	char *text[PART_MAX];
};

/* ---- what changed, in words ---- */

static void put_number(FILE *out, enum figure figure, int64_t number)
{
	char text[UNIT_ROOM];

	if (figure == FIGURE_TIME || figure == FIGURE_CPU)
		units_time((double)number, text, sizeof(text));
	else if (figure == FIGURE_BYTES || figure == FIGURE_MEMORY)
		units_bytes((double)number, text, sizeof(text));
	else
		snprintf(text, sizeof(text), "%lld", (long long)number);
	html_put_string(text, out);
}

/* Several runs of each side, of which those of one are not beyond all of the other. */
static bool is_noise(const struct comparison *c, enum figure figure)
{
	const struct figures *const turned[2] = { c->figures[1], c->figures[0] };
	const int n[2] = { c->n_runs[1], c->n_runs[0] };

	return report_has_several(c) && !figures_exceed(c->figures, c->n_runs, figure, 0) && !figures_exceed(turned, n, figure, 0);
}

/* "Processes: 12 more (30 -> 42)" */
static void say_figure(struct comparing *p, enum figure figure)
{
	static const char *const said[FIGURE_MAX] = { "processes", "files", "edges", "reads and writes of files", "bytes read and written",
		"time", "CPU time", "memory of the largest process" };
	const struct comparison *c = p->c;
	int64_t a = figures_median(c->figures[0], c->n_runs[0], figure), b = figures_median(c->figures[1], c->n_runs[1], figure);
	FILE *out = p->report.out;

	fprintf(out, "<li>%c%s: ", said[figure][0] >= 'a' ? said[figure][0] - 'a' + 'A' : said[figure][0], said[figure] + 1);
	if (a == WORKFLOW_UNKNOWN || b == WORKFLOW_UNKNOWN) {
		fputs("not known</li>\n", out);
		return;
	}
	if (a == b) {
		put_number(out, figure, a);
		fputs(" in both</li>\n", out);
		return;
	}
	put_number(out, figure, llabs(b - a));
	fprintf(out, " %s (", b > a ? "more" : "less");
	put_number(out, figure, a);
	fputs(" \xe2\x86\x92 ", out);
	put_number(out, figure, b);
	if (a > 0)
		fprintf(out, ", %+.1f %%", measure_percent(a, b));
	fputs(is_noise(c, figure) ? "), within noise</li>\n" : ")</li>\n", out);
}

static int compare_changes(const void *x, const void *y)
{
	const struct measured *a = *(const struct measured *const *)x, *b = *(const struct measured *const *)y;
	int64_t by_a = llabs(a->of[MEASURE_TIME][1] - a->of[MEASURE_TIME][0]), by_b = llabs(b->of[MEASURE_TIME][1] - b->of[MEASURE_TIME][0]);

	return (by_a < by_b) - (by_a > by_b);
}

static void say_step(FILE *out, const struct measured *m)
{
	const int64_t *time = m->of[MEASURE_TIME];

	fputs("<li>Step <bdi>", out);
	html_put_string(m->phase, out);
	fputs("</bdi>: ", out);
	put_number(out, FIGURE_TIME, llabs(time[1] - time[0]));
	fprintf(out, " %s (", time[1] > time[0] ? "longer" : "shorter");
	put_number(out, FIGURE_TIME, time[0]);
	fputs(" \xe2\x86\x92 ", out);
	put_number(out, FIGURE_TIME, time[1]);
	fputs(")</li>\n", out);
}

static bool is_change(const struct measured *m)
{
	const int64_t *time = m->of[MEASURE_TIME];

	return m->phase && time[0] != WORKFLOW_UNKNOWN && time[1] != WORKFLOW_UNKNOWN && llabs(time[1] - time[0]) >= STEP_NS &&
	       (double)llabs(time[1] - time[0]) >= STEP_PART * (double)time[0];
}

static int say_steps(struct comparing *p)
{
	const struct measurement *m = p->c->measurement;
	cleanup_free const struct measured **changed = calloc((size_t)m->n + 1, sizeof(*changed));
	size_t n = 0;

	if (!changed)
		return failure_memory(p->report.failure);
	for (int32_t i = 1; i < m->n; i++)
		if (is_change(&m->measured[i]))
			changed[n++] = &m->measured[i];
	if (n)
		qsort(changed, n, sizeof(*changed), compare_changes);
	for (size_t i = 0; i < n && i < STEPS_SAID; i++)
		say_step(p->report.out, changed[i]);
	if (n > STEPS_SAID)
		fprintf(p->report.out, "<li>%zu more steps took longer or shorter: see Steps</li>\n", n - STEPS_SAID);
	return 0;
}

static void put_side(struct comparing *p, int side)
{
	FILE *out = p->report.out;

	fprintf(out, "<div><dt>%c%s</dt><dd><bdi>", 'A' + side, side ? ", after" : ", before");
	html_put_string(p->c->trace[side], out);
	fputs("</bdi>", out);
	if (p->c->n_runs[side] > 1)
		fprintf(out, ", the median of %d runs", p->c->n_runs[side]);
	if (p->c->command[side]) {
		fputs(": <bdi>", out);
		html_put_string(p->c->command[side], out);
		fputs("</bdi>", out);
	}
	fputs("</dd></div>\n", out);
}

static int put_summary(struct comparing *p)
{
	cleanup_free char *summary = report_summary(p->c);
	int r;

	if (!summary)
		return failure_memory(p->report.failure);
	fputs("<p><strong>", p->report.out);
	html_put_string(summary, p->report.out);
	fputs("</strong></p>\n<dl class=\"facts\">\n", p->report.out);
	put_side(p, 0);
	put_side(p, 1);
	fputs("</dl>\n<ul>\n", p->report.out);
	say_figure(p, FIGURE_TIME);
	r = say_steps(p);
	for (int i = 0; i < FIGURE_MAX; i++)
		if (i != FIGURE_TIME)
			say_figure(p, (enum figure)i);
	fputs("</ul>\n", p->report.out);
	return r;
}

/* ---- tables of wfdag diff ---- */

static int put_table(void *arg, struct table *table)
{
	struct comparing *p = arg;

	return exhibit_put(&p->report, p->exhibit, table, NULL);
}

static int put_text(struct comparing *p, const struct exhibit *exhibit, int (*print)(const struct text_output *t))
{
	const struct text_output t = { p->c, &p->report.style, ROWS, p->report.out, put_table, p };
	int r;

	p->exhibit = exhibit;
	r = print(&t);
	return r == -ENOMEM ? failure_memory(p->report.failure) : r;
}

static int put_figures(struct comparing *p)
{
	static const struct exhibit figures = { "figures", "Whole runs", NULL, NULL, false };

	return put_text(p, &figures, print_text_figures);
}

static int put_differences(struct comparing *p)
{
	static const struct exhibit differences = { "difference", "What only one of the two has, and what changed", NULL, NULL, false };
	static const struct exhibit noise = { "noise", "Noise: what differs among runs of one side", "It does not count as a difference.", NULL,
		true };
	int r = put_text(p, &differences, print_text_differences);

	return r == 0 && p->c->noise->n ? put_text(p, &noise, print_text_noise) : r;
}

static int put_path(struct comparing *p)
{
	static const struct exhibit path = { "critical", "Processes on either critical path, by how much their times there differ", NULL, NULL,
		false };

	return put_text(p, &path, print_text_paths);
}

/* ---- steps ---- */

static void put_known(struct table *table, int64_t number)
{
	if (number == WORKFLOW_UNKNOWN)
		table_null(table);
	else
		table_int(table, number);
}

static int put_steps(struct comparing *p)
{
	static const struct exhibit e = { "steps", "Each step in both runs",
		"Time: while any process of the step lived.  The steps whose time differs most come first.", "sides", false };
	static const enum measure shown[] = { MEASURE_TIME, MEASURE_CPU, MEASURE_MEMORY, MEASURE_READ, MEASURE_WRITTEN };
	const struct measurement *m = p->c->measurement;
	struct table *table = table_create();
	int r = table ? 0 : failure_memory(p->report.failure);

	if (r == 0)
		table_columns(table, "step A_processes B_processes A_time_ns B_time_ns differ_time_ns A_cpu_ns B_cpu_ns A_memory_bytes "
				     "B_memory_bytes A_read_bytes B_read_bytes A_written_bytes B_written_bytes");
	for (int32_t i = 1; i < m->n && r == 0; i++) {
		const struct measured *one = &m->measured[i];

		table_string(table, one->phase ? one->phase : "(no step)");
		table_int(table, one->processes[0]);
		table_int(table, one->processes[1]);
		for (size_t k = 0; k < sizeof(shown) / sizeof(shown[0]); k++) {
			put_known(table, one->of[shown[k]][0]);
			put_known(table, one->of[shown[k]][1]);
			if (shown[k] == MEASURE_TIME)
				put_known(table, llabs((one->of[MEASURE_TIME][1] == WORKFLOW_UNKNOWN ? 0 : one->of[MEASURE_TIME][1]) -
						       (one->of[MEASURE_TIME][0] == WORKFLOW_UNKNOWN ? 0 : one->of[MEASURE_TIME][0])));
		}
		table_row(table);
	}
	if (r == 0)
		r = failure_of_memory(p->report.failure, table_sort(table, "differ_time_ns"));
	if (r == 0) {
		table_top(table, ROWS);
		r = exhibit_put(&p->report, &e, table, NULL);
	}
	table_destroy(table);
	return r;
}

/* ---- time lines ---- */

static void put_line(struct comparing *p, struct table *table, int run, int32_t process)
{
	const struct side *side = p->c->match->side[run];
	const struct workflow *w = side->workflow;
	const char *phase = measure_phase(p->c->match, run, process);
	cleanup_free char *name = report_process(p->c, run, process);

	p->report.out_of_memory |= !name;
	table_string(table, run ? "B" : "A");
	table_string(table, phase ? phase : "(no step)");
	table_string(table, name);
	table_real(table, (double)(critical_begin(w, process) - w->begin_ns) / 1e9);
	table_real(table, (double)(critical_end(w, process) - w->begin_ns) / 1e9);
	table_real(table, (double)(critical_end(w, process) - critical_begin(w, process)) / 1e9);
	table_row(table);
}

static int put_lines(struct comparing *p)
{
	static const struct exhibit e = { "lines", "When the processes of each step lived",
		"A bar is a process, in the row of its step; both runs begin at 0.", "lines", true };
	struct table *table = table_create();
	int r = table ? 0 : failure_memory(p->report.failure);

	if (r == 0)
		table_columns(table, "run step process begin_s end_s lived_s");
	for (int run = 0; run < 2 && r == 0; run++)
		for (int32_t i = 0; i < p->c->match->side[run]->n_processes; i++)
			if (p->c->match->side[run]->of[i] == i)
				put_line(p, table, run, i);
	if (r == 0)
		r = failure_of_memory(p->report.failure, table_sort(table, "lived_s"));
	if (r == 0) {
		table_top(table, LINES_MAX);
		r = exhibit_put(&p->report, &e, table, NULL);
	}
	table_destroy(table);
	return r;
}

/* ---- the page ---- */

static int write_parts(struct comparing *p)
{
	static int (*const put[PART_MAX])(struct comparing *p) = { put_summary, put_figures, put_steps, put_lines, put_differences, put_path };
	int r = 0;

	for (int i = 0; i < PART_MAX && r == 0; i++) {
		size_t size;

		p->report.out = open_memstream(&p->text[i], &size);
		if (!p->report.out)
			return failure_memory(p->report.failure);
		r = put[i](p);
		if ((fclose(p->report.out) != 0 || p->report.out_of_memory || json_memory_failed()) && r == 0)
			r = failure_memory(p->report.failure);
	}
	return r;
}

static int show(void *arg, const struct comparison *c, const struct run *const both[2])
{
	struct comparing *p = arg;
	struct page_section sections[PART_MAX];
	cleanup_free char *title = NULL;
	int r;

	p->c = c;
	p->report.db = both[0]->db;
	p->report.style = (struct table_style){ .format = TABLE_TEXT, .program = "ftrac.diff", .begin_ns = both[0]->workflow->begin_ns,
		.complete = both[0]->whole && both[1]->whole };
	if (asprintf(&title, "%s \xe2\x86\x92 %s", c->trace[0], c->trace[1]) < 0)
		return failure_memory(p->report.failure);
	r = write_parts(p);
	for (int i = 0; i < PART_MAX; i++) {
		sections[i] = names[i];
		sections[i].text = p->text[i];
	}
	if (r == 0)
		r = report_write_page(&(struct page){ p->options->title ? p->options->title : title, sections, PART_MAX, "differences",
					      "To the differences", NULL },
			p->options->output, p->report.failure);
	return r;
}

int report_compare(const struct report_options *options)
{
	struct failure failure = { 0 };
	struct comparing p = { .options = options, .report = { .options = options, .failure = &failure } };
	struct diff_options diff = { .behind = options->behind, .choice = options->choice, .foreign = options->how & QUERY_FOREIGN };
	cleanup_free const char **traces = calloc((size_t)options->traces.n + 1, sizeof(*traces));
	bool whole = true;
	int status = traces ? 0 : err_status(EXIT_OWN, "out of memory");

	for (int i = 0; traces && i < options->traces.n; i++)
		traces[i] = options->traces.word[i];
	if (status == 0)
		status = diff_options_sides(&diff, traces, "wfreport --diff");
	if (status)
		return status;
	report_progress("comparing the traces");
	sides_compare(&diff, show, &p, &whole, &failure);
	report_progress(NULL);
	for (int i = 0; i < PART_MAX; i++)
		free(p.text[i]);
	status = failure_status(&failure);
	return status == 0 && options->strict && !whole ? TRACES_EXIT_STRICT : status;
}
