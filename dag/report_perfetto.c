/* SPDX-License-Identifier: MIT */

/*
 * The time line for other viewers: Chrome's trace events as JSON, which Perfetto, chrome://tracing and
 * speedscope read.  pid is the id of a process in the trace, since numbers of processes come again; tid is that
 * of the thread.  Times are microseconds since the begin of the run.
 *
 * Slices of one thread must nest: a process is a slice of its first thread, and its long operations lie in it;
 * one that overlaps another, or its process, is asynchronous ("b", "e").
 */

#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/output.h"
#include "base/place.h"
#include "base/saturate.h"
#include "base/utf8.h"
#include "base/version.h"
#include "db/query.h"
#include "dag/critical.h"
#include "dag/json_memory.h"
#include "dag/report.h"
#include "dag/shape.h"
#include "dag/stat.h"
#include "dag/stat_scan.h"

#define RUN_PID 0 /* what counters belong to */

struct track {
	int64_t begin_ns, end_ns, pid, id;
	int64_t busy_ns; /* until then there is an operation in it */
};

struct events {
	struct report *report;
	FILE *out;
	struct track *tracks; /* of processes, as in the graph: in the order of their ids */
	int32_t n;
	int64_t flows, async;
	bool failed; /* out of memory */
};

static json_t *text(const char *bytes, size_t len)
{
	json_t *json = json_stringn(bytes, len);
	size_t fit_len;
	char *fit = json ? NULL : utf8_replace(bytes, len, &fit_len);

	if (fit)
		json = json_stringn(fit, fit_len);
	free(fit);
	return json;
}

static json_t *string(const char *bytes)
{
	return text(bytes ? bytes : "?", bytes ? strlen(bytes) : 1);
}

/* Takes the event. */
static void put(struct events *e, json_t *event)
{
	fputs(",\n", e->out);
	if (!event || json_dumpf(event, e->out, JSON_COMPACT | JSON_REAL_PRECISION(15)) != 0)
		e->failed = true;
	json_decref(event);
}

static double us(const struct events *e, int64_t t_ns)
{
	return (double)saturate_subtract(t_ns, e->report->workflow->begin_ns) / 1e3;
}

/* ---- processes ---- */

static void put_name(struct events *e, const char *what, const struct track *t, json_t *name)
{
	put(e, json_pack("{s:s,s:s,s:I,s:I,s:{s:o}}", "ph", "M", "name", what, "pid", (json_int_t)t->id, "tid",
		       (json_int_t)t->pid, "args", "name", name));
}

static void put_process(struct events *e, int32_t i)
{
	const struct task *task = workflow_task(e->report->workflow, i);
	const struct track *t = &e->tracks[i];
	json_t *args = json_pack("{s:I,s:o}", "os_pid", (json_int_t)t->pid, "command", string(task->command));

	if (task->exit_code != WORKFLOW_UNKNOWN)
		json_object_set_new(args, "exit_code", json_integer(task->exit_code));
	if (task->exit_signal != WORKFLOW_UNKNOWN)
		json_object_set_new(args, "exit_signal", json_integer(task->exit_signal));
	if (task->phase)
		json_object_set_new(args, "phase", string(task->phase));
	put_name(e, "process_name", t, string(task->program));
	put_name(e, "thread_name", t, string(task->program));
	put(e, json_pack("{s:s,s:s,s:o,s:I,s:I,s:f,s:f,s:o}", "ph", "X", "cat", "process", "name",
		       string(task->program), "pid", (json_int_t)t->id, "tid", (json_int_t)t->pid, "ts",
		       us(e, t->begin_ns), "dur", (double)(t->end_ns - t->begin_ns) / 1e3, "args", args));
}

static int list_tracks(struct events *e)
{
	const struct workflow *w = e->report->workflow;

	e->n = w->graph->n_processes;
	e->tracks = calloc((size_t)e->n + 1, sizeof(*e->tracks));
	if (!e->tracks)
		return report_out_of_memory();
	for (int32_t i = 0; i < e->n; i++) {
		const struct task *task = workflow_task(w, i);

		e->tracks[i] = (struct track){ .begin_ns = critical_begin(w, i),
			.end_ns = critical_end(w, i), .id = w->graph->processes[i].id,
			.pid = task->pid == WORKFLOW_UNKNOWN ? 0 : task->pid };
		if (task->chosen)
			put_process(e, i);
	}
	return 0;
}

static int compare_tracks(const void *key, const void *track)
{
	int64_t id = *(const int64_t *)key;

	return (id > ((const struct track *)track)->id) - (id < ((const struct track *)track)->id);
}

