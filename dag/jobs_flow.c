/* SPDX-License-Identifier: MIT */

/* Which job waits for which, by the contents of paths that they write and read. */

#include "dag/jobs_inside.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* What a job did to one content of a path. */
struct use {
	int32_t path, file, version, job; /* job JOBS_NONE: who is no job */
	bool removes;
	bool opened; /* by who is no job, and nothing was written: maybe for a job, as shells do */
	int64_t in_ns, out_ns; /* GRAPH_NEVER: it did not */
	int64_t content_ns;    /* when that content began; INT64_MIN: it was there */
};

struct pair {
	int32_t first, second;
};

struct pairs {
	struct pair *pairs;
	int32_t n;
};

struct path {
	const char *name;
	int32_t index;
	UT_hash_handle hh;
};

/* Where a command led its output to. */
struct redirection {
	const char *path;
	int64_t start_ns;
	int32_t job;
};

struct flow {
	struct jobs *jobs;
	struct redirection *redirections;
	int32_t n_redirections;
	struct path *paths;
	struct use *uses;
	int32_t n_uses;
	struct pairs deps, inputs, outputs;
};

/* ---- pairs ---- */

static int add_pair(struct pairs *pairs, int32_t first, int32_t second)
{
	struct pair *room = jobs_room(pairs->pairs, (size_t)pairs->n, sizeof(*room));

	if (!room)
		return -ENOMEM;
	pairs->pairs = room;
	room[pairs->n++] = (struct pair){ first, second };
	return 0;
}

static int compare_pairs(const void *x, const void *y)
{
	const struct pair *a = x, *b = y;

	if (a->first != b->first)
		return a->first < b->first ? -1 : 1;
	return (a->second > b->second) - (a->second < b->second);
}

static void sort_pairs(struct pairs *pairs)
{
	int32_t n = 0;

	if (pairs->n == 0)
		return;
	qsort(pairs->pairs, (size_t)pairs->n, sizeof(*pairs->pairs), compare_pairs);
	for (int32_t i = 1; i < pairs->n; i++)
		if (compare_pairs(&pairs->pairs[n], &pairs->pairs[i]) != 0)
			pairs->pairs[++n] = pairs->pairs[i];
	pairs->n = n + 1;
}

/* The seconds of those with this first, as an array; at: where to look from. */
static int take(const struct pairs *pairs, int32_t first, int32_t *at, int32_t **ret,
	int32_t *ret_n)
{
	int32_t begin = *at;

	while (*at < pairs->n && pairs->pairs[*at].first == first)
		++*at;
	*ret_n = *at - begin;
	*ret = malloc((size_t)(*ret_n + 1) * sizeof(**ret));
	for (int32_t i = 0; *ret && i < *ret_n; i++)
		(*ret)[i] = pairs->pairs[begin + i].second;
	return *ret ? 0 : -ENOMEM;
}

/* ---- paths ---- */

static struct path *find_path(const struct flow *flow, const char *name, size_t len)
{
	struct path *path;

	HASH_FIND(hh, flow->paths, name, len, path);
	return path;
}

static struct path *get_path(struct flow *flow, const struct data *data)
{
	struct jobs *jobs = flow->jobs;
	struct path *path = find_path(flow, data->path, strlen(data->path));
	struct job_file *room;

	if (path)
		return path;
	room = jobs_room(jobs->files, (size_t)jobs->n_files, sizeof(*room));
	path = room ? calloc(1, sizeof(*path)) : NULL;
	jobs->files = room ? room : jobs->files;
	if (!path)
		return NULL;
	path->name = data->path;
	path->index = jobs->n_files++;
	room[path->index] = (struct job_file){ .path = jobs_short_path(jobs, data->path),
		.bytes = WORKFLOW_UNKNOWN,
		.producer = JOBS_NONE };
	HASH_ADD_KEYPTR(hh, flow->paths, path->name, strlen(path->name), path);
	if (!path->hh.tbl) { /* the hash cannot grow */
		free(path);
		return NULL;
	}
	return path;
}

