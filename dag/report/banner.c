/* SPDX-License-Identifier: MIT */

/* The warnings about what the trace lacks, then the run in a few facts. */

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/failure.h"
#include "base/units.h"
#include "dag/answer/answer.h"
#include "dag/graph/critical.h"
#include "dag/output/html.h"
#include "dag/output/table_page.h"
#include "dag/report/report.h"
#include "dag/stat/stat.h"
#include "dag/trace/traces.h"
#include "db/event.h"
#include "db/query.h"

static void warn(FILE *out, const char *text)
{
	fputs("<li>", out);
	html_put_string(text, out);
	fputs("</li>\n", out);
}

static void warn_of_end(struct report *r)
{
	const char *stopped = query_fact_text(r->db, "recording_error");
	cleanup_free char *text = NULL;

	if (stopped && asprintf(&text, "The recording stopped before the run did: %s. Numbers are too "
				       "small.", stopped) >= 0)
		warn(r->out, text);
	else if (!stopped && !query_fact(r->db, "complete", 0))
		warn(r->out,
			"The trace is incomplete: it was still being written, or its writer was "
			"killed. Numbers are those so far.");
}

static void warn_of_loss(struct report *r, const char *fact, const char *format)
{
	int64_t n = query_fact(r->db, fact, 0);
	cleanup_free char *text = NULL;

	if (n > 0 && asprintf(&text, format, (long long)n) >= 0)
		warn(r->out, text);
}

/* What was not recorded, because of options or of what the machine allowed. */
static void warn_of_cover(struct report *r)
{
	const char *fidelity = query_fact_text(r->db, "fidelity");
	cleanup_free char *text = NULL;

	if (!fidelity)
		warn(r->out, "Files were not traced: there is nothing about reads and writes.");
	else if (strcmp(fidelity, event_fidelity_names[FIDELITY_CALL]) == 0)
		warn(r->out, "Fidelity call: reads and writes are those of the programs' system calls; accesses to "
			     "mapped files are not seen.");
	else if (strcmp(fidelity, event_fidelity_names[FIDELITY_EXACT]) != 0 &&
		 asprintf(&text, "Fidelity %s: not all reads and writes are in the trace as the programs "
				 "made them.", fidelity) >= 0)
		warn(r->out, text);
	if (fidelity && !r->has_ops)
		warn(r->out,
			"Single operations were not recorded: latencies, sizes and rates over time "
			"are unknown.");
}

static void warn_of_share(struct report *r)
{
	bool calls = report_has_calls(r);
	double all = (double)query_fact(r->db, "bytes_kernel", 0),
	       traced = (double)(calls ? query_fact(r->db, "bytes_recorded", 0) : traces_mount_bytes(r->db));
	char part[32], whole[32];
	cleanup_free char *text = NULL;

	if (!query_fact_text(r->db, "bytes_kernel") && query_fact_text(r->db, "fidelity") && !calls)
		warn(r->out, "Coverage: how much the processes read and wrote outside of the mount is unknown.");
	if (all <= 0 || traced >= 0.95 * all)
		return;
	units_bytes(traced, part, sizeof(part));
	units_bytes(all, whole, sizeof(whole));
	if (asprintf(&text, "Coverage: of %s that the processes read and wrote anywhere, pipes and terminals "
			    "included, %s (%.0f %%) %s.",
		    whole, part, 100 * traced / all, calls ? "are in recorded calls" : "went through the mount") >= 0)
		warn(r->out, text);
}

static void put_warnings(struct report *r)
{
	fputs("<ul class=\"warnings\" role=\"status\">\n", r->out);
	if (r->whole)
		fputs("<li class=\"fine\">The trace is complete: nothing was lost.</li>\n", r->out);
	warn_of_end(r);
	warn_of_loss(r, "ops_lost", "%lld operations were lost. Numbers are too small.");
	warn_of_loss(r, "process_events_lost", "The kernel dropped process events %lld times. Processes "
					       "may be missing.");
	warn_of_loss(r, "notes_lost",
		"%lld notes of make could not be read. Dependencies that it declares "
		"may be missing.");
	warn_of_loss(r, "ops_excluded",
		"%lld operations were left out by options when the trace was "
		"recorded.");
	warn_of_loss(r, "mixed_writes", "Data of %lld files may be wrong: they were written by write(2) and by many mapped "
					"pages at once. See Mappings in ftrac(1).");
	warn_of_cover(r);
	warn_of_share(r);
	fputs("</ul>\n", r->out);
}

