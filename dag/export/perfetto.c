/* SPDX-License-Identifier: MIT */
#include "dag/export/perfetto.h"

#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <uthash.h>

#include "base/arena.h"
#include "base/cleanup.h"
#include "base/saturate.h"
#include "base/vector.h"
#include "base/version.h"
#include "dag/graph/critical.h"
#include "dag/output/json.h"
#include "dag/shape/shape.h"

#define RUN_PID 0 /* the process that has the counters in the viewer */

struct track {
	int64_t begin_ns, end_ns, pid, id;
	const char *program;
};

/* A thread with operations. */
struct thread {
	struct
	{
		int64_t process, tid;
	} key;
	int64_t busy_ns; /* the end of its last operation that is a slice */
	UT_hash_handle hh;
};

struct perfetto {
	const struct workflow *workflow;
	const struct shape *shape;
	FILE *out;
	struct track *tracks; /* of processes, by their index in the graph, which is the order of their ids */
	int32_t n;
	const char **hosts; /* of all processes, in the order of their first ones; NULL: one, or not known */
	int n_hosts;
	struct thread *threads; /* by their keys */
	struct arena memory;	/* of threads */
	int64_t flows, async;
	bool failed; /* out of memory */
};

static json_t *string(const char *bytes)
{
	return json_text(bytes ? bytes : "?", bytes ? strlen(bytes) : 1);
}

/* Takes the reference to the event. */
static void put(struct perfetto *e, json_t *event)
{
	fputs(",\n", e->out);
	if (!event || json_dumpf(event, e->out, JSON_COMPACT | JSON_REAL_PRECISION(15)) != 0)
		e->failed = true;
	json_decref(event);
}

static double us(const struct perfetto *e, int64_t t_ns)
{
	return (double)saturate_subtract(t_ns, e->workflow->begin_ns) / 1e3;
}

/* ---- machines ---- */

static int find_host(const struct perfetto *e, const char *host)
{
	for (int i = 0; host && i < e->n_hosts; i++)
		if (strcmp(e->hosts[i], host) == 0)
			return i;
	return -1;
}

static int list_hosts(struct perfetto *e)
{
	for (int32_t i = 0; i < e->workflow->graph->n_processes; i++) {
		const char *host = workflow_task(e->workflow, i)->host;

		if (host && find_host(e, host) < 0 && vector_push(e->hosts, e->n_hosts, host) < 0)
			return -ENOMEM;
	}
	return 0;
}

/* Behind the ids of processes. */
static int64_t host_pid(const struct perfetto *e, int host)
{
	return saturate_add(e->n ? e->tracks[e->n - 1].id : 0, host + 1);
}

static void put_about(struct perfetto *e, int64_t pid, const char *what, const char *key, json_t *value)
{
	put(e, json_pack("{s:s,s:s,s:I,s:{s:o}}", "ph", "M", "name", what, "pid", (json_int_t)pid, "args", key, value));
}

static void put_hosts(struct perfetto *e)
{
	for (int i = 0; i < e->n_hosts; i++) {
		put_about(e, host_pid(e, i), "process_name", "name", string(e->hosts[i]));
		put_about(e, host_pid(e, i), "process_sort_index", "sort_index", json_integer(2 * i));
	}
}

/* Where a process is shown. */
static void put_host_of(struct perfetto *e, int64_t id, const char *host)
{
	int i = find_host(e, host);

	if (i < 0)
		return;
	put_about(e, id, "process_labels", "labels", string(host));
	put_about(e, id, "process_sort_index", "sort_index", json_integer(2 * i + 1));
}

static void put_number(json_t *args, const char *name, const int64_t *number)
{
	if (number)
		json_object_set_new(args, name, json_integer(*number));
}

void perfetto_clock(struct perfetto *e, const struct perfetto_clock *clock)
{
	int i = find_host(e, clock->host);
	json_t *args;

	if (i < 0)
		return;
	args = json_object();
	put_number(args, "realtime_ns", &clock->realtime_ns);
	put_number(args, "boot_ns", clock->boot_ns);
	put_number(args, "offset_ns", clock->offset_ns);
	put_number(args, "uncertainty_ns", clock->uncertainty_ns);
	put(e, json_pack("{s:s,s:s,s:s,s:s,s:I,s:I,s:f,s:o}", "ph", "i", "s", "p", "cat", "clock", "name", "clock", "pid",
		       (json_int_t)host_pid(e, i), "tid", (json_int_t)0, "ts", us(e, clock->t_ns), "args", args));
}

/* ---- processes ---- */

