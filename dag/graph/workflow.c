/* SPDX-License-Identifier: MIT */
#include "dag/graph/workflow.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/failure.h"
#include "base/vector.h"
#include "dag/trace/compose.h"
#include "dag/trace/traces.h"
#include "db/query.h"

/* ---- columns ---- */

static const char *text_of(struct workflow *w, const struct query *query, int column)
{
	return traces_text(query, column, &w->texts, &w->failed);
}

static int64_t number_of(const struct query *query, int column, int64_t unknown)
{
	return query_type(query, column) == QUERY_NULL ? unknown : query_int(query, column);
}

enum process_column {
	P_ID,
	P_PARENT,
	P_START,
	P_END,
	P_PROGRAM,
	P_COMMAND,
	P_EXE,
	P_JOB,
	P_XFORM,
	P_PHASE,
	P_STEP,
	P_TASK,
	P_LABEL,
	P_PART,
	P_HOST,
	P_PID,
	P_EXIT_CODE,
	P_EXIT_SIGNAL,
	P_CPU,
	P_RSS,
	P_CPU_DELAY,
	P_UID,
	P_DRIVER,
	P_EXECUTED,
	P_CHOSEN
};
#define PROCESS_COLUMNS                                                                               \
	"id parent start_ns end_ns program command exe job xform phase step task label part host pid exit_code exit_signal cpu_ns " \
	"rsspeak_bytes cpu_delay_ns uid driver executed chosen"

static int add_process(struct workflow *w, const struct query *q)
{
	struct task *task = arena_alloc(&w->texts, sizeof(*task));
	struct graph_process process = { .id = query_int(q, P_ID),
		.parent = query_int(q, P_PARENT),
		.start_ns = number_of(q, P_START, w->begin_ns),
		.end_ns = number_of(q, P_END, GRAPH_NEVER),
		.data = task };

	if (!task)
		return -1;
	*task = (struct task){ text_of(w, q, P_PROGRAM), text_of(w, q, P_COMMAND),
		text_of(w, q, P_EXE), text_of(w, q, P_JOB), text_of(w, q, P_XFORM),
		text_of(w, q, P_PHASE), text_of(w, q, P_STEP), text_of(w, q, P_TASK), text_of(w, q, P_LABEL), text_of(w, q, P_HOST),
		number_of(q, P_PART, WORKFLOW_UNKNOWN),
		number_of(q, P_PID, WORKFLOW_UNKNOWN), number_of(q, P_EXIT_CODE, WORKFLOW_UNKNOWN),
		number_of(q, P_EXIT_SIGNAL, WORKFLOW_UNKNOWN),
		number_of(q, P_CPU, WORKFLOW_UNKNOWN), number_of(q, P_RSS, WORKFLOW_UNKNOWN),
		number_of(q, P_CPU_DELAY, WORKFLOW_UNKNOWN), number_of(q, P_UID, WORKFLOW_UNKNOWN),
		number_of(q, P_DRIVER, 0),
		number_of(q, P_EXECUTED, 1), query_int(q, P_CHOSEN), NULL };
	if (process.end_ns != GRAPH_NEVER && process.end_ns > w->end_ns)
		w->end_ns = process.end_ns;
	return graph_add_process(w->graph, &process) < 0 ? -1 : 0;
}

/* The row has the parts of the time in their order, behind the id of the process.  Threads that are seen for a part of their lives only,
 * since they ran before the record, say nothing of the whole. */
static int add_times(struct workflow *w, const struct query *q)
{
	int32_t i = graph_find_process(w->graph, query_int(q, 0));
	struct graph_process *process = i == GRAPH_NONE ? NULL : &w->graph->processes[i];
	struct spent *spent = process ? arena_alloc(&w->texts, sizeof(*spent)) : NULL;
	int64_t life_ns = INT64_MAX;

	if (!spent)
		return process ? -1 : 0;
	for (int part = 0; part < SPENT_MAX; part++) {
		int64_t ns = query_int(q, 1 + part) < SPENT_MOST ? query_int(q, 1 + part) : SPENT_MOST;

		spent->ns[part] = ns > 0 ? ns : 0;
	}
	if (__builtin_sub_overflow(process->end_ns, process->start_ns > w->begin_ns ? process->start_ns : w->begin_ns, &life_ns))
		life_ns = INT64_MAX;
	spent->whole = !w->is_attached || (double)spent_sum(spent) >= 0.9 * (double)life_ns;
	spent_of_process(spent, life_ns);
	((struct task *)process->data)->spent = spent;
	return 0;
}

