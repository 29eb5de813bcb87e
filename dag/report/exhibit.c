/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/failure.h"
#include "base/output.h"
#include "dag/output/html.h"
#include "dag/output/table_page.h"
#include "dag/report/report.h"
#include "dag/stat/scan.h"
#include "dag/stat/stat.h"
#include "dag/trace/compose.h"
#include "db/query.h"

/* ---- one exhibit ---- */

static void put_charts(const struct exhibit *e, FILE *out)
{
	for (const char *at = e->charts; at && *at;) {
		size_t len = strcspn(at, " ");

		fprintf(out, "<figure class=\"chart\" data-chart=\"%.*s\" data-table=\"%s\"></figure>\n",
			(int)len, at, e->id);
		at += len + strspn(at + len, " ");
	}
}

void exhibit_put_sql(struct report *report, const char *id, const char *sql)
{
	if (!sql)
		return;
	fprintf(report->out, "<details class=\"sql\"><summary>SQL: %s</summary><pre>", id);
	html_put_string(sql, report->out);
	fputs("</pre></details>\n", report->out);
}

static int put_data(struct report *report, const struct exhibit *e, struct table *table)
{
	struct table_style style = report->style;
	int r;

	style.name = e->id;
	fprintf(report->out, "<script type=\"application/json\" id=\"data-%s\">", e->id);
	r = table_put_data(table, &style, report->out);
	fputs("</script>\n", report->out);
	return r < 0 ? failure_set(report->failure, r, "cannot write the report: %s", strerror(-r))
		     : 0;
}

bool report_has_calls(const struct report *report)
{
	const char *files = query_fact_text(report->db, "files");

	return files && (strcmp(files, "kernel") == 0 || strcmp(files, "preload") == 0);
}

int exhibit_put(struct report *report, const struct exhibit *e, struct table *table, const char *sql)
{
	FILE *out = report->out;
	int r;

	fprintf(out, "<article class=\"exhibit\" id=\"%s\">\n<h3>%s</h3>\n", e->id, e->title);
	if (e->about)
		fprintf(out, "<p>%s</p>\n", e->about);
	put_charts(e, out);
	fprintf(out, "<details class=\"rows\"%s><summary>Table: %zu row%s</summary>\n",
		e->closed ? "" : " open", table_rows(table), table_rows(table) == 1 ? "" : "s");
	table_put_html(table, &report->style, out);
	fputs("</details>\n", out);
	exhibit_put_sql(report, e->id, sql);
	r = put_data(report, e, table);
	fputs("</article>\n", out);
	return r;
}

/* ---- tables of wfstat ---- */

/* One pass over all operations fills the tables of single operations. */
static int fill(struct report *report, struct stat_run *run, const struct exhibit_source *source)
{
	static const struct {
		const char *table;
		int (*fill)(struct stat_run *run, const struct stat_scan *scan);
	} scanned[] = { { "sys", stat_scan_sys }, { "pattern", stat_scan_pattern },
		{ "hist", stat_scan_hist }, { "time", stat_scan_time } };
	const struct stat_scan *scan;

	for (size_t i = 0; i < sizeof(scanned) / sizeof(scanned[0]); i++)
		if (strcmp(scanned[i].table, source->table) == 0) {
			int r = report_scan_wait(report, &scan);

			return r < 0 ? r : scanned[i].fill(run, scan);
		}
	return stat_table(run);
}

/* The command that prints the table, above its SQL. */
static void put_command(const struct exhibit_source *s, FILE *out)
{
	fprintf(out, "-- wfstat %s", s->table);
	if (s->of)
		fprintf(out, " --of %s", s->of);
	if (s->by)
		fprintf(out, " --by %s", s->by);
	if (s->sort)
		fprintf(out, " --sort %s", s->sort);
	if (s->top)
		fprintf(out, " --top %lld", (long long)s->top);
	fputc('\n', out);
}

static char *sql_of(struct report *report, const struct stat_options *options,
	const struct exhibit_source *source)
{
	char *text = NULL;
	size_t len;
	FILE *memory = open_memstream(&text, &len);

	if (memory) {
		put_command(source, memory);
		report->out_of_memory |= stat_sql(options, memory, report->failure) < 0;
		text = output_close_text(memory, &text);
	}
	report->out_of_memory |= !text;
	return text;
}

static int select_columns(struct report *report, struct table *table, const char *columns)
{
	const char *unknown;
	int len, r = table_select(table, columns, &unknown, &len);

	return r == -EINVAL ? failure_set(report->failure, r, "no column '%.*s'", len, unknown) : failure_of_memory(report->failure, r);
}

int exhibit_wfstat(struct report *report, const struct exhibit *e, const struct exhibit_source *source)
{
	const char *by[] = { source->by, NULL };
	struct stat_options options = { .table = source->table,
		.by = { by, source->by != NULL, 0 },
		.choice = report->choice,
		.of = source->of,
		.top = -1,
		.sort = source->sort };
	struct stat_run run = { .options = &options,
		.db = report->db,
		.failure = report->failure,
		.table = table_create(),
		.style = report->style };
	int r = run.table ? 0 : failure_memory(report->failure);

	options.choice.by[0] = source->by;
	if (r == 0)
		r = stat_look(&run);
	if (r == 0)
		r = fill(report, &run, source);
	if (r == 0 && source->sort)
		r = failure_of_memory(report->failure, table_sort(run.table, source->sort));
	if (r == 0) {
		cleanup_free char *sql = sql_of(report, &options, source);

		if (source->top)
			table_top(run.table, (size_t)source->top);
		if (source->columns)
			r = select_columns(report, run.table, source->columns);
		if (r == 0)
			r = exhibit_put(report, e, run.table, sql);
	}
	table_destroy(run.table);
	return r;
}

/* ---- other queries ---- */

char *exhibit_sql(struct report *report, const char *query)
{
	char *sql;

	report->out_of_memory |= compose(query, &report->choice, &sql, NULL, report->failure) < 0;
	return sql;
}

char *exhibit_graph_sql(struct report *report, const char *command)
{
	static const char *const queries[] = { "graph.processes", "graph.files", "graph.accesses" };
	char *text = NULL;
	size_t len;
	FILE *memory = open_memstream(&text, &len);

	if (memory) {
		fprintf(memory,
			"-- wfdag %s\n-- reads these, and goes through the graph that they are:\n",
			command);
		for (size_t i = 0; i < sizeof(queries) / sizeof(queries[0]); i++) {
			cleanup_free char *sql = exhibit_sql(report, queries[i]);

			fprintf(memory, "\n%s", sql ? sql : "");
		}
		text = output_close_text(memory, &text);
	}
	report->out_of_memory |= !text;
	return text;
}

int exhibit_fill(struct report *report, const char *name, struct table *table)
{
	const struct stat_options options = { .choice = report->choice, .top = -1 };
	struct stat_run run = {
		.options = &options, .db = report->db, .failure = report->failure, .table = table
	};
	int r = stat_rows(&run, name, true);

	return r == 0 && table_failed(table) ? failure_memory(report->failure) : r;
}

int exhibit_query(struct report *report, const struct exhibit *e, const char *query)
{
	struct table *table = table_create();
	cleanup_free char *sql = exhibit_sql(report, query);
	int r = table ? exhibit_fill(report, query, table) : failure_memory(report->failure);

	if (r == 0) {
		table_top(table, EXHIBIT_ROWS);
		r = exhibit_put(report, e, table, sql);
	}
	table_destroy(table);
	return r;
}