/* ---- facts ---- */

static void put_critical(struct report *r)
{
	const struct critical *c = r->critical;
	int64_t ns = 0;
	char text[32];

	for (int32_t i = 0; i < c->n_steps; i++)
		ns += c->steps[i].end_ns - c->steps[i].begin_ns;
	units_time((double)ns, text, sizeof(text));
	fprintf(r->out, "<p id=\"critical-length\">The critical path is %s long, in %d steps: what the end of "
			"the run has waited for.</p>\n", text, c->n_steps);
}

/* As the summary at the end of a run. */
/* A bar with the parts of a line "running 96 %, files 3 %"; names stand in parts that have room for them. */
static void put_parts(const char *line, FILE *out)
{
	double from = 0, share;
	int n = 0, opacity = 70;

	fputs("<dd class=\"bar\"><svg viewBox=\"0 0 600 26\" role=\"img\" aria-label=\"", out);
	html_put_string(line, out);
	fputs("\">", out);
	for (char name[32]; sscanf(line, "%31[^0-9]%lf %%%n", name, &share, &n) == 2; line += n + strspn(line + n, ", ")) {
		size_t len = strlen(name);

		fprintf(out, "<rect x=\"%.1f\" y=\"1\" width=\"%.1f\" height=\"24\" fill=\"currentColor\" fill-opacity=\".%d\" "
			     "stroke=\"currentColor\"><title>%s%.0f %%</title></rect>", 6 * from, 6 * share, opacity, name, share);
		if (6 * share > 8.0 * (double)(len + 4))
			fprintf(out, "<text x=\"%.1f\" y=\"17\"%s>%s%.0f %%</text>", 6 * from + 6, opacity > 50 ? " class=\"on\"" : "", name,
				share);
		from += share;
		opacity = opacity > 40 ? 30 : opacity > 20 ? 15 : 10;
	}
	fputs("</svg></dd>\n", out);
}

static int put_answer(struct report *r)
{
	cleanup_free char *text = NULL;
	size_t len;
	FILE *lines = open_memstream(&text, &len);
	int error = lines ? answer_lines(r->db, r->workflow, r->critical, r->failure, lines) : -ENOMEM;

	if (lines && fclose(lines) != 0 && error == 0)
		error = -ENOMEM;
	if (error < 0)
		return error == -ENOMEM ? failure_memory(r->failure) : error;
	fputs("<dl id=\"answer\">\n", r->out);
	for (char *line = text, *end; (end = strchr(line, '\n')); line = end + 1) {
		char *tab = strchr(line, '\t');

		*end = *tab = '\0';
		if (*line) {
			fputs("<dt>", r->out);
			html_put_string(line, r->out);
			fputs("</dt>", r->out);
		}
		fputs("<dd>", r->out);
		html_put_string(tab + 1, r->out);
		fputs("</dd>\n", r->out);
		if (strcmp(line, "critical path") == 0)
			put_parts(tab + 1, r->out);
	}
	fputs("</dl>\n", r->out);
	return 0;
}

static int put_overview(struct report *r)
{
	const struct stat_options options = { .table = "overview", .top = -1 };
	struct stat_run run = {
		.options = &options, .db = r->db, .failure = r->failure, .table = table_create()
	};
	struct table_style style = r->style;
	int error = run.table ? stat_table(&run) : failure_memory(r->failure);

	style.name = "overview";
	if (error == 0) {
		error = put_answer(r);
	}
	if (error == 0) {
		table_put_facts(run.table, &style, r->out);
		put_critical(r);
		fputs("<script type=\"application/json\" id=\"data-overview\">", r->out);
		error = failure_of_memory(r->failure, table_put_data(run.table, &style, r->out));
		fputs("</script>\n", r->out);
	}
	table_destroy(run.table);
	return error;
}

static void put_sql(struct report *r)
{
	cleanup_free char *sql = exhibit_sql(r, "overview");

	fputs("<details class=\"sql\"><summary>SQL: overview</summary><pre>", r->out);
	html_put_string(sql ? sql : "", r->out);
	fputs("</pre></details>\n", r->out);
}

int report_banner(struct report *r)
{
	int error;

	put_warnings(r);
	fputs("<article class=\"exhibit\" id=\"overview\">\n", r->out);
	error = put_overview(r);
	put_sql(r);
	fputs("</article>\n", r->out);
	return error;
}
