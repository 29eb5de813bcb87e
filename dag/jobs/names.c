/* SPDX-License-Identifier: MIT */

/* What was done to names, as the trace has it: operations on names, opens, and what went through these. */

#include "dag/jobs/jobs_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/failure.h"
#include "base/vector.h"
#include "dag/container/path_names.h"
#include "dag/trace/choice.h"
#include "dag/trace/traces.h"
#include "db/query.h"

/* Of each path, while events are read. */
struct seen {
	int32_t last; /* event: what one process looks at time and again is one; JOBS_NONE */
	bool chosen;
};

struct reading {
	struct load *load;
	struct seen *seen;
	int32_t n_seen;
};

static int see(struct reading *reading, int32_t path)
{
	while (reading->n_seen <= path) {
		const char *text = path_names_text(reading->load->jobs->names->names, reading->n_seen);

		if (vector_push(reading->seen, reading->n_seen,
			    (struct seen){ JOBS_NONE,
				    !reading->load->choice ||
					    choice_takes_path(reading->load->choice, text) }) < 0)
			return -ENOMEM;
	}
	return 0;
}

static int32_t path_of(struct reading *reading, const struct query *q, int column)
{
	size_t len;
	const char *bytes = query_bytes(q, column, &len);
	int32_t path = path_names_add(reading->load->jobs->names->names, bytes, len);

	return path < 0 || see(reading, path) < 0 ? -ENOMEM : path;
}

int jobs_add_event(struct jobs_names *names, const struct name_event *event)
{
	return vector_push(names->events, names->n_events, *event);
}

static int add_event(struct reading *reading, const struct name_event *event)
{
	struct jobs_names *names = reading->load->jobs->names;

	reading->seen[event->path].last = names->n_events;
	return jobs_add_event(names, event);
}

static bool says_nothing_new(const struct reading *reading, const struct name_event *event)
{
	int32_t last = reading->seen[event->path].last;
	const struct name_event *before =
		last == JOBS_NONE ? NULL : &reading->load->jobs->names->events[last];

	return before && event->did == NAME_LOOKED && before->did == NAME_LOOKED &&
	       before->process == event->process && before->file == event->file &&
	       before->version == event->version;
}

static int32_t file_of(const struct reading *reading, const struct query *q, int column)
{
	return query_type(q, column) == QUERY_NULL
		       ? GRAPH_NONE
		       : graph_find_file(reading->load->jobs->workflow->graph,
				 query_int(q, column));
}

enum name_column { N_PROCESS, N_PATH, N_FILE, N_VERSION, N_DID, N_TIME };
#define NAME_COLUMNS "process path file version did end_ns"

static int add_name(void *arg, const struct query *q)
{
	static const uint8_t did[] = { NAME_LOOKED, NAME_LOOKED, NAME_DATED, NAME_CHANGED, NAME_MADE,
		NAME_REMOVED };
	struct reading *reading = arg;
	int64_t code = query_int(q, N_DID);
	struct name_event event = {
		.process = graph_find_process(reading->load->jobs->workflow->graph,
			query_int(q, N_PROCESS)),
		.path = path_of(reading, q, N_PATH),
		.file = file_of(reading, q, N_FILE),
		.version = (int32_t)query_int(q, N_VERSION),
		.time_ns = query_int(q, N_TIME),
		.command = JOBS_NONE,
		.opened = JOBS_NONE,
		.did = did[code >= 0 && code <= 5 ? code : 0],
	};

	if (event.path < 0)
		return -ENOMEM;
	if (event.process == GRAPH_NONE || !reading->seen[event.path].chosen ||
		says_nothing_new(reading, &event))
		return 0;
	return add_event(reading, &event);
}

/* ---- opens ---- */

static bool has_flag(const struct query *q, int column, const char *flag)
{
	size_t len;
	const char *flags = query_bytes(q, column, &len);

	return memmem(flags, len, flag, strlen(flag)) != NULL;
}