static void put_name(struct perfetto *e, const char *what, const struct track *t, json_t *name)
{
	put(e, json_pack("{s:s,s:s,s:I,s:I,s:{s:o}}", "ph", "M", "name", what, "pid", (json_int_t)t->id, "tid",
		       (json_int_t)t->pid, "args", "name", name));
}

static void put_process(struct perfetto *e, int32_t i)
{
	const struct task *task = workflow_task(e->workflow, i);
	const struct track *t = &e->tracks[i];
	json_t *args = json_pack("{s:I,s:o}", "os_pid", (json_int_t)t->pid, "command", string(task->command));

	if (task->exit_code != WORKFLOW_UNKNOWN)
		json_object_set_new(args, "exit_code", json_integer(task->exit_code));
	if (task->exit_signal != WORKFLOW_UNKNOWN)
		json_object_set_new(args, "exit_signal", json_integer(task->exit_signal));
	if (task->phase)
		json_object_set_new(args, "phase", string(task->phase));
	put_host_of(e, t->id, task->host);
	put_name(e, "process_name", t, string(task->program));
	put_name(e, "thread_name", t, string(task->program));
	put(e, json_pack("{s:s,s:s,s:o,s:I,s:I,s:f,s:f,s:o}", "ph", "X", "cat", "process", "name",
		       string(task->program), "pid", (json_int_t)t->id, "tid", (json_int_t)t->pid, "ts",
		       us(e, t->begin_ns), "dur", (double)(t->end_ns - t->begin_ns) / 1e3, "args", args));
}

