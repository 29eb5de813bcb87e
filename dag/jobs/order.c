/* SPDX-License-Identifier: MIT */

/*
 * Which job waits for which.
 *
 * Two runs of the same jobs come to the same result if all that share something use it in the same order in both, where
 * one of them changes it (conflict serializability: Eswaran, Gray, Lorie, Traiger, The notions of consistency and
 * predicate locks in a database system, 1976).  What jobs share is
 *
 *   a name     which file it leads to, or that it leads nowhere: each lookup learns that, also one that fails, and it is
 *              changed by making, renaming, linking, removing;
 *   a listing  which names a directory has.  Jobs that make and remove names in it need not wait for each other;
 *   a content  read and written, version by version;
 *   attributes mode, owner, number of links.
 *
 * Looks, listings and attributes are weak: they count only for jobs of which one had ended when the other began.
 * Jobs that ran at the same time and only looked were in no order in the run either.
 *
 * A job that uses a name needs the directories above it.  That is soft: of jobs that make the same directory if it is
 * not there yet, any may be the one that made it.
 */

#include "dag/jobs/jobs_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/vector.h"
#include "dag/container/path_names.h"

struct use {
	int32_t object, job;
	int32_t part; /* of a content: its version; else 0 */
	int64_t time_ns;
	bool writes, weak, soft;
};

/* A name while events are gone through. */
struct bound {
	int32_t file;	/* GRAPH_NONE */
	int32_t next;	/* name of the same file; JOBS_NONE */
	int32_t above;	/* the nearest directory above it that has a number, too; JOBS_NONE */
	int32_t maker;	/* the only job that changed it; JOBS_NONE: none, JOBS_MANY */
	bool there; /* before the run */
	bool removed_last, changes;
};

#define JOBS_MANY (-2)

struct order {
	struct jobs *jobs;
	const struct jobs_names *names;
	int32_t n_paths, n_files;
	struct bound *bound;
	int32_t *first_name; /* of each file; JOBS_NONE */
	int64_t *begin_ns, *end_ns; /* of each job */
	struct use *uses;
	int32_t n_uses;
	struct pairs *deps;
};

/* ---- jobs in time ---- */

/* From the first to the last end of what a driver waited for: what was left running does not count. */
static int find_times(struct order *o)
{
	const struct jobs *jobs = o->jobs;
	const struct graph *g = jobs->workflow->graph;
	size_t n = (size_t)jobs->n_jobs + 1;

	o->begin_ns = malloc(n * sizeof(*o->begin_ns));
	o->end_ns = malloc(n * sizeof(*o->end_ns));
	if (!o->begin_ns || !o->end_ns)
		return -ENOMEM;
	for (int32_t i = 0; i < jobs->n_jobs; i++) {
		o->begin_ns[i] = GRAPH_NEVER;
		o->end_ns[i] = INT64_MIN;
	}
	for (int32_t i = 0; i < g->n_processes; i++) {
		int32_t job = jobs->of[i], parent = graph_parent(g, i);

		if (job == JOBS_NONE || (parent != GRAPH_NONE && jobs->of[parent] == job))
			continue;
		if (g->processes[i].start_ns < o->begin_ns[job])
			o->begin_ns[job] = g->processes[i].start_ns;
		if (g->processes[i].end_ns > o->end_ns[job])
			o->end_ns[job] = g->processes[i].end_ns;
	}
	for (int32_t i = 0; i < jobs->n_commands; i++)
		if (jobs->commands[i].by_driver)
			o->begin_ns[jobs->commands[i].job] = o->end_ns[jobs->commands[i].job] =
				jobs->commands[i].start_ns;
	return 0;
}

/* Is it an order, that one used something before the other? */
static bool counts(const struct order *o, const struct use *before, const struct use *after)
{
	return before->job != after->job &&
	       ((!before->weak && !after->weak) || o->end_ns[before->job] <= o->begin_ns[after->job]);
}

/* ---- uses ---- */

static int32_t object_name(const struct order *o, int32_t path)
{
	(void)o;
	return path;
}

static int32_t object_listing(const struct order *o, int32_t path)
{
	return o->n_paths + path;
}

static int32_t object_attributes(const struct order *o, int32_t file)
{
	return 2 * o->n_paths + file;
}

static int32_t object_content(const struct order *o, int32_t file)
{
	return 2 * o->n_paths + o->n_files + file;
}

static int add_use(struct order *o, const struct use *use)
{
	return vector_push(o->uses, o->n_uses, *use);
}

/* ---- names ---- */

static int32_t job_of(const struct order *o, const struct name_event *event)
{
	if (o->names->by_process)
		return o->jobs->of[event->process];
	return event->command == JOBS_NONE ? JOBS_NONE : o->jobs->commands[event->command].job;
}