enum handle_column { H_ID, H_PROCESS, H_PATH, H_FILE, H_FLAGS, H_CREATED, H_TIME, H_DIRECTORY };
#define HANDLE_COLUMNS "id process path file flags created open_ns directory"

static int add_handle(void *arg, const struct query *q)
{
	struct reading *reading = arg;
	struct load *load = reading->load;
	struct opened opened = { .id = query_int(q, H_ID),
		.time_ns = query_int(q, H_TIME),
		.process = graph_find_process(load->jobs->workflow->graph, query_int(q, H_PROCESS)),
		.path = path_of(reading, q, H_PATH),
		.reads = !has_flag(q, H_FLAGS, "O_WRONLY"),
		.writes = !has_flag(q, H_FLAGS, "O_RDONLY"),
		.created = query_int(q, H_CREATED),
		.empties = has_flag(q, H_FLAGS, "O_TRUNC"),
		.appends = has_flag(q, H_FLAGS, "O_APPEND"),
		.file = file_of(reading, q, H_FILE),
		.first = JOBS_NONE };
	struct name_event event = { .process = opened.process,
		.path = opened.path,
		.file = opened.file,
		.version = JOBS_NONE,
		.time_ns = opened.time_ns,
		.command = JOBS_NONE,
		.opened = load->n_opened,
		.did = query_int(q, H_DIRECTORY) ? NAME_LISTED
		       : opened.created		 ? NAME_MADE
						 : NAME_OPENED };

	if (opened.path < 0)
		return -ENOMEM;
	if (opened.process == GRAPH_NONE || !reading->seen[opened.path].chosen)
		return 0;
	return vector_push(load->opened, load->n_opened, opened) < 0 ? -ENOMEM
								     : add_event(reading, &event);
}

static int compare_opened(const void *key, const void *element)
{
	int64_t a = *(const int64_t *)key, b = ((const struct opened *)element)->id;

	return (a > b) - (a < b);
}

/* Handles come in the order of their ids. */
static int32_t find_opened(const struct load *load, int64_t id)
{
	const struct opened *found = vector_find(&id, load->opened, (size_t)load->n_opened,
		sizeof(*found), compare_opened);

	return found ? (int32_t)(found - load->opened) : JOBS_NONE;
}

enum use_column { U_HANDLE, U_PROCESS, U_READ, U_WRITE };
#define USE_COLUMNS "handle process first_read_ns first_write_ns"

static int add_use(void *arg, const struct query *q)
{
	struct load *load = ((struct reading *)arg)->load;
	struct through use = { .opened = find_opened(load, query_int(q, U_HANDLE)),
		.process = graph_find_process(load->jobs->workflow->graph, query_int(q, U_PROCESS)),
		.read_ns = query_type(q, U_READ) == QUERY_NULL ? GRAPH_NEVER : query_int(q, U_READ),
		.write_ns = query_type(q, U_WRITE) == QUERY_NULL ? GRAPH_NEVER
								 : query_int(q, U_WRITE) };

	if (use.opened == JOBS_NONE || use.process == GRAPH_NONE)
		return 0;
	return vector_push(load->uses, load->n_uses, use);
}

/* ---- without single operations ---- */

static int add_access(struct reading *reading, const struct graph_access *access)
{
	const struct data *data = workflow_data(reading->load->jobs->workflow, access->file);
	bool in = access->first_in_ns != GRAPH_NEVER, out = access->first_out_ns != GRAPH_NEVER;
	struct name_event event = { .process = access->process,
		.file = access->file,
		.version = access->version,
		.command = JOBS_NONE,
		.opened = JOBS_NONE };
	int r = 0;

	if (!data->path)
		return 0;
	event.path = path_names_add(reading->load->jobs->names->names, data->path,
		strlen(data->path));
	if (event.path < 0 || see(reading, event.path) < 0)
		return -ENOMEM;
	event.did = access->kinds & (EDGE_CREATE | EDGE_RENAME) ? NAME_MADE
		    : in || out					? NAME_OPENED
								: NAME_LOOKED;
	event.time_ns = out ? access->first_out_ns : in ? access->first_in_ns : access->last_ns;
	r = add_event(reading, &event);
	if (r == 0 && access->kinds & EDGE_DELETE) {
		event.did = NAME_REMOVED;
		event.time_ns = access->last_ns;
		r = add_event(reading, &event);
	}
	return r;
}