static int list_tracks(struct perfetto *e)
{
	const struct workflow *w = e->workflow;

	e->n = w->graph->n_processes;
	e->tracks = calloc((size_t)e->n + 1, sizeof(*e->tracks));
	if (!e->tracks || list_hosts(e) < 0)
		return -ENOMEM;
	if (e->n_hosts < 2)
		e->n_hosts = 0;
	for (int32_t i = 0; i < e->n; i++) {
		const struct task *task = workflow_task(w, i);

		e->tracks[i] = (struct track){ .begin_ns = critical_begin(w, i),
			.end_ns = critical_end(w, i), .id = w->graph->processes[i].id,
			.program = task->program, .pid = task->pid == WORKFLOW_UNKNOWN ? 0 : task->pid };
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

static struct track *find_track(const struct perfetto *e, int64_t id)
{
	return bsearch(&id, e->tracks, (size_t)e->n, sizeof(*e->tracks), compare_tracks);
}

/* ---- data ---- */

/* A point of a flow in the slice of a process. */
static double moment(const struct perfetto *e, const struct track *t, int64_t ns)
{
	return us(e, ns < t->begin_ns ? t->begin_ns : ns > t->end_ns ? t->end_ns : ns);
}

static void put_flow(struct perfetto *e, const struct shape_edge *from, const struct shape_edge *to)
{
	const struct shape *shape = e->shape;
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

/* One flow from each process that wrote a file to each process that began to read it later. */
static int put_flows(struct perfetto *e)
{
	const struct shape *shape = e->shape;
	/* The first edge of a node, and the next one of the same node; counted from 1. */
	cleanup_free int32_t *head = calloc((size_t)shape->n_nodes + 1, sizeof(*head));
	cleanup_free int32_t *next = calloc((size_t)shape->n_edges + 1, sizeof(*next));

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
	return head && next ? 0 : -ENOMEM;
}

/* ---- counters ---- */

void perfetto_counter(struct perfetto *e, double from_s, const char *diagram, size_t n, const char *const names[],
	const double values[])
{
	json_t *args = json_object();

	for (size_t i = 0; i < n; i++)
		json_object_set_new(args, names[i], json_real(values[i]));
	put(e, json_pack("{s:s,s:s,s:I,s:f,s:o}", "ph", "C", "name", diagram, "pid", (json_int_t)RUN_PID, "ts",
		       from_s * 1e6, "args", args));
}

/* ---- operations ---- */

static json_t *arguments(const struct perfetto_operation *o)
{
	json_t *args = json_object();

	if (o->result)
		json_object_set_new(args, "result", json_integer(*o->result));
	if (o->path.bytes)
		json_object_set_new(args, "path", json_text(o->path.bytes, o->path.len));
	if (o->moved_bytes)
		json_object_set_new(args, "bytes", json_integer(*o->moved_bytes));
	return args;
}

static void put_slice(struct perfetto *e, const struct track *t, const struct perfetto_operation *o)
{
	put(e, json_pack("{s:s,s:s,s:o,s:I,s:I,s:f,s:f,s:o}", "ph", "X", "cat", "io", "name",
		       json_text(o->name.bytes, o->name.len), "pid", (json_int_t)t->id, "tid", (json_int_t)o->tid, "ts",
		       us(e, o->start_ns), "dur", (double)o->latency_ns / 1e3, "args", arguments(o)));
}

static void put_asynchronous(struct perfetto *e, const struct track *t, const struct perfetto_operation *o)
{
	e->async++;
	put(e, json_pack("{s:s,s:s,s:o,s:I,s:I,s:I,s:f,s:o}", "ph", "b", "cat", "io", "name",
		       json_text(o->name.bytes, o->name.len), "id", (json_int_t)e->async, "pid", (json_int_t)t->id, "tid",
		       (json_int_t)o->tid, "ts", us(e, o->start_ns), "args", arguments(o)));
	put(e, json_pack("{s:s,s:s,s:o,s:I,s:I,s:I,s:f}", "ph", "e", "cat", "io", "name",
		       json_text(o->name.bytes, o->name.len), "id", (json_int_t)e->async, "pid", (json_int_t)t->id, "tid",
		       (json_int_t)o->tid, "ts", us(e, saturate_add(o->start_ns, o->latency_ns))));
}

/* NULL: out of memory. */
static struct thread *find_thread(struct perfetto *e, const struct track *t, int64_t tid)
{
	struct thread key = { .key = { t->id, tid } }, *found;

	HASH_FIND(hh, e->threads, &key.key, sizeof(key.key), found);
	if (found)
		return found;
	found = arena_alloc(&e->memory, sizeof(*found));
	if (!found)
		return NULL;
	*found = key;
	found->busy_ns = INT64_MIN;
	HASH_ADD(hh, e->threads, key, sizeof(found->key), found);
	if (!found->hh.tbl)
		return NULL;
	if (tid != t->pid)
		put_name(e, "thread_name", &(struct track){ .id = t->id, .pid = tid }, string(t->program));
	return found;
}

/* In the first thread, slices lie in that of the process. */
static bool fits(const struct track *t, const struct thread *thread, const struct perfetto_operation *o, int64_t end_ns)
{
	return o->start_ns >= thread->busy_ns && (o->tid != t->pid || (o->start_ns >= t->begin_ns && end_ns <= t->end_ns));
}

static void put_unplaced(struct perfetto *e, const struct track *t, const struct perfetto_operation *o)
{
	struct perfetto_operation placed = *o;

	placed.tid = t->pid;
	put_asynchronous(e, t, &placed);
}

void perfetto_operation(struct perfetto *e, const struct perfetto_operation *o)
{
	const struct track *t = find_track(e, o->process);
	const int64_t end_ns = saturate_add(o->start_ns, o->latency_ns);
	struct thread *thread = t && o->name.bytes && o->tid ? find_thread(e, t, o->tid) : NULL;

	if (!t || !o->name.bytes)
		return;
	if (!thread) {
		e->failed |= o->tid != 0;
		put_unplaced(e, t, o);
	} else if (fits(t, thread, o, end_ns)) {
		thread->busy_ns = end_ns;
		put_slice(e, t, o);
	} else {
		put_asynchronous(e, t, o);
	}
}

/* ---- the whole ---- */

int perfetto_begin(const struct workflow *workflow, const struct shape *shape, bool whole, FILE *out,
	struct perfetto **ret_perfetto)
{
	struct perfetto *e = calloc(1, sizeof(*e));
	int r;

	if (!e)
		return -ENOMEM;
	*e = (struct perfetto){ .workflow = workflow, .shape = shape, .out = out };
	fputs("{\"displayTimeUnit\":\"ms\",\"otherData\":{\"tool\":\"ftrac " FTRAC_VERSION "\",\"complete\":", out);
	fprintf(out, "\"%s\"},\"traceEvents\":[\n", whole ? "yes" : "no");
	fputs("{\"ph\":\"M\",\"name\":\"process_sort_index\",\"pid\":0,\"args\":{\"sort_index\":-1}}", out);
	r = list_tracks(e);
	put_name(e, "process_name", &(struct track){ .id = RUN_PID }, string("run"));
	if (r == 0)
		put_hosts(e);
	if (r == 0)
		r = put_flows(e);
	if (r < 0)
		perfetto_end(e);
	else
		*ret_perfetto = e;
	return r;
}

int perfetto_end(struct perfetto *e)
{
	bool failed = e->failed || json_memory_failed();

	fputs("\n]}\n", e->out);
	HASH_CLEAR(hh, e->threads);
	arena_free(&e->memory);
	free(e->tracks);
	free(e->hosts);
	free(e);
	return failed ? -ENOMEM : 0;
}