enum file_column { F_ID, F_PATH, F_KIND, F_SIZE, F_CREATED, F_DELETED, F_PIPE };
#define FILE_COLUMNS "id path kind size_bytes created deleted pipe"

static int add_file(struct workflow *w, const struct query *q)
{
	struct data *data = arena_alloc(&w->texts, sizeof(*data));

	if (!data)
		return -1;
	*data = (struct data){ text_of(w, q, F_PATH), text_of(w, q, F_KIND),
		number_of(q, F_SIZE, WORKFLOW_UNKNOWN), query_int(q, F_CREATED),
		query_int(q, F_DELETED), query_int(q, F_PIPE) };
	return graph_add_file(w->graph, query_int(q, F_ID), data) < 0 ? -1 : 0;
}

bool data_is_placeless(const struct data *data)
{
	static const char *const kinds[] = { "socket", "char", "terminal", "memfd", "eventfd", "anon" };

	for (size_t i = 0; data->kind && i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (strcmp(data->kind, kinds[i]) == 0)
			return true;
	return data->path && (strncmp(data->path, "pipe:[", 6) == 0 || strncmp(data->path, "memfd:", 6) == 0);
}

bool data_is_pipe(const struct data *data)
{
	return data->is_pipe;
}

enum access_column {
	A_PROCESS,
	A_FILE,
	A_VERSION,
	A_READS,
	A_WRITES,
	A_CREATED,
	A_RENAMED,
	A_UNLINKED,
	A_EXECUTED,
	A_MAPPED,
	A_TRUNCATED,
	A_EMPTIED,
	A_ASSUMED_READ,
	A_ASSUMED_WRITE,
	A_NREAD,
	A_BREAD,
	A_NWRITE,
	A_BWRITE,
	A_IO,
	A_NMETA,
	A_FIRST_IN,
	A_FIRST_OUT,
	A_LAST_OUT,
	A_LAST,
	A_CHOSEN
};
#define ACCESS_COLUMNS                                                                                        \
	"process file version reads writes created renamed unlinked executed mapped truncated emptied assumed_read " \
	"assumed_write nread bread nwrite bwrite io_ns nmeta first_in_ns first_out_ns last_out_ns last_ns chosen"

/* A file that has other names, or got one back, is not deleted when one is removed. */
static int kinds_of(const struct query *q, const struct data *data)
{
	static const struct {
		int column, kind;
	} kinds[] = { { A_CREATED, EDGE_CREATE }, { A_RENAMED, EDGE_RENAME },
		{ A_UNLINKED, EDGE_DELETE }, { A_EXECUTED, EDGE_EXECUTE }, { A_MAPPED, EDGE_MAP },
		{ A_TRUNCATED, EDGE_TRUNCATE } };
	int all =
		(query_int(q, A_READS) ? EDGE_READ : 0) | (query_int(q, A_WRITES) ? EDGE_WRITE : 0);

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		all |= query_int(q, kinds[i].column) ? kinds[i].kind : 0;
	return data->deleted ? all : all & ~EDGE_DELETE;
}

static int add_access(struct workflow *w, const struct query *q)
{
	struct graph *g = w->graph;
	struct graph_access access = { .process = graph_find_process(g, query_int(q, A_PROCESS)),
		.file = graph_find_file(g, query_int(q, A_FILE)),
		.version = (int32_t)query_int(q, A_VERSION),
		.emptied = query_int(q, A_EMPTIED),
		.assumed_in = query_int(q, A_ASSUMED_READ),
		.assumed_out = query_int(q, A_ASSUMED_WRITE),
		.nread = number_of(q, A_NREAD, -1),
		.bread = number_of(q, A_BREAD, -1),
		.nwrite = number_of(q, A_NWRITE, -1),
		.bwrite = number_of(q, A_BWRITE, -1),
		.io_ns = number_of(q, A_IO, -1),
		.nmeta = query_int(q, A_NMETA),
		.first_in_ns = GRAPH_NEVER,
		.first_out_ns = GRAPH_NEVER,
		.last_out_ns = GRAPH_NEVER,
		.last_ns = query_int(q, A_LAST) };

	if (access.process == GRAPH_NONE || access.file == GRAPH_NONE)
		return 0;
	access.kinds = kinds_of(q, workflow_data(w, access.file));
	if (access.version > 1 && data_is_pipe(workflow_data(w, access.file)))
		access.emptied = true; /* a FIFO without ends keeps nothing */
	if (access.kinds & EDGE_READ)
		access.first_in_ns = number_of(q, A_FIRST_IN, access.last_ns);
	if (access.kinds & EDGE_WRITE) {
		access.first_out_ns = number_of(q, A_FIRST_OUT, access.last_ns);
		access.last_out_ns = number_of(q, A_LAST_OUT, access.first_out_ns);
	}
	if (vector_reserve(w->chosen, g->n_accesses) < 0)
		return -1;
	w->chosen[g->n_accesses] = query_int(q, A_CHOSEN);
	return graph_add_access(g, &access) < 0 ? -1 : 0;
}

enum missing_name_column { G_PROCESS, G_PATH, G_COUNT, G_FIRST, G_CHOSEN };
#define MISSING_NAME_COLUMNS "process path count first_ns chosen"

static int add_missing_name(struct workflow *w, const struct query *q)
{
	int32_t process = graph_find_process(w->graph, query_int(q, G_PROCESS));

	if (process == GRAPH_NONE || query_type(q, G_PATH) == QUERY_NULL)
		return 0;
	return vector_push(w->missing_names, w->n_missing_names,
		(struct missing_name){ text_of(w, q, G_PATH), process, query_int(q, G_COUNT),
			number_of(q, G_FIRST, w->begin_ns), query_int(q, G_CHOSEN) });
}

static int compare_missing_names(const void *x, const void *y)
{
	const struct missing_name *a = x, *b = y;
	int order = strcmp(a->path, b->path);

	return order ? order : (a->process > b->process) - (a->process < b->process);
}

/* The id of a process behind what it is grouped by. */
static int add_group(struct workflow *w, const struct query *q)
{
	int id = query_columns(q) - 1;
	int32_t process = graph_find_process(w->graph, query_int(q, id));
	size_t used = 0, len, size = 1;
	bool known = false;
	char *text;

	if (!w->groups)
		w->groups = calloc((size_t)w->graph->n_processes + 1, sizeof(*w->groups));
	if (!w->groups)
		return -1;
	for (int i = 0; i < id; i++) {
		query_bytes(q, i, &len);
		size += len + 3;
	}
	text = arena_alloc(&w->texts, size);
	for (int i = 0; text && i < id; i++) {
		const char *bytes = query_bytes(q, i, &len);

		bool is_null = query_type(q, i) == QUERY_NULL;

		known |= !is_null;
		used += (size_t)snprintf(text + used, size - used, "%s%.*s", i ? ", " : "",
			is_null ? 1 : (int)len, is_null ? "-" : bytes);
	}
	if (text && known && process != GRAPH_NONE)
		w->groups[process] = text;
	return text ? 0 : -1;
}

/* ---- parents ---- */

/* No process is above itself: of a circle of parents the first that the walk reaches loses its parent. */
static int cut_circles(struct graph *g)
{
	cleanup_free int32_t *seen = calloc((size_t)g->n_processes + 1, sizeof(*seen));

	if (!seen)
		return -1;
	for (int32_t i = 0; i < g->n_processes; i++) {
		int32_t process = i;

		while (process != GRAPH_NONE && seen[process] == 0) {
			seen[process] = i + 1;
			process = graph_parent(g, process);
		}
		if (process != GRAPH_NONE && seen[process] == i + 1)
			g->processes[process].parent = 0;
	}
	return 0;
}

/* ---- the whole ---- */

struct loading {
	struct workflow *workflow;
	struct query_db *db;
	struct failure *failure;
};

struct rows {
	struct workflow *workflow;
	int (*add)(struct workflow *, const struct query *);
};

static int add_row(void *arg, const struct query *query)
{
	const struct rows *rows = arg;

	return rows->add(rows->workflow, query) < 0 || rows->workflow->failed ? -ENOMEM : 0;
}

static int load(struct loading *l, const char *name, const char *columns, const struct choice *choice,
	int (*add)(struct workflow *, const struct query *))
{
	struct rows rows = { l->workflow, add };

	return traces_each(l->db, name, columns, choice, add_row, &rows, l->failure);
}

/* A process that uses a file that is left out is not left out: nearly all processes read a library. */
static int load_processes(struct loading *l, const char *name, const char *columns, const struct choice *choice,
	int (*add)(struct workflow *, const struct query *))
{
	cleanup_free const char **exclude = calloc((size_t)choice->exclude.n + 1, sizeof(*exclude));
	struct choice processes = *choice;

	if (!exclude)
		return failure_memory(l->failure);
	processes.exclude = (struct words){ .word = exclude };
	for (int i = 0; i < choice->exclude.n; i++)
		if (strncmp(choice->exclude.word[i], "path:", 5) != 0)
			exclude[processes.exclude.n++] = choice->exclude.word[i];
	return load(l, name, columns, &processes, add);
}

static int load_all(struct loading *l, const struct workflow_options *options)
{
	const struct choice *choice = options->choice;
	struct choice ungrouped = *choice;
	struct workflow *w = l->workflow;
	int r;

	memset(ungrouped.by, 0, sizeof(ungrouped.by));
	r = load_processes(l, "graph.processes", PROCESS_COLUMNS, &ungrouped, add_process);
	if (r == 0)
		r = load(l, "graph.times", SPENT_COLUMNS, &ungrouped, add_times);
	if (r == 0)
		r = failure_of_memory(l->failure, cut_circles(w->graph));
	if (r == 0)
		r = load(l, "graph.files", FILE_COLUMNS, &ungrouped, add_file);
	if (r == 0)
		r = load(l, "graph.accesses", ACCESS_COLUMNS, &ungrouped, add_access);
	if (r == 0 && options->missing_names)
		r = load(l, "graph.missing_names", MISSING_NAME_COLUMNS, &ungrouped, add_missing_name);
	if (r == 0 && choice->by[0])
		r = load_processes(l, "graph.groups", NULL, choice, add_group);
	if (r == 0 && w->n_missing_names)
		qsort(w->missing_names, w->n_missing_names, sizeof(*w->missing_names), compare_missing_names);
	return r;
}

/* When a pipe was first written, and by which process; and when another one first did. */
struct first_write {
	int64_t time_ns, other_ns; /* GRAPH_NEVER: none did */
	int32_t process;
};

static void take_first_write(struct first_write *first, const struct graph_access *a)
{
	if (a->first_out_ns < first->time_ns) {
		if (first->process != a->process)
			first->other_ns = first->time_ns;
		first->time_ns = a->first_out_ns;
		first->process = a->process;
	} else if (first->process != a->process && a->first_out_ns < first->other_ns) {
		first->other_ns = a->first_out_ns;
	}
}

/* A read from a pipe begins when the process begins to wait; nothing can come before another one has written. */
static int delay_reads(struct workflow *w)
{
	struct graph *g = w->graph;
	cleanup_free struct first_write *first = malloc(((size_t)g->n_files + 1) * sizeof(*first));

	if (!first)
		return -ENOMEM;
	for (int32_t i = 0; i < g->n_files; i++)
		first[i] = (struct first_write){ GRAPH_NEVER, GRAPH_NEVER, GRAPH_NONE };
	for (int32_t i = 0; i < g->n_accesses; i++)
		take_first_write(&first[g->accesses[i].file], &g->accesses[i]);
	for (int32_t i = 0; i < g->n_accesses; i++) {
		struct graph_access *a = &g->accesses[i];
		const struct first_write *of = &first[a->file];
		int64_t came_ns = of->process == a->process ? of->other_ns : of->time_ns;

		if (data_is_pipe(workflow_data(w, a->file)) && came_ns > a->first_in_ns && came_ns <= a->last_ns)
			a->first_in_ns = came_ns;
	}
	return 0;
}

static const char *fact_of(struct workflow *w, const struct query_db *db, const char *key)
{
	const char *text = query_fact_text(db, key), *copy = text ? arena_text(&w->texts, text, strlen(text)) : NULL;

	w->failed |= text && !copy;
	return copy;
}

int workflow_load(struct query_db *db, const struct workflow_options *options,
	struct workflow **ret_workflow, struct failure *failure)
{
	struct workflow *w = calloc(1, sizeof(*w));
	struct loading loading = { w, db, failure };
	const char *files = query_fact_text(db, "files");
	int r;

	*ret_workflow = w;
	if (!w || !(w->graph = graph_create()))
		return failure_memory(failure);
	w->begin_ns = query_fact(db, "start_ns", 0);
	w->end_ns = query_fact(db, "end_ns", w->begin_ns);
	w->cpus = query_fact(db, "cpus", 0);
	w->command = fact_of(w, db, "command");
	w->cwd = fact_of(w, db, "cwd");
	w->is_native = files && (strcmp(files, "kernel") == 0 || strcmp(files, "preload") == 0);
	w->is_attached = w->is_native && !w->command;
	r = load_all(&loading, options);
	if (r == 0)
		r = failure_of_memory(failure, delay_reads(w));
	return r < 0 ? r : failure_of_memory(failure, graph_build(w->graph, options->meta));
}

void workflow_destroy(struct workflow *w)
{
	if (!w)
		return;
	arena_free(&w->texts);
	graph_destroy(w->graph);
	free(w->chosen);
	free(w->missing_names);
	free(w->groups);
	free(w);
}

const struct task *workflow_task(const struct workflow *w, int32_t process)
{
	return w->graph->processes[process].data;
}

const struct data *workflow_data(const struct workflow *w, int32_t file)
{
	return w->graph->files[file].data;
}
