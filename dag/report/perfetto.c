/* SPDX-License-Identifier: MIT */

/* The time line for other viewers (dag/export/perfetto.h), from the report's tables. */

#include <errno.h>
#include <unistd.h>

#include "base/err.h"
#include "base/output.h"
#include "base/place.h"
#include "dag/export/perfetto.h"
#include "dag/report/report.h"
#include "dag/stat/scan.h"
#include "dag/stat/stat.h"
#include "db/query.h"

#define CURVES_MAX 2

/* ---- counters ---- */

struct diagram {
	const char *name;
	const char *columns[CURVES_MAX + 1];
	double per;
};

static void put_point(struct perfetto *perfetto, const struct table *table, size_t row, const struct diagram *diagram)
{
	const char *names[CURVES_MAX];
	double values[CURVES_MAX], from_s = 0, value;
	size_t n = 0;

	table_get_real(table, row, table_find(table, "from_s"), &from_s);
	for (const char *const *column = diagram->columns; *column; column++)
		if (table_get_real(table, row, table_find(table, *column), &value)) {
			names[n] = *column;
			values[n++] = value / diagram->per;
		}
	if (n)
		perfetto_counter(perfetto, from_s, diagram->name, n, names, values);
}

static int put_counters(struct report *r, struct perfetto *perfetto)
{
	const struct diagram diagrams[] = {
		{ "bytes per second", { "read_bytes", "written_bytes" }, (double)r->choice.step_ns / 1e9 },
		{ "resident memory", { "rss_bytes" }, 1 },
		{ "running processes", { "processes" }, 1 },
	};
	const struct stat_options options = { .table = "time", .choice = r->choice, .top = -1 };
	struct stat_run run = { .options = &options, .db = r->db, .table = table_create(),
		.has_ops = r->has_ops };
	const struct stat_scan *scan = report_scan_wait(r);
	int status = !run.table ? report_out_of_memory() : scan ? stat_scan_time(&run, scan) : EXIT_OWN;

	if (status == 0 && table_failed(run.table))
		status = report_out_of_memory();
	for (size_t row = 0; status == 0 && row < table_rows(run.table); row++)
		for (size_t i = 0; i < sizeof(diagrams) / sizeof(diagrams[0]); i++)
			put_point(perfetto, run.table, row, &diagrams[i]);
	table_destroy(run.table);
	return status;
}

/* ---- operations ---- */

enum column { PROCESS, TID, NAME, PATH, START, LATENCY, RESULT, BYTES };

static struct perfetto_text text_of(const struct query *query, int column)
{
	struct perfetto_text text = { NULL, 0 };

	if (query_type(query, column) != QUERY_NULL)
		text.bytes = query_bytes(query, column, &text.len);
	return text;
}

static void put_operation(struct perfetto *perfetto, const struct query *query)
{
	int64_t result = query_int(query, RESULT), bytes = query_int(query, BYTES);

	perfetto_operation(perfetto, &(struct perfetto_operation){
		.process = query_int(query, PROCESS), .tid = query_int(query, TID),
		.name = text_of(query, NAME), .path = text_of(query, PATH),
		.start_ns = query_int(query, START), .latency_ns = query_int(query, LATENCY),
		.result = query_type(query, RESULT) == QUERY_NULL ? NULL : &result,
		.moved_bytes = query_type(query, BYTES) == QUERY_NULL ? NULL : &bytes });
}

/* {step} of the query is how long they took at least. */
static int put_operations(struct report *r, struct perfetto *perfetto)
{
	struct choice choice = r->choice;
	const struct stat_options options = { .choice = choice, .top = -1 };
	struct stat_run run = { .options = &options, .db = r->db };
	struct query *query = NULL;
	int status, next = 1;

	choice.step_ns = r->options->above_ns;
	status = stat_query(&run, "report.operations", "process tid name path start_ns latency_ns result bytes", &choice,
		&query, NULL);
	while (status == 0 && (next = stat_next(&run, query)) > 0)
		put_operation(perfetto, query);
	query_end(query);
	return next < 0 ? EXIT_OWN : status;
}

/* ---- the whole ---- */

static int put_all(struct report *r, FILE *out)
{
	struct perfetto *perfetto;
	int status;

	if (perfetto_begin(r->workflow, r->shape, r->whole, out, &perfetto) < 0)
		return report_out_of_memory();
	status = put_counters(r, perfetto);
	if (status == 0 && r->has_ops)
		status = put_operations(r, perfetto);
	return perfetto_end(perfetto) < 0 && status == 0 ? report_out_of_memory() : status;
}

int report_perfetto(struct report *r)
{
	const char *file = r->options->perfetto;
	struct output output;
	int error = output_open(file, &output), status = 0;
	FILE *out;

	report_progress("writing the time line");
	if (error == 0) {
		out = output_stream(output.fd);
		status = out ? put_all(r, out) : 0;
		error = !out || ferror(out) ? -EIO : 0;
		if (out && fclose(out) != 0)
			error = -errno;
		error = output_close(&output, error < 0 ? error : status ? -ECANCELED : 0);
	}
	if (status == 0 && error < 0)
		status = err_status(EXIT_OWN, "cannot write '%s': %s", file, place_explain(error));
	return status;
}
