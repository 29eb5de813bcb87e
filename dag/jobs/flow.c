/* SPDX-License-Identifier: MIT */

/* Which job needs and makes which file.  A path has several contents in turn; each is needed and made by itself. */

#include "dag/jobs/jobs_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/vector.h"
#include "dag/container/path_names.h"

struct path {
	const char *name;
	int32_t index;
	UT_hash_handle hh;
};

/* An open or a removal by a driver, and the command that does it again. */
struct reopened {
	int32_t process, file;
	int64_t time_ns; /* of a removal: REMOVAL */
	int32_t command;
};

#define REMOVAL INT64_MAX

struct flow {
	struct jobs *jobs;
	struct reopened *reopened;
	int32_t n_reopened;
	struct path *paths;
	struct content *uses;
	int32_t n_uses;
	struct pairs deps, inputs, outputs;
};

/* ---- pairs ---- */

int jobs_add_pair(struct pairs *pairs, int32_t first, int32_t second, bool soft)
{
	return vector_push(pairs->pairs, pairs->n, (struct pair){ first, second, soft });
}

static int compare_pairs(const void *x, const void *y)
{
	const struct pair *a = x, *b = y;

	if (a->first != b->first)
		return a->first < b->first ? -1 : 1;
	if (a->second != b->second)
		return a->second < b->second ? -1 : 1;
	return a->soft - b->soft;
}

void jobs_sort_pairs(struct pairs *pairs)
{
	int32_t n = 0;

	if (pairs->n == 0)
		return;
	qsort(pairs->pairs, (size_t)pairs->n, sizeof(*pairs->pairs), compare_pairs);
	for (int32_t i = 1; i < pairs->n; i++) {
		const struct pair *last = &pairs->pairs[n], *pair = &pairs->pairs[i];

		if (last->first != pair->first || last->second != pair->second)
			pairs->pairs[++n] = *pair;
	}
	pairs->n = n + 1;
}