static struct track *find_track(const struct events *e, int64_t id)
{
	return bsearch(&id, e->tracks, (size_t)e->n, sizeof(*e->tracks), compare_tracks);
}

/* ---- operations ---- */

enum column { PROCESS, TID, NAME, PATH, START, LATENCY, RESULT, BYTES };

static json_t *arguments(const struct query *query)
{
	json_t *args = json_object();
	size_t len;
	const char *path = query_bytes(query, PATH, &len);

	if (query_type(query, RESULT) != QUERY_NULL)
		json_object_set_new(args, "result", json_integer(query_int(query, RESULT)));
	if (query_type(query, PATH) != QUERY_NULL)
		json_object_set_new(args, "path", text(path, len));
	if (query_type(query, BYTES) != QUERY_NULL)
		json_object_set_new(args, "bytes", json_integer(query_int(query, BYTES)));
	return args;
}

static void put_operation(struct events *e, const struct query *query)
{
	struct track *t = find_track(e, query_int(query, PROCESS));
	int64_t start = query_int(query, START), end = start + query_int(query, LATENCY);
	int64_t tid = query_int(query, TID);
	size_t len;
	const char *name = query_bytes(query, NAME, &len);

	if (!t || query_type(query, NAME) == QUERY_NULL)
		return;
	if (tid == t->pid && start >= t->busy_ns && start >= t->begin_ns && end <= t->end_ns) {
		t->busy_ns = end;
		put(e, json_pack("{s:s,s:s,s:o,s:I,s:I,s:f,s:f,s:o}", "ph", "X", "cat", "io", "name",
			       text(name, len), "pid", (json_int_t)t->id, "tid", (json_int_t)tid, "ts",
			       us(e, start), "dur", (double)(end - start) / 1e3, "args", arguments(query)));
		return;
	}
	e->async++;
	put(e, json_pack("{s:s,s:s,s:o,s:I,s:I,s:I,s:f,s:o}", "ph", "b", "cat", "io", "name", text(name, len),
		       "id", (json_int_t)e->async, "pid", (json_int_t)t->id, "tid", (json_int_t)tid, "ts",
		       us(e, start), "args", arguments(query)));
	put(e, json_pack("{s:s,s:s,s:o,s:I,s:I,s:I,s:f}", "ph", "e", "cat", "io", "name", text(name, len), "id",
		       (json_int_t)e->async, "pid", (json_int_t)t->id, "tid", (json_int_t)tid, "ts", us(e, end)));
}

/* {step} of the query is how long they took at least. */
static int put_operations(struct events *e)
{
	struct report *r = e->report;
	struct choice choice = r->choice;
	const struct stat_options options = { .choice = choice, .top = -1 };
	struct stat_run run = { .options = &options, .db = r->db };
	struct query *query = NULL;
	int status, next = 1;

	choice.step_ns = r->options->above_ns;
	status = stat_query(&run, "report.operations", &choice, &query, NULL);
	while (status == 0 && (next = stat_next(&run, query)) > 0)
		put_operation(e, query);
	query_end(query);
	return next < 0 ? EXIT_OWN : status;
}

/* ---- data ---- */

/* A moment of a process. */
static double moment(const struct events *e, const struct track *t, int64_t ns)
{
	return us(e, ns < t->begin_ns ? t->begin_ns : ns > t->end_ns ? t->end_ns : ns);
}

static void put_flow(struct events *e, const struct shape_edge *from, const struct shape_edge *to)
{
	const struct shape *shape = e->report->shape;
	const struct track *writer = &e->tracks[shape->nodes[from->from].of],
			   *reader = &e->tracks[shape->nodes[to->to].of];
	double at = moment(e, writer, from->time_ns), later = moment(e, reader, to->time_ns);

	if (writer == reader || from->time_ns > to->time_ns || at > later)
		return;
	e->flows++;
	put(e, json_pack("{s:s,s:s,s:o,s:I,s:I,s:I,s:f}", "ph", "s", "cat", "data", "name",
		       string(shape_path(shape, from->to)), "id", (json_int_t)e->flows, "pid",
		       (json_int_t)writer->id, "tid", (json_int_t)writer->pid, "ts", at));
	put(e, json_pack("{s:s,s:s,s:s,s:o,s:I,s:I,s:I,s:f}", "ph", "f", "bp", "e", "cat", "data", "name",
		       string(shape_path(shape, from->to)), "id", (json_int_t)e->flows, "pid",
		       (json_int_t)reader->id, "tid", (json_int_t)reader->pid, "ts", later));
}