static void free_paths(struct flow *flow)
{
	struct path *path, *next;

	HASH_ITER(hh, flow->paths, path, next) {
		HASH_DEL(flow->paths, path);
		free(path);
	}
}

/* ---- uses ---- */

static int add_use(struct flow *flow, const struct use *use)
{
	struct use *room = jobs_room(flow->uses, (size_t)flow->n_uses, sizeof(*room));

	if (!room)
		return -ENOMEM;
	flow->uses = room;
	room[flow->n_uses++] = *use;
	return 0;
}

static int add_access(struct flow *flow, const struct graph_access *access)
{
	const struct workflow *w = flow->jobs->workflow;
	const struct data *data = workflow_data(w, access->file);
	bool directory = data->kind && strcmp(data->kind, "dir") == 0;
	struct use use = { .file = access->file,
		.version = access->version,
		.job = flow->jobs->of[access->process],
		.in_ns = directory ? GRAPH_NEVER : access->first_in_ns,
		.out_ns = access->first_out_ns };
	struct path *path;
	int r = 0;

	use.opened = use.job == JOBS_NONE && access->nwrite == 0 &&
		     access->kinds & (EDGE_CREATE | EDGE_TRUNCATE) && !directory;
	if (!data->path || (use.in_ns == GRAPH_NEVER && use.out_ns == GRAPH_NEVER &&
				   !(access->kinds & EDGE_DELETE)))
		return 0;
	path = get_path(flow, data);
	if (!path)
		return -ENOMEM;
	use.path = path->index;
	flow->jobs->files[path->index].directory = directory;
	if (use.in_ns != GRAPH_NEVER || use.out_ns != GRAPH_NEVER)
		r = add_use(flow, &use);
	if (r == 0 && access->kinds & EDGE_DELETE) {
		use.removes = true;
		use.in_ns = GRAPH_NEVER;
		use.out_ns = access->last_ns;
		r = add_use(flow, &use);
	}
	return r;
}

static int read_accesses(struct flow *flow)
{
	const struct workflow *w = flow->jobs->workflow;
	int r = 0;

	for (int32_t i = 0; i < w->graph->n_accesses && r == 0; i++)
		if (w->chosen[i])
			r = add_access(flow, &w->graph->accesses[i]);
	return r;
}

/* Who writes into a directory needs it; of those alone that were made or removed. */
static int read_directories(struct flow *flow)
{
	int32_t n = flow->n_uses;
	int r = 0;

	for (int32_t i = 0; i < n && r == 0; i++) {
		struct use use = flow->uses[i];
		const char *name = workflow_data(flow->jobs->workflow, use.file)->path;
		const char *slash = strrchr(name, '/');
		struct path *path = slash ? find_path(flow, name, (size_t)(slash - name)) : NULL;

		if (use.out_ns == GRAPH_NEVER || !path)
			continue;
		use.path = path->index;
		use.in_ns = use.out_ns;
		use.out_ns = GRAPH_NEVER;
		use.removes = false;
		use.file = JOBS_NONE; /* which directory had the path then is found by the time */
		r = add_use(flow, &use);
	}
	return r;
}

static int compare_contents(const void *x, const void *y)
{
	const struct use *a = x, *b = y;
	const int64_t keys[][2] = { { a->path, b->path }, { a->file, b->file },
		{ a->version, b->version }, { a->removes, b->removes }, { a->job, b->job } };

	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		if (keys[i][0] != keys[i][1])
			return keys[i][0] < keys[i][1] ? -1 : 1;
	return 0;
}

static bool same_content(const struct use *a, const struct use *b)
{
	return a->path == b->path && a->file == b->file && a->version == b->version &&
	       a->removes == b->removes;
}

