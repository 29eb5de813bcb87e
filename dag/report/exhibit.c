/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "dag/output/html.h"
#include "dag/output/table_page.h"
#include "dag/report/report.h"
#include "dag/stat/scan.h"
#include "dag/stat/stat.h"
#include "dag/trace/compose.h"
#include "db/query.h"

int report_out_of_memory(void)
{
	return err_status(EXIT_OWN, "out of memory");
}

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
	return r < 0 ? err_status(EXIT_OWN, "cannot write the report: %s", strerror(-r)) : 0;
}

int exhibit_put(struct report *report, const struct exhibit *e, struct table *table, const char *sql)
{
	FILE *out = report->out;
	int status;

	fprintf(out, "<article class=\"exhibit\" id=\"%s\">\n<h3>%s</h3>\n", e->id, e->title);
	if (e->about)
		fprintf(out, "<p>%s</p>\n", e->about);
	put_charts(e, out);
	fprintf(out, "<details class=\"rows\"%s><summary>Table: %zu row%s</summary>\n",
		e->closed ? "" : " open", table_rows(table), table_rows(table) == 1 ? "" : "s");
	table_put_html(table, &report->style, out);
	fputs("</details>\n", out);
	exhibit_put_sql(report, e->id, sql);
	status = put_data(report, e, table);
	fputs("</article>\n", out);
	return status;
}

/* ---- tables of wfstat ---- */

/* Those that are made of single operations are filled by the one pass over them. */
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
			scan = report_scan_wait(report);
			return scan ? scanned[i].fill(run, scan) : EXIT_OWN;
		}
	return stat_table(run);
}

/* What an exhibit's note and its SQL come from. */
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

/* What went into memory, which is in *text only then; NULL: not all of it. */
static char *written(FILE *memory, char **text)
{
	if (fclose(memory) == 0)
		return *text;
	free(*text);
	return NULL;
}

static char *sql_of(const struct stat_options *options, const struct exhibit_source *source)
{
	char *text = NULL;
	size_t len;
	FILE *memory = open_memstream(&text, &len);
	bool failed;

	if (!memory)
		return NULL;
	put_command(source, memory);
	failed = stat_sql(options, memory) != 0;
	text = written(memory, &text);
	if (failed) {
		free(text);
		text = NULL;
	}
	return text;
}

int exhibit_wfstat(struct report *report, const struct exhibit *e, const struct exhibit_source *source)
{
	struct stat_options options = { .table = source->table, .choice = report->choice,
		.of = source->of, .top = -1, .sort = source->sort };
	struct stat_run run = { .options = &options, .db = report->db, .table = table_create(),
		.style = report->style };
	char *sql = NULL;
	int status;

	options.choice.by[0] = source->by;
	status = source->by ? words_add(&options.by, source->by) : 0;
	if (status == 0)
		status = run.table ? stat_look(&run) : report_out_of_memory();
	if (status == 0)
		status = fill(report, &run, source);
	if (status == 0 && source->sort && table_sort(run.table, source->sort) < 0)
		status = report_out_of_memory();
	if (status == 0 && source->top)
		table_top(run.table, (size_t)source->top);
	if (status == 0) {
		sql = sql_of(&options, source);
		report->out_of_memory |= !sql;
	}
	if (status == 0)
		status = exhibit_put(report, e, run.table, sql);
	free(sql);
	words_free(&options.by);
	table_destroy(run.table);
	return status;
}

/* ---- queries of our own ---- */

char *exhibit_sql(struct report *report, const char *query)
{
	struct composed composed;

	if (compose(query, &report->choice, &composed) == 0)
		return composed.sql;
	report->out_of_memory = true;
	return NULL;
}

char *exhibit_graph_sql(struct report *report, const char *command)
{
	static const char *const queries[] = { "graph.processes", "graph.files", "graph.accesses" };
	char *text = NULL;
	size_t len;
	FILE *memory = open_memstream(&text, &len);

	report->out_of_memory |= !memory;
	if (!memory)
		return NULL;
	fprintf(memory, "-- wfdag %s\n-- reads these, and goes through the graph that they are:\n", command);
	for (size_t i = 0; i < sizeof(queries) / sizeof(queries[0]); i++) {
		char *sql = exhibit_sql(report, queries[i]);

		fprintf(memory, "\n%s", sql ? sql : "");
		free(sql);
	}
	text = written(memory, &text);
	report->out_of_memory |= !text;
	return text;
}

int exhibit_fill(struct report *report, const char *name, struct table *table)
{
	const struct stat_options options = { .choice = report->choice, .top = -1 };
	struct stat_run run = { .options = &options, .db = report->db, .table = table };
	struct query *query = NULL;
	int status = stat_query(&run, name, NULL, &report->choice, &query, NULL), r = 1;

	if (status == 0)
		stat_columns(table, query, 0, query_columns(query) - 1);
	while (status == 0 && (r = stat_next(&run, query)) > 0)
		stat_put(table, query, 0, query_columns(query) - 1);
	query_end(query);
	if (status == 0 && table_failed(table))
		status = report_out_of_memory();
	return r < 0 ? EXIT_OWN : status;
}

int exhibit_query(struct report *report, const struct exhibit *e, const char *query)
{
	struct table *table = table_create();
	char *sql = exhibit_sql(report, query);
	int status = table ? exhibit_fill(report, query, table) : report_out_of_memory();

	if (status == 0) {
		table_top(table, EXHIBIT_ROWS);
		status = exhibit_put(report, e, table, sql);
	}
	free(sql);
	table_destroy(table);
	return status;
}