/* The .second of the pairs with this .first, as an array; *at: the index to search from. */
static int second_operands(const struct pairs *pairs, int32_t first, int32_t *at, int32_t **ret,
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

	if (path)
		return path;
	path = vector_reserve(jobs->files, jobs->n_files) < 0 ? NULL : calloc(1, sizeof(*path));
	if (!path)
		return NULL;
	path->name = data->path;
	path->index = jobs->n_files++;
	jobs->files[path->index] = (struct job_file){ .path = jobs_short_path(jobs, data->path),
		.bytes = WORKFLOW_UNKNOWN,
		.producer = JOBS_NONE,
		.name = path_names_find(jobs->names->names, data->path, strlen(data->path)) };
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

static int add_use(struct flow *flow, const struct content *use)
{
	return vector_push(flow->uses, flow->n_uses, *use);
}

static int compare_reopened(const void *x, const void *y)
{
	const struct reopened *a = x, *b = y;

	if (a->process != b->process)
		return a->process < b->process ? -1 : 1;
	if (a->file != b->file)
		return a->file < b->file ? -1 : 1;
	return (a->time_ns > b->time_ns) - (a->time_ns < b->time_ns);
}

/* Shells open files for the commands that they start, which do that again; make removes intermediate files, which a
 * command in its place does. */
static int read_reopened(struct flow *flow)
{
	const struct jobs_names *names = flow->jobs->names;

	flow->reopened = malloc(((size_t)names->n_events + 1) * sizeof(*flow->reopened));
	if (!flow->reopened)
		return -ENOMEM;
	for (int32_t i = 0; i < names->n_events; i++) {
		const struct name_event *e = &names->events[i];

		if (e->command != JOBS_NONE && flow->jobs->of[e->process] == JOBS_NONE &&
			(e->opened != JOBS_NONE || e->did == NAME_REMOVED))
			flow->reopened[flow->n_reopened++] = (struct reopened){ e->process, e->file,
				e->did == NAME_REMOVED ? REMOVAL : e->time_ns, e->command };
	}
	if (flow->n_reopened)
		qsort(flow->reopened, (size_t)flow->n_reopened, sizeof(*flow->reopened),
			compare_reopened);
	return 0;
}

/* The job that does again what a driver did to a file at that time, or its removal; JOBS_NONE. */
static int32_t find_reopened(const struct flow *flow, const struct graph_access *access, int64_t time_ns)
{
	const struct reopened key = { access->process, access->file, time_ns, JOBS_NONE },
			      *found = vector_find(&key, flow->reopened, (size_t)flow->n_reopened,
				      sizeof(key), compare_reopened);

	return found ? flow->jobs->commands[found->command].job : JOBS_NONE;
}

static int add_access(struct flow *flow, const struct graph_access *access)
{
	const struct workflow *w = flow->jobs->workflow;
	const struct data *data = workflow_data(w, access->file);
	bool directory = data->kind && strcmp(data->kind, "dir") == 0;
	struct content use = { .file = access->file,
		.version = access->version,
		.job = flow->jobs->of[access->process],
		.in_ns = directory ? GRAPH_NEVER : access->first_in_ns,
		.out_ns = access->first_out_ns };
	struct path *path;
	int r = 0;

	use.renames = access->kinds & EDGE_RENAME && access->nwrite <= 0 && !access->assumed_out &&
		      !(access->kinds & (EDGE_CREATE | EDGE_TRUNCATE | EDGE_MAP));
	if (use.job == JOBS_NONE && access->nwrite == 0 && !directory)
		use.job = find_reopened(flow, access, access->first_out_ns);
	if (!data->path || data_is_placeless(data) || (use.in_ns == GRAPH_NEVER && use.out_ns == GRAPH_NEVER &&
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
		if (flow->jobs->of[access->process] == JOBS_NONE)
			use.job = find_reopened(flow, access, REMOVAL);
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

static int compare_contents(const void *x, const void *y)
{
	const struct content *a = x, *b = y;
	const int64_t keys[][2] = { { a->path, b->path }, { a->file, b->file },
		{ a->version, b->version }, { a->removes, b->removes }, { a->job, b->job } };

	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		if (keys[i][0] != keys[i][1])
			return keys[i][0] < keys[i][1] ? -1 : 1;
	return 0;
}

static bool same_content(const struct content *a, const struct content *b)
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
		struct content *last = &flow->uses[n], *use = &flow->uses[i];

		if (same_content(last, use) && last->job == use->job) {
			last->renames &= use->renames;
			last->in_ns = earlier(last->in_ns, use->in_ns);
			last->out_ns = earlier(last->out_ns, use->out_ns);
		} else {
			flow->uses[++n] = *use;
		}
	}
	flow->n_uses = flow->n_uses ? n + 1 : 0;
}

static void date_contents(struct flow *flow)
{
	for (int32_t i = 0, end; i < flow->n_uses; i = end) {
		int64_t begin = GRAPH_NEVER;

		for (end = i; end < flow->n_uses && same_content(&flow->uses[i], &flow->uses[end]);
			end++)
			begin = earlier(begin, flow->uses[end].out_ns);
		for (int32_t j = i; j < end; j++)
			flow->uses[j].content_ns = begin == GRAPH_NEVER ? INT64_MIN : begin;
	}
}

static int compare_times(const void *x, const void *y)
{
	const struct content *a = x, *b = y;

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

/* ---- what is known of a path ---- */

/* A job that reads back what it alone has written needs nothing of others. */
static bool is_own(const struct content *uses, int32_t n, const struct content *use)
{
	if (use->out_ns == GRAPH_NEVER || use->out_ns > use->in_ns)
		return false;
	for (int32_t i = 0; i < n; i++)
		if (uses[i].out_ns < use->in_ns && uses[i].job != use->job)
			return false;
	return true;
}

/* Inputs and outputs, and what is known of the path. */
static int describe(struct flow *flow, const struct content *uses, int32_t n)
{
	const struct content *first = uses;
	struct job_file *file = &flow->jobs->files[first->path];
	const struct data *data = workflow_data(flow->jobs->workflow, first->file);
	bool was_there = first->content_ns == INT64_MIN;
	int r = 0;

	if (was_there && data->created)
		file->drivers = true; /* or of processes that are not known */
	file->source |= was_there;
	if (!file->kept) { /* the removal of what was replaced comes after the beginning of what is there now */
		file->kept = !data->deleted;
		file->plain = !data->kind || strcmp(data->kind, "file") == 0;
		file->bytes = data->size_bytes;
	}
	for (int32_t i = 0; i < n && r == 0; i++) {
		const struct content *use = &uses[i];

		if (use->job == JOBS_NONE)
			file->drivers |= use->out_ns != GRAPH_NEVER;
		else if (use->in_ns != GRAPH_NEVER && !file->directory && !is_own(uses, n, use))
			r = jobs_add_pair(&flow->inputs, use->job, use->path, false);
		if (r == 0 && use->job != JOBS_NONE && use->out_ns != GRAPH_NEVER && !use->removes)
			r = jobs_add_pair(&flow->outputs, use->job, use->path, false);
	}
	return r;
}

/* A file of one job alone, which was not there before and is not there after. */
static bool is_private(const struct flow *flow, const struct content *uses, int32_t n)
{
	for (int32_t i = 0; i < n; i++)
		if (uses[i].job != uses[0].job || uses[i].content_ns == INT64_MIN ||
			!workflow_data(flow->jobs->workflow, uses[i].file)->deleted)
			return false;
	return uses[n - 1].removes;
}

static void find_producer(struct job_file *file, const struct content *uses, int32_t n)
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

static int follow_path(struct flow *flow, const struct content *uses, int32_t n)
{
	int r = 0;

	if (is_private(flow, uses, n))
		return 0;
	find_producer(&flow->jobs->files[uses->path], uses, n);
	for (int32_t i = 0, end; i < n && r == 0; i = end) {
		for (end = i; end < n && same_content(&uses[i], &uses[end]); end++)
			;
		r = describe(flow, uses + i, end - i);
	}
	return r;
}

static int follow_paths(struct flow *flow)
{
	int r = 0;

	if (flow->n_uses)
		qsort(flow->uses, (size_t)flow->n_uses, sizeof(*flow->uses), compare_times);
	for (int32_t i = 0, end; i < flow->n_uses && r == 0; i = end) {
		for (end = i; end < flow->n_uses && flow->uses[end].path == flow->uses[i].path;
			end++)
			;
		r = follow_path(flow, flow->uses + i, end - i);
	}
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

		if (file->producer == index && file->kept && file->plain && !file->source && file->fits)
			job->targets[job->n_targets++] = job->outputs[i];
	}
	return 0;
}

static int fill_in(struct flow *flow)
{
	struct jobs *jobs = flow->jobs;
	int32_t input = 0, output = 0;
	int r = 0;

	jobs_sort_pairs(&flow->inputs);
	jobs_sort_pairs(&flow->outputs);
	for (int32_t i = 0; i < jobs->n_jobs && r == 0; i++) {
		struct job *job = &jobs->jobs[i];

		r = second_operands(&flow->inputs, i, &input, &job->inputs, &job->n_inputs);
		if (r == 0)
			r = second_operands(&flow->outputs, i, &output, &job->outputs,
				&job->n_outputs);
		if (r == 0)
			r = put_targets(jobs, i);
	}
	return r;
}

/* What each waits for. */
static int put_deps(struct flow *flow)
{
	int32_t dep = 0;
	int r = 0;

	for (int32_t i = 0; i < flow->jobs->n_jobs && r == 0; i++) {
		struct job *job = &flow->jobs->jobs[i];

		free(job->deps);
		r = second_operands(&flow->deps, i, &dep, &job->deps, &job->n_deps);
	}
	return r;
}

/* What is soft gives way within a circle.  Whether anything did. */
static bool drop_soft(struct flow *flow, const int32_t *into)
{
	int32_t n = 0, was = flow->deps.n;

	for (int32_t i = 0; i < was; i++) {
		const struct pair *pair = &flow->deps.pairs[i];

		if (!pair->soft || into[pair->first] != into[pair->second])
			flow->deps.pairs[n++] = *pair;
	}
	flow->deps.n = n;
	return n < was;
}

static int find_circles(struct flow *flow, int32_t **ret_into)
{
	int r;

	for (;;) {
		r = put_deps(flow);
		if (r == 0)
			r = jobs_find_circles(flow->jobs, ret_into);
		if (r < 0 || !*ret_into || !drop_soft(flow, *ret_into))
			return r;
		free(*ret_into);
		*ret_into = NULL;
	}
}

static int find_contents(struct flow *flow)
{
	int r = read_reopened(flow);

	if (r == 0)
		r = read_accesses(flow);
	if (r == 0 && flow->n_uses) {
		merge_uses(flow);
		date_contents(flow);
		r = follow_paths(flow);
	}
	return r;
}

int jobs_flow(struct jobs *jobs, int32_t **ret_into)
{
	struct flow flow = { .jobs = jobs };
	int r = jobs->names ? 0 : jobs_guess_names(jobs);

	*ret_into = NULL;
	if (r == 0)
		r = find_contents(&flow);
	if (r == 0)
		r = jobs_order(jobs, flow.uses, flow.n_uses, &flow.deps);
	if (r == 0) {
		jobs_sort_pairs(&flow.deps);
		r = find_circles(&flow, ret_into);
	}
	if (r == 0)
		r = fill_in(&flow);
	if (r == 0)
		r = jobs_find_seen(jobs);
	free_paths(&flow);
	free(flow.uses);
	free(flow.reopened);
	free(flow.deps.pairs);
	free(flow.inputs.pairs);
	free(flow.outputs.pairs);
	return r;
}