/* From each who wrote a file to each who began to read it later. */
static int put_flows(struct events *e)
{
	const struct shape *shape = e->report->shape;
	int32_t *head = calloc((size_t)shape->n_nodes + 1, sizeof(*head)); /* edges, from 1 */
	int32_t *next = calloc((size_t)shape->n_edges + 1, sizeof(*next));

	for (int32_t i = 0; head && next && i < shape->n_edges; i++) {
		const struct shape_edge *edge = &shape->edges[i];

		if (shape_is_flow(edge) && shape->nodes[edge->to].kind == NODE_FILE &&
			shape->nodes[edge->from].kind == NODE_PROCESS) {
			next[i + 1] = head[edge->to];
			head[edge->to] = i + 1;
		}
	}
	for (int32_t i = 0; head && next && i < shape->n_edges; i++) {
		const struct shape_edge *edge = &shape->edges[i];

		if (shape_is_flow(edge) && shape->nodes[edge->from].kind == NODE_FILE &&
			shape->nodes[edge->to].kind == NODE_PROCESS)
			for (int32_t write = head[edge->from]; write; write = next[write])
				put_flow(e, &shape->edges[write - 1], edge);
	}
	free(head);
	free(next);
	return head && next ? 0 : report_out_of_memory();
}

/* ---- counters ---- */

static void put_counter(struct events *e, const struct table *table, size_t row, const char *name,
	const char *const *columns, double per)
{
	json_t *args = json_object();
	double from_s = 0, value;

	table_get_real(table, row, table_find(table, "from_s"), &from_s);
	for (; *columns; columns++)
		if (table_get_real(table, row, table_find(table, *columns), &value))
			json_object_set_new(args, *columns, json_real(value / per));
	if (json_object_size(args) == 0) {
		json_decref(args);
		return;
	}
	put(e, json_pack("{s:s,s:s,s:I,s:f,s:o}", "ph", "C", "name", name, "pid", (json_int_t)RUN_PID, "ts",
		       from_s * 1e6, "args", args));
}

static int put_counters(struct events *e)
{
	static const char *const data[] = { "read_bytes", "written_bytes", NULL },
			  *const memory[] = { "rss_bytes", NULL }, *const processes[] = { "processes", NULL };
	struct report *r = e->report;
	const struct stat_options options = { .table = "time", .choice = r->choice, .top = -1 };
	struct stat_run run = { .options = &options, .db = r->db, .table = table_create(),
		.has_ops = r->has_ops };
	const struct stat_scan *scan = report_scan_wait(r);
	int status = !run.table ? report_out_of_memory() : scan ? stat_scan_time(&run, scan) : EXIT_OWN;

	if (status == 0 && table_failed(run.table))
		status = report_out_of_memory();
	if (status == 0)
		put_name(e, "process_name", &(struct track){ .id = RUN_PID }, string("run"));
	for (size_t row = 0; status == 0 && row < table_rows(run.table); row++) {
		put_counter(e, run.table, row, "bytes per second", data, (double)r->choice.step_ns / 1e9);
		put_counter(e, run.table, row, "resident memory", memory, 1);
		put_counter(e, run.table, row, "running processes", processes, 1);
	}
	table_destroy(run.table);
	return status;
}

/* ---- the whole ---- */

static int put_all(struct events *e)
{
	int status;

	fputs("{\"displayTimeUnit\":\"ms\",\"otherData\":{\"tool\":\"ftrac " FTRAC_VERSION "\",\"complete\":", e->out);
	fprintf(e->out, "\"%s\"},\"traceEvents\":[\n", e->report->whole ? "yes" : "no");
	fputs("{\"ph\":\"M\",\"name\":\"process_sort_index\",\"pid\":0,\"args\":{\"sort_index\":-1}}", e->out);
	status = list_tracks(e);
	if (status == 0)
		status = put_counters(e);
	if (status == 0)
		status = put_flows(e);
	if (status == 0 && e->report->has_ops)
		status = put_operations(e);
	fputs("\n]}\n", e->out);
	return status == 0 && (e->failed || json_memory_failed()) ? report_out_of_memory() : status;
}

int report_perfetto(struct report *r)
{
	const char *file = r->options->perfetto;
	struct events e = { .report = r };
	struct output output;
	int error = output_open(file, &output), status = 0;

	report_progress("writing the time line");
	if (error == 0) {
		e.out = output_stream(output.fd);
		status = e.out ? put_all(&e) : 0;
		error = !e.out || ferror(e.out) ? -EIO : 0;
		if (e.out && fclose(e.out) != 0)
			error = -errno;
		error = output_close(&output, error < 0 ? error : status ? -ECANCELED : 0);
	}
	free(e.tracks);
	if (status == 0 && error < 0)
		status = err_status(EXIT_OWN, "cannot write '%s': %s", file, place_explain(error));
	return status;
}