static int add_missing_name(struct reading *reading, const struct missing_name *name)
{
	struct name_event event = { .process = name->process,
		.path = path_names_add(reading->load->jobs->names->names, name->path,
			strlen(name->path)),
		.file = GRAPH_NONE,
		.time_ns = name->first_ns,
		.command = JOBS_NONE,
		.opened = JOBS_NONE,
		.did = NAME_LOOKED };

	if (event.path < 0 || see(reading, event.path) < 0)
		return -ENOMEM;
	return add_event(reading, &event);
}

/* What accesses say of names: the last of each file. */
static int guess_names(struct reading *reading)
{
	const struct workflow *w = reading->load->jobs->workflow;
	int r = 0;

	for (int32_t i = 0; i < w->graph->n_accesses && r == 0; i++)
		if (w->chosen[i])
			r = add_access(reading, &w->graph->accesses[i]);
	for (int32_t i = 0; i < w->n_missing_names && r == 0; i++)
		if (w->missing_names[i].chosen)
			r = add_missing_name(reading, &w->missing_names[i]);
	return r;
}

/* ---- the whole ---- */

static int compare_events(const void *x, const void *y)
{
	const struct name_event *a = x, *b = y;

	if (a->time_ns != b->time_ns)
		return a->time_ns < b->time_ns ? -1 : 1;
	if (a->process != b->process)
		return a->process < b->process ? -1 : 1;
	if (a->did != b->did)
		return a->did < b->did ? -1 : 1;
	return (a->path > b->path) - (a->path < b->path);
}

void jobs_sort_events(struct jobs_names *names)
{
	if (names->n_events)
		qsort(names->events, (size_t)names->n_events, sizeof(*names->events), compare_events);
}

int jobs_guess_names(struct jobs *jobs)
{
	struct load load = { .jobs = jobs };
	struct reading reading = { .load = &load };
	struct jobs_names *names = jobs->names = calloc(1, sizeof(*names));
	int r = names && (names->names = path_names_create()) ? guess_names(&reading) : -ENOMEM;

	free(reading.seen);
	if (r == 0) {
		names->by_process = names->guessed = true;
		jobs_sort_events(names);
	}
	return r;
}

static int read_rows(struct reading *reading, const char *name, const char *columns,
	int (*add)(void *arg, const struct query *q))
{
	const struct choice all = { .step_ns = 1 };
	struct load *load = reading->load;

	return traces_each(load->db, name, columns, &all, add, reading, load->failure);
}

int jobs_read_names(struct load *load)
{
	struct reading reading = { .load = load };
	struct jobs_names *names = load->jobs->names = calloc(1, sizeof(*names));
	int r;

	if (!names || !(names->names = path_names_create()))
		return failure_memory(load->failure);
	r = read_rows(&reading, "generate.names", NAME_COLUMNS, add_name);
	if (r == 0)
		r = read_rows(&reading, "generate.handles", HANDLE_COLUMNS, add_handle);
	if (r == 0)
		r = read_rows(&reading, "generate.uses", USE_COLUMNS, add_use);
	free(reading.seen);
	if (r == 0)
		jobs_sort_events(names);
	return r;
}

void jobs_forget_names(struct jobs *jobs)
{
	if (!jobs->names)
		return;
	path_names_destroy(jobs->names->names);
	free(jobs->names->events);
	free(jobs->names->redone);
	free(jobs->names);
	jobs->names = NULL;
}