static int64_t earlier(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

/* One use of a content for each job. */
static void merge_uses(struct flow *flow)
{
	int32_t n = 0;

	qsort(flow->uses, (size_t)flow->n_uses, sizeof(*flow->uses), compare_contents);
	for (int32_t i = 1; i < flow->n_uses; i++) {
		struct use *last = &flow->uses[n], *use = &flow->uses[i];

		if (same_content(last, use) && last->job == use->job && use->file != JOBS_NONE) {
			last->in_ns = earlier(last->in_ns, use->in_ns);
			last->out_ns = earlier(last->out_ns, use->out_ns);
		} else {
			flow->uses[++n] = *use;
		}
	}
	flow->n_uses = flow->n_uses ? n + 1 : 0;
}

static int compare_redirections(const void *x, const void *y)
{
	const struct redirection *a = x, *b = y;
	int order = strcmp(a->path, b->path);

	return order ? order : (a->start_ns > b->start_ns) - (a->start_ns < b->start_ns);
}

/* Where commands led their output to, by path and time. */
static int read_redirections(struct flow *flow)
{
	const struct jobs *jobs = flow->jobs;

	flow->redirections =
		malloc((2 * (size_t)jobs->n_commands + 1) * sizeof(*flow->redirections));
	if (!flow->redirections)
		return -ENOMEM;
	for (int32_t i = 0; i < jobs->n_commands; i++)
		for (int fd = 1; fd < 3; fd++)
			if (jobs_redirected(&jobs->commands[i], fd))
				flow->redirections[flow->n_redirections++] =
					(struct redirection){ jobs->commands[i].to[fd],
						jobs->commands[i].start_ns, jobs->commands[i].job };
	qsort(flow->redirections, (size_t)flow->n_redirections, sizeof(*flow->redirections),
		compare_redirections);
	return 0;
}

/* The first command after that time whose output went there; JOBS_NONE: there is none. */
static int32_t find_redirected(const struct flow *flow, const char *path, int64_t time_ns)
{
	const struct redirection key = { path, time_ns, JOBS_NONE };
	int32_t from = 0, to = flow->n_redirections;

	while (from < to) {
		int32_t middle = from + (to - from) / 2;

		if (compare_redirections(&flow->redirections[middle], &key) < 0)
			from = middle + 1;
		else
			to = middle;
	}
	if (from == flow->n_redirections || strcmp(flow->redirections[from].path, path) != 0)
		return JOBS_NONE;
	return flow->redirections[from].job;
}

/* Shells open files for the commands that they start: that was done by these. */
static void give_opened(struct flow *flow)
{
	for (int32_t i = 0; i < flow->n_uses; i++) {
		struct use *use = &flow->uses[i];

		if (use->opened)
			use->job = find_redirected(flow,
				workflow_data(flow->jobs->workflow, use->file)->path, use->out_ns);
	}
}

static void date_contents(struct flow *flow)
{
	for (int32_t i = 0, end; i < flow->n_uses; i = end) {
		int64_t begin = GRAPH_NEVER;

		for (end = i; end < flow->n_uses && same_content(&flow->uses[i], &flow->uses[end]);
			end++)
			begin = earlier(begin, flow->uses[end].out_ns);
		for (int32_t j = i; j < end; j++)
			flow->uses[j].content_ns = flow->uses[j].file == JOBS_NONE
							   ? flow->uses[j].in_ns
						   : begin == GRAPH_NEVER ? INT64_MIN
									  : begin;
	}
}

static int compare_times(const void *x, const void *y)
{
	const struct use *a = x, *b = y;

	if (a->path != b->path)
		return a->path < b->path ? -1 : 1;
	if (a->content_ns != b->content_ns)
		return a->content_ns < b->content_ns ? -1 : 1;
	if (!same_content(a, b))
		return compare_contents(a, b);
	if (a->out_ns != b->out_ns)
		return a->out_ns < b->out_ns ? -1 : 1;
	return compare_contents(a, b);
}

/* ---- hazards ---- */

/* What is known of a path when the next content comes: uses from..to are those of the last one that
 * somebody wrote, and what was read of it since. */
struct last {
	int32_t writer; /* who comes after all other writers; JOBS_NONE */
	int32_t *readers;
	int32_t n_readers, room;
};

static int wait_for(struct flow *flow, int32_t job, int32_t other)
{
	if (job == JOBS_NONE || other == JOBS_NONE || job == other)
		return 0;
	return add_pair(&flow->deps, job, other);
}

static int remember_reader(struct last *last, int32_t job)
{
	int32_t *room = jobs_room(last->readers, (size_t)last->n_readers, sizeof(*room));

	if (!room)
		return -ENOMEM;
	last->readers = room;
	room[last->n_readers++] = job;
	return 0;
}

/* Writers come one after the other. */
static int add_writers(struct flow *flow, const struct use *uses, int32_t n, struct last *last)
{
	int r = 0;

	for (int32_t i = 0; i < n && r == 0; i++) {
		if (uses[i].out_ns == GRAPH_NEVER || uses[i].job == JOBS_NONE)
			continue;
		r = wait_for(flow, uses[i].job, last->writer);
		for (int32_t j = 0; j < last->n_readers && r == 0; j++)
			r = wait_for(flow, uses[i].job, last->readers[j]);
		last->n_readers = 0;
		last->writer = uses[i].job;
	}
	return r;
}

static int add_readers(struct flow *flow, const struct use *uses, int32_t n, struct last *last)
{
	int r = 0;

	for (int32_t i = 0; i < n && r == 0; i++) {
		if (uses[i].in_ns == GRAPH_NEVER || uses[i].out_ns != GRAPH_NEVER ||
			uses[i].job == JOBS_NONE)
			continue;
		r = wait_for(flow, uses[i].job, last->writer);
		if (r == 0)
			r = remember_reader(last, uses[i].job);
	}
	return r;
}

/* Who reads back what it alone has written needs nothing of others. */
static bool is_own(const struct use *uses, int32_t n, const struct use *use)
{
	if (use->out_ns == GRAPH_NEVER || use->out_ns > use->in_ns)
		return false;
	for (int32_t i = 0; i < n; i++)
		if (uses[i].out_ns < use->in_ns && uses[i].job != use->job)
			return false;
	return true;
}

/* Inputs and outputs, and what is known of the path. */
static int describe(struct flow *flow, const struct use *uses, int32_t n)
{
	const struct use *first = uses;
	struct job_file *file = &flow->jobs->files[first->path];
	const struct data *data =
		first->file == JOBS_NONE ? NULL : workflow_data(flow->jobs->workflow, first->file);
	bool was_there = first->content_ns == INT64_MIN;
	int r = 0;

	if (first->file == JOBS_NONE)
		return 0;
	if (was_there && data->created)
		file->drivers = true; /* or by who is not known */
	file->source |= was_there;
	file->kept = !first->removes && !(was_there && data->deleted);
	file->bytes = data->size_bytes;
	for (int32_t i = 0; i < n && r == 0; i++) {
		const struct use *use = &uses[i];

		if (use->job == JOBS_NONE)
			file->drivers |= use->out_ns != GRAPH_NEVER;
		else if (use->in_ns != GRAPH_NEVER && !file->directory && !is_own(uses, n, use))
			r = add_pair(&flow->inputs, use->job, use->path);
		if (r == 0 && use->job != JOBS_NONE && use->out_ns != GRAPH_NEVER && !use->removes)
			r = add_pair(&flow->outputs, use->job, use->path);
	}
	return r;
}

/* A file of one job alone, which was not there before and is not there after. */
static bool is_private(const struct use *uses, int32_t n)
{
	for (int32_t i = 0; i < n; i++)
		if (uses[i].job != uses[0].job || uses[i].content_ns == INT64_MIN)
			return false;
	return uses[n - 1].removes;
}

static void find_producer(struct job_file *file, const struct use *uses, int32_t n)
{
	bool others = false;

	for (int32_t i = 0; i < n; i++) {
		if (uses[i].out_ns == GRAPH_NEVER)
			continue;
		file->written = true;
		others |= file->producer != JOBS_NONE && file->producer != uses[i].job;
		file->producer = uses[i].job;
		others |= uses[i].job == JOBS_NONE;
	}
	if (others)
		file->producer = JOBS_NONE;
}

static int follow_path(struct flow *flow, const struct use *uses, int32_t n, struct last *last)
{
	int r = 0;

	if (is_private(uses, n))
		return 0;
	find_producer(&flow->jobs->files[uses->path], uses, n);
	last->writer = JOBS_NONE;
	last->n_readers = 0;
	for (int32_t i = 0, end; i < n && r == 0; i = end) {
		for (end = i; end < n && same_content(&uses[i], &uses[end]); end++)
			;
		r = add_writers(flow, uses + i, end - i, last);
		if (r == 0)
			r = add_readers(flow, uses + i, end - i, last);
		if (r == 0)
			r = describe(flow, uses + i, end - i);
	}
	return r;
}

static int follow_paths(struct flow *flow)
{
	struct last last = { 0 };
	int r = 0;

	if (flow->n_uses)
		qsort(flow->uses, (size_t)flow->n_uses, sizeof(*flow->uses), compare_times);
	for (int32_t i = 0, end; i < flow->n_uses && r == 0; i = end) {
		for (end = i; end < flow->n_uses && flow->uses[end].path == flow->uses[i].path;
			end++)
			;
		r = follow_path(flow, flow->uses + i, end - i, &last);
	}
	free(last.readers);
	return r;
}

/* ---- the whole ---- */

static int put_targets(struct jobs *jobs, int32_t index)
{
	struct job *job = &jobs->jobs[index];

	job->targets = malloc((size_t)(job->n_outputs + 1) * sizeof(*job->targets));
	if (!job->targets)
		return -ENOMEM;
	for (int32_t i = 0; i < job->n_outputs; i++) {
		const struct job_file *file = &jobs->files[job->outputs[i]];

		if (file->producer == index && file->kept && !file->directory && !file->source)
			job->targets[job->n_targets++] = job->outputs[i];
	}
	return 0;
}

static int fill_in(struct flow *flow)
{
	struct jobs *jobs = flow->jobs;
	int32_t dep = 0, input = 0, output = 0;
	int r = 0;

	sort_pairs(&flow->deps);
	sort_pairs(&flow->inputs);
	sort_pairs(&flow->outputs);
	for (int32_t i = 0; i < jobs->n_jobs && r == 0; i++) {
		struct job *job = &jobs->jobs[i];

		r = take(&flow->deps, i, &dep, &job->deps, &job->n_deps);
		if (r == 0)
			r = take(&flow->inputs, i, &input, &job->inputs, &job->n_inputs);
		if (r == 0)
			r = take(&flow->outputs, i, &output, &job->outputs, &job->n_outputs);
		if (r == 0)
			r = put_targets(jobs, i);
	}
	return r;
}

int jobs_flow(struct jobs *jobs, int32_t **ret_into)
{
	struct flow flow = { .jobs = jobs };
	int r = read_accesses(&flow);

	*ret_into = NULL;
	if (r == 0)
		r = read_redirections(&flow);
	if (r == 0) {
		give_opened(&flow);
		r = read_directories(&flow);
	}
	if (r == 0 && flow.n_uses) {
		merge_uses(&flow);
		date_contents(&flow);
		r = follow_paths(&flow);
	}
	if (r == 0)
		r = fill_in(&flow);
	if (r == 0)
		r = jobs_find_circles(jobs, ret_into);
	free_paths(&flow);
	free(flow.uses);
	free(flow.redirections);
	free(flow.deps.pairs);
	free(flow.inputs.pairs);
	free(flow.outputs.pairs);
	return r;
}