static bool changes_name(const struct name_event *event)
{
	return event->did == NAME_MADE || event->did == NAME_REMOVED;
}

static int32_t find_above(const struct order *o, int32_t path)
{
	const char *text = path_names_text(o->names->names, path);
	size_t len = strlen(text);
	int32_t above = PATH_NAMES_NONE;

	while (len && above == PATH_NAMES_NONE) {
		while (len && text[--len] != '/')
			;
		above = len ? path_names_find(o->names->names, text, len) : PATH_NAMES_NONE;
	}
	return above;
}

/* Which job changes which name.  What one job alone makes and removes again does not matter to the others. */
static int look_at_names(struct order *o)
{
	o->bound = malloc(((size_t)o->n_paths + 1) * sizeof(*o->bound));
	o->first_name = malloc(((size_t)o->n_files + 1) * sizeof(*o->first_name));
	if (!o->bound || !o->first_name)
		return -ENOMEM;
	for (int32_t i = 0; i < o->n_paths; i++)
		o->bound[i] = (struct bound){ .file = GRAPH_NONE,
			.next = JOBS_NONE,
			.above = find_above(o, i),
			.maker = JOBS_NONE };
	for (int32_t i = 0; i < o->n_files; i++)
		o->first_name[i] = JOBS_NONE;
	for (int32_t i = 0; i < o->names->n_events; i++) {
		const struct name_event *event = &o->names->events[i];
		struct bound *b = &o->bound[event->path];
		int32_t job = job_of(o, event);

		if (!b->changes)
			b->there |= event->did == NAME_REMOVED ||
				    (event->did != NAME_MADE && event->file != GRAPH_NONE);
		if (!changes_name(event))
			continue;
		b->changes = true;
		b->removed_last = event->did == NAME_REMOVED;
		b->maker = b->maker == JOBS_NONE || b->maker == job ? job : JOBS_MANY;
	}
	return 0;
}

/* path leads to file from now on. */
static void bind(struct order *o, int32_t path, int32_t file)
{
	struct bound *b = &o->bound[path];
	int32_t *at;

	if (b->file == file)
		return;
	if (b->file != GRAPH_NONE) {
		for (at = &o->first_name[b->file]; *at != path; at = &o->bound[*at].next)
			;
		*at = b->next;
	}
	b->file = file;
	b->next = JOBS_NONE;
	if (file != GRAPH_NONE) {
		b->next = o->first_name[file];
		o->first_name[file] = path;
	}
}

/* The directories above a name, as far as they change in the run. */
static int need_above(struct order *o, int32_t path, const struct use *use)
{
	int r = 0;

	for (int32_t above = o->bound[path].above; above != PATH_NAMES_NONE && r == 0;
		above = o->bound[above].above)
		if (o->bound[above].changes)
			r = add_use(o, &(struct use){ .object = object_name(o, above),
					.job = use->job,
					.time_ns = use->time_ns,
					.weak = use->weak,
					.soft = true });
	return r;
}

/* The kernel does not say by which of several links a file was reached: by any. */
static int use_name(struct order *o, const struct name_event *event, const struct use *use)
{
	struct use other = *use;
	int r = add_use(o, use);

	if (r == 0)
		r = need_above(o, event->path, use);
	if (changes_name(event) || event->file == GRAPH_NONE)
		return r;
	for (int32_t path = o->first_name[event->file]; path != JOBS_NONE && r == 0;
		path = o->bound[path].next) {
		other.object = object_name(o, path);
		if (path != event->path)
			r = add_use(o, &other);
	}
	return r;
}

static int use_listing(struct order *o, const struct name_event *event, struct use use)
{
	const struct bound *b = &o->bound[event->path];
	bool passing = b->maker == use.job && !b->there && b->removed_last;

	use.weak = true;
	use.writes = changes_name(event);
	use.object = object_listing(o, event->path);
	if (!use.writes)
		return event->did == NAME_LISTED ? add_use(o, &use) : 0;
	if (passing || b->above == PATH_NAMES_NONE)
		return 0;
	use.object = object_listing(o, b->above);
	return add_use(o, &use);
}

static int use_attributes(struct order *o, const struct name_event *event, struct use use)
{
	int r;

	if (event->file == GRAPH_NONE)
		return 0;
	use.weak = true;
	use.writes = event->did >= NAME_DATED;
	use.object = object_attributes(o, event->file);
	r = add_use(o, &use);
	if (r < 0 || event->did != NAME_LOOKED || event->version <= 0)
		return r;
	use.object = object_content(o, event->file); /* its size was seen */
	use.part = event->version;
	return add_use(o, &use);
}

