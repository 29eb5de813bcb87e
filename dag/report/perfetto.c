/* SPDX-License-Identifier: MIT */

/* The time line for other viewers (dag/export/perfetto.h), made from the tables of the report. */

#include <errno.h>
#include <unistd.h>

#include "base/failure.h"
#include "base/output.h"
#include "base/place.h"
#include "dag/export/perfetto.h"
#include "dag/report/report.h"
#include "dag/stat/scan.h"
#include "dag/stat/stat.h"
#include "dag/trace/traces.h"
#include "db/query.h"

#define CURVES_MAX 2

/* ---- clocks ---- */

static struct perfetto_text text_of(const struct query *query, int column)
{
	struct perfetto_text text = { NULL, 0 };

	if (query_type(query, column) != QUERY_NULL)
		text.bytes = query_bytes(query, column, &text.len);
	return text;
}

enum clock_column { HOST, T, REALTIME, BOOT, OFFSET, UNCERTAINTY };

static void put_clock(struct perfetto *perfetto, const struct query *query)
{
	int64_t boot = query_int(query, BOOT), offset = query_int(query, OFFSET), uncertainty = query_int(query, UNCERTAINTY);

	perfetto_clock(perfetto, &(struct perfetto_clock){ .host = text_of(query, HOST).bytes, .t_ns = query_int(query, T),
		.realtime_ns = query_int(query, REALTIME), .boot_ns = query_type(query, BOOT) == QUERY_NULL ? NULL : &boot,
		.offset_ns = query_type(query, OFFSET) == QUERY_NULL ? NULL : &offset,
		.uncertainty_ns = query_type(query, UNCERTAINTY) == QUERY_NULL ? NULL : &uncertainty });
}

static int put_clocks(struct report *r, struct perfetto *perfetto)
{
	struct query *query;
	int error = traces_query(r->db, "report.clocks", "host t_ns realtime_ns boot_ns offset_ns uncertainty_ns", &r->choice, &query, NULL, r->failure);

	while (error == 0 && (error = traces_next(r->db, query, r->failure)) > 0) {
		put_clock(perfetto, query);
		error = 0;
	}
	query_end(query);
	return error;
}

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
		{ "working processes", { "working" }, 1 },
	};
	const struct stat_options options = { .table = "time", .choice = r->choice, .top = -1 };
	struct stat_run run = { .options = &options,
		.db = r->db,
		.failure = r->failure,
		.table = table_create(),
		.has_ops = r->has_ops };
	const struct stat_scan *scan;
	int error = run.table ? report_scan_wait(r, &scan) : failure_memory(r->failure);

	if (error == 0)
		error = stat_scan_time(&run, scan);
	if (error == 0 && table_failed(run.table))
		error = failure_memory(r->failure);
	for (size_t row = 0; error == 0 && row < table_rows(run.table); row++)
		for (size_t i = 0; i < sizeof(diagrams) / sizeof(diagrams[0]); i++)
			put_point(perfetto, run.table, row, &diagrams[i]);
	table_destroy(run.table);
	return error;
}

/* ---- operations ---- */

enum column { PROCESS, TID, NAME, PATH, START, LATENCY, RESULT, BYTES };

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

/* {step} of the query is the least latency. */
static int put_operations(struct report *r, struct perfetto *perfetto)
{
	struct choice choice = r->choice;
	struct query *query;
	int error;

	choice.step_ns = r->options->above_ns;
	error = traces_query(r->db, "report.operations",
		"process tid name path start_ns latency_ns result bytes", &choice, &query, NULL,
		r->failure);
	while (error == 0 && (error = traces_next(r->db, query, r->failure)) > 0) {
		put_operation(perfetto, query);
		error = 0;
	}
	query_end(query);
	return error;
}

/* ---- the whole ---- */

static int put_all(struct report *r, FILE *out)
{
	struct perfetto *perfetto;
	int error;

	if (perfetto_begin(r->workflow, r->shape, r->whole, out, &perfetto) < 0)
		return failure_memory(r->failure);
	error = put_clocks(r, perfetto);
	if (error == 0)
		error = put_counters(r, perfetto);
	if (error == 0 && r->has_ops)
		error = put_operations(r, perfetto);
	return perfetto_end(perfetto) < 0 && error == 0 ? failure_memory(r->failure) : error;
}

int report_perfetto(struct report *r)
{
	const char *file = r->options->perfetto;
	struct output output;
	FILE *out;
	int error = output_open(file, &output), put = 0, written = 0;

	report_progress("writing the time line");
	if (error == 0) {
		out = output_stream(output.fd);
		errno = 0;
		put = out ? put_all(r, out) : 0;
		written = !out || ferror(out) ? errno ? -errno : -EIO : 0;
		if (out && fclose(out) != 0 && written == 0)
			written = -errno;
		error = output_close(&output, written < 0 ? written : put);
	}
	if (error == 0 || (put < 0 && written == 0))
		return put;
	return failure_set(r->failure, error, "cannot write '%s': %s", file, place_explain(error));
}