static int use_event(struct order *o, const struct name_event *event)
{
	struct use use = { .object = object_name(o, event->path),
		.job = job_of(o, event),
		.time_ns = event->time_ns,
		.writes = changes_name(event),
		.weak = event->did != NAME_OPENED && !changes_name(event) };
	int r = 0;

	if (use.job != JOBS_NONE) {
		r = use_name(o, event, &use);
		if (r == 0)
			r = use_listing(o, event, use);
		if (r == 0)
			r = use_attributes(o, event, use);
		o->jobs->jobs[use.job].changes |= event->did >= NAME_DATED;
	}
	if (event->did == NAME_REMOVED)
		bind(o, event->path, GRAPH_NONE);
	else if (event->file != GRAPH_NONE)
		bind(o, event->path, event->file);
	return r;
}

static int use_names(struct order *o)
{
	int r = look_at_names(o);

	for (int32_t i = 0; i < o->names->n_events && r == 0; i++)
		r = use_event(o, &o->names->events[i]);
	return r;
}

/* ---- contents ---- */

static int use_contents(struct order *o, const struct content *contents, int32_t n)
{
	int r = 0;

	for (int32_t i = 0; i < n && r == 0; i++) {
		const struct content *c = &contents[i];
		bool writes = c->out_ns != GRAPH_NEVER && !c->renames;

		if (c->job == JOBS_NONE || c->removes || (!writes && c->in_ns == GRAPH_NEVER))
			continue;
		o->jobs->jobs[c->job].changes |= writes;
		r = add_use(o, &(struct use){ .object = object_content(o, c->file),
				.job = c->job,
				.part = c->version,
				.time_ns = writes ? c->out_ns : c->in_ns,
				.writes = writes });
	}
	return r;
}

/* ---- what waits for what ---- */

static int compare_uses(const void *x, const void *y)
{
	const struct use *a = x, *b = y;
	/* The readers of one version of a content come behind its writers. */
	bool a_last = a->part && !a->writes && !a->weak, b_last = b->part && !b->writes && !b->weak;

	if (a->object != b->object)
		return a->object < b->object ? -1 : 1;
	if (a->part != b->part)
		return a->part < b->part ? -1 : 1;
	if (a_last != b_last)
		return a_last ? 1 : -1;
	if (a->time_ns != b->time_ns)
		return a->time_ns < b->time_ns ? -1 : 1;
	if (a->writes != b->writes)
		return a->writes ? -1 : 1;
	return (a->job > b->job) - (a->job < b->job);
}

/* Uses of one object that later ones may have to wait for. */
struct held {
	const struct use **uses;
	int32_t n;
};

static int hold(struct held *held, const struct use *use)
{
	return vector_push(held->uses, held->n, use);
}

/* Lets use wait for the held uses.  A strong write takes the place of those that it waits for: later uses wait for
 * it alone. */
static int wait_for(struct order *o, struct held *held, const struct use *use)
{
	int32_t n = 0;
	int r = 0;

	for (int32_t i = 0; i < held->n && r == 0; i++) {
		const struct use *before = held->uses[i];
		bool waits = counts(o, before, use);

		if (waits)
			r = jobs_add_pair(o->deps, use->job, before->job, use->soft);
		if (!use->writes || use->weak || (!waits && before->job != use->job))
			held->uses[n++] = before;
	}
	if (r == 0)
		held->n = n;
	return r;
}

/* As many as jobs: one that reads again what it has read says nothing new. */
static bool is_held(const struct held *held, const struct use *use)
{
	const struct use *last = held->n ? held->uses[held->n - 1] : NULL;

	return last && last->job == use->job && last->weak <= use->weak;
}

static int follow_object(struct order *o, const struct use *uses, int32_t n, struct held *writers,
	struct held *readers)
{
	int r = 0;

	writers->n = readers->n = 0;
	for (int32_t i = 0; i < n && r == 0; i++) {
		r = wait_for(o, writers, &uses[i]);
		if (r == 0 && uses[i].writes)
			r = wait_for(o, readers, &uses[i]);
		if (r == 0 && uses[i].writes)
			r = hold(writers, &uses[i]);
		else if (r == 0 && !is_held(readers, &uses[i]))
			r = hold(readers, &uses[i]);
	}
	return r;
}

/* ---- listings ---- */

/* What is known of jobs while the uses of one listing are gone through. */
struct lister {
	bool listed;
	int32_t behind; /* of the writers that it waits for, the one that began last; JOBS_NONE */
};

/*
 * A job that lists waits for all that had changed the listing.  If one of them had listed it, too, that one waits for
 * all that had ended before it began.
 */
static int wait_for_writers(struct order *o, const struct held *writers, const struct use *use,
	struct lister *listers)
{
	struct lister *me = &listers[use->job];
	int32_t implies = JOBS_NONE;
	int r = 0;

	for (int32_t i = writers->n; i > 0 && r == 0; i--) {
		const struct use *before = writers->uses[i - 1];
		int32_t job = before->job;

		if (!counts(o, before, use) ||
			(implies != JOBS_NONE && o->end_ns[job] <= o->begin_ns[implies]))
			continue;
		r = jobs_add_pair(o->deps, use->job, job, false);
		if (me->behind == JOBS_NONE || o->begin_ns[job] > o->begin_ns[me->behind])
			me->behind = job;
		if (listers[job].listed && (implies == JOBS_NONE || o->begin_ns[job] > o->begin_ns[implies]))
			implies = job;
	}
	me->listed = true;
	return r;
}

/* A job that changes a listing waits for all that had listed it, or for one that waits for them. */
static int wait_for_readers(struct order *o, const struct held *readers, const struct use *use,
	const struct lister *listers)
{
	int32_t behind = listers[use->job].behind;
	int r = 0;

	for (int32_t i = 0; i < readers->n && r == 0; i++) {
		const struct use *before = readers->uses[i];

		if (counts(o, before, use) &&
			(behind == JOBS_NONE || o->end_ns[before->job] > o->begin_ns[behind]))
			r = jobs_add_pair(o->deps, use->job, before->job, false);
	}
	return r;
}

static int follow_listing(struct order *o, const struct use *uses, int32_t n, struct held *writers,
	struct held *readers, struct lister *listers)
{
	int r = 0;

	writers->n = readers->n = 0;
	for (int32_t i = 0; i < n; i++)
		listers[uses[i].job] = (struct lister){ false, JOBS_NONE };
	for (int32_t i = 0; i < n && r == 0; i++) {
		struct held *held = uses[i].writes ? writers : readers;

		r = uses[i].writes ? wait_for_readers(o, readers, &uses[i], listers)
				   : wait_for_writers(o, writers, &uses[i], listers);
		if (r == 0 && !is_held(held, &uses[i]))
			r = hold(held, &uses[i]);
	}
	return r;
}

/* ---- the whole ---- */

static int follow_objects(struct order *o)
{
	struct held writers = { 0 }, readers = { 0 };
	cleanup_free struct lister *listers =
		malloc(((size_t)o->jobs->n_jobs + 1) * sizeof(*listers));
	int r = listers ? 0 : -ENOMEM;

	if (o->n_uses)
		qsort(o->uses, (size_t)o->n_uses, sizeof(*o->uses), compare_uses);
	for (int32_t i = 0, end; i < o->n_uses && r == 0; i = end) {
		int32_t object = o->uses[i].object;

		for (end = i; end < o->n_uses && o->uses[end].object == object; end++)
			;
		r = object >= o->n_paths && object < 2 * o->n_paths
			    ? follow_listing(o, o->uses + i, end - i, &writers, &readers, listers)
			    : follow_object(o, o->uses + i, end - i, &writers, &readers);
	}
	free(writers.uses);
	free(readers.uses);
	return r;
}

static bool changes_above(const struct order *o, int32_t path, int32_t but)
{
	for (int32_t above = o->bound[path].above; above != PATH_NAMES_NONE; above = o->bound[above].above)
		if (o->bound[above].changes && (but == JOBS_NONE || o->bound[above].maker == but ||
						       o->bound[above].maker == JOBS_MANY))
			return true;
	return false;
}

/* A source that has kept its name; or a target that is of one job alone, which found its directory there, since some
 * languages make that before the job runs. */
static bool fits(const struct order *o, const struct job_file *file)
{
	if (o->names->guessed)
		return true;
	if (file->name == PATH_NAMES_NONE)
		return false;
	if (!file->written)
		return !o->bound[file->name].changes && !changes_above(o, file->name, JOBS_NONE);
	return file->producer != JOBS_NONE && o->bound[file->name].maker == file->producer &&
	       !o->bound[file->name].there &&
	       !changes_above(o, file->name, file->producer);
}

int jobs_order(struct jobs *jobs, const struct content *contents, int32_t n_contents, struct pairs *deps)
{
	struct order o = { .jobs = jobs,
		.names = jobs->names,
		.n_paths = path_names_count(jobs->names->names),
		.n_files = jobs->workflow->graph->n_files,
		.deps = deps };
	int r = find_times(&o);

	if (r == 0)
		r = use_names(&o);
	if (r == 0)
		r = use_contents(&o, contents, n_contents);
	if (r == 0)
		r = follow_objects(&o);
	for (int32_t i = 0; i < jobs->n_files && r == 0; i++)
		jobs->files[i].fits = fits(&o, &jobs->files[i]);
	free(o.bound);
	free(o.first_name);
	free(o.begin_ns);
	free(o.end_ns);
	free(o.uses);
	return r;
}
