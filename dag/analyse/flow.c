/* SPDX-License-Identifier: MIT */

/* Tables about time: critical-path, makespan, parallelism, lifecycle. */

#include "dag/analyse/analyse.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/saturate.h"
#include "base/units.h"
#include "dag/graph/critical.h"
#include "dag/output/table.h"
#include "dag/shape/shape.h"

static void put_known(struct table *table, int64_t number)
{
	if (number == WORKFLOW_UNKNOWN)
		table_null(table);
	else
		table_int(table, number);
}

/* ---- critical-path ---- */

static void put_step(struct table *table, const struct workflow *w, const struct critical *c,
	const struct critical_step *step)
{
	const struct graph_process *p = &w->graph->processes[step->process];
	const struct task *t = workflow_task(w, step->process);
	char mostly[32];

	table_int(table, step->begin_ns);
	table_int(table, step->end_ns);
	table_int(table, step->end_ns - step->begin_ns);
	table_string(table, critical_causes[step->cause]);
	table_int(table, p->id);
	put_known(table, t->pid);
	table_string(table, t->label);
	table_string(table, t->step);
	table_string(table, t->program);
	table_string(table, t->job);
	table_string(table, t->phase);
	table_int(table, c->slack_ns[step->process]);
	put_known(table, step->gain_ns);
	table_string(table, t->spent ? spent_mostly(t->spent, mostly) : NULL);
	table_string(table, step->file == GRAPH_NONE ? NULL : workflow_data(w, step->file)->path);
	table_string(table, t->command);
	table_row(table);
}

int analyse_critical(struct table *table, const struct workflow *w, const struct shape *shape,
	const struct analyse_options *options)
{
	struct critical *c = NULL;
	int r = critical_create(w, true, &c);

	(void)shape, (void)options;
	if (r < 0)
		return r;
	table_columns(table, "start_ns end_ns time_ns via process pid label step program job phase slack_ns "
			     "gain_ns mostly file command");
	for (int32_t i = 0; i < c->n_steps; i++)
		if (workflow_task(w, c->steps[i].process)->chosen)
			put_step(table, w, c, &c->steps[i]);
	table_note(table, "via: how the step began: fork, the process was started; wait, a child of it ended; data, "
		"it read what another process had just written.");
	table_note(table, "slack: how much later the process could have ended without delaying the end of the run.  "
		"gain: how much earlier the run would have ended if the process had taken no time and all else had "
		"stayed the same; '-' if it talked with another in rounds, as with questions and answers.");
	if (w->is_native)
		table_note(table, "mostly: what the process did for most of its life: running, or what it waited for, as in wfstat waits "
			"(but not what some threads waited for while others worked).");
	critical_destroy(c);
	return 0;
}

/* ---- which process works when ---- */

struct change {
	int64_t time_ns;
	int32_t process; /* its parent's is another */
	int8_t lives;    /* 1 it starts, -1 it ends */
};

/* A process that starts comes first, so that a parent does not work between two children without a pause. */
static int compare_changes(const void *x, const void *y)
{
	const struct change *a = x, *b = y;

	if (a->time_ns != b->time_ns)
		return a->time_ns < b->time_ns ? -1 : 1;
	if (a->lives != b->lives)
		return b->lives - a->lives;
	return (a->process > b->process) - (a->process < b->process);
}

static struct change *list_changes(const struct workflow *w, size_t *ret_n)
{
	struct change *changes = malloc((2 * (size_t)w->graph->n_processes + 1) * sizeof(*changes));
	size_t n = 0;

	for (int32_t i = 0; changes && i < w->graph->n_processes; i++) {
		if (!workflow_task(w, i)->chosen || critical_is_outside(w, i))
			continue;
		changes[n++] = (struct change){ w->graph->processes[i].start_ns, i, 1 };
		changes[n++] = (struct change){ critical_end(w, i), i, -1 };
	}
	if (changes)
		qsort(changes, n, sizeof(*changes), compare_changes);
	*ret_n = n;
	return changes;
}

/* How many live, and work, from one change to the next. */
struct width {
	const struct workflow *workflow;
	int32_t *children; /* of each process, that live */
	bool *lives;
	int64_t living, working;
};

static int width_begin(const struct workflow *w, struct width *width)
{
	*width = (struct width){ .workflow = w,
		.children = calloc((size_t)w->graph->n_processes + 1, sizeof(int32_t)),
		.lives = calloc((size_t)w->graph->n_processes + 1, 1) };
	return width->children && width->lives ? 0 : -ENOMEM;
}

static void width_end(struct width *width)
{
	free(width->children);
	free(width->lives);
}

static void width_change(struct width *width, const struct change *change)
{
	const struct graph *g = width->workflow->graph;
	int64_t id = g->processes[change->process].parent;
	int32_t parent = id ? graph_find_process(g, id) : GRAPH_NONE;

	width->living += change->lives;
	if (width->children[change->process] == 0)
		width->working += change->lives;
	width->lives[change->process] = change->lives > 0;
	if (parent == GRAPH_NONE || !workflow_task(width->workflow, parent)->chosen)
		return;
	width->children[parent] += change->lives;
	if (width->lives[parent] && width->children[parent] == (change->lives > 0 ? 1 : 0))
		width->working -= change->lives;
}

/* Goes through the run: emit() gets how many there were from one time to another. */
static int sweep(const struct workflow *w,
	void (*emit)(void *arg, int64_t from_ns, int64_t to_ns, const struct width *), void *arg)
{
	size_t n = 0;
	cleanup_free struct change *changes = list_changes(w, &n);
	struct width width;
	int r = width_begin(w, &width);

	if (!changes)
		r = -ENOMEM;
	for (size_t i = 0; r == 0 && i < n; i++) {
		width_change(&width, &changes[i]);
		if (i + 1 < n && changes[i + 1].time_ns > changes[i].time_ns)
			emit(arg, changes[i].time_ns, changes[i + 1].time_ns, &width);
	}
	width_end(&width);
	return r;
}

/* ---- makespan ---- */

struct span {
	int64_t begin_ns, end_ns, work_ns, most_working, most_living;
	bool any;
};

static void add_span(void *arg, int64_t from_ns, int64_t to_ns, const struct width *width)
{
	struct span *span = arg;

	if (!span->any)
		span->begin_ns = from_ns;
	span->any = true;
	span->end_ns = to_ns;
	span->work_ns =
		saturate_add(span->work_ns, saturate_multiply(width->working, to_ns - from_ns));
	span->most_working =
		width->working > span->most_working ? width->working : span->most_working;
	span->most_living = width->living > span->most_living ? width->living : span->most_living;
}

static void put_fact(struct table *table, const char *name, int64_t number)
{
	table_name(table, name);
	put_known(table, number);
	table_unit(table, name);
}

static void put_cpu(struct table *table, const struct workflow *w)
{
	int64_t cpu = 0, unknown = 0, processes = 0;

	for (int32_t i = 0; i < w->graph->n_processes; i++) {
		const struct task *t = workflow_task(w, i);

		if (!t->chosen || critical_is_outside(w, i))
			continue;
		processes++;
		unknown += t->cpu_ns == WORKFLOW_UNKNOWN;
		cpu = saturate_add(cpu, t->cpu_ns == WORKFLOW_UNKNOWN ? 0 : t->cpu_ns);
	}
	put_fact(table, "processes", processes);
	put_fact(table, "cpu_ns", unknown == processes ? WORKFLOW_UNKNOWN : cpu);
	put_fact(table, "processes_without_cpu", unknown);
}

static void put_path(struct table *table, const struct critical *c)
{
	int64_t length = c->n_steps ? c->steps[c->n_steps - 1].end_ns - c->steps[0].begin_ns : 0;
	const struct critical_step *longest = NULL;

	for (int32_t i = 0; i < c->n_steps; i++)
		if (!longest || c->steps[i].end_ns - c->steps[i].begin_ns >
					longest->end_ns - longest->begin_ns)
			longest = &c->steps[i];
	put_fact(table, "critical_path_ns", length);
	put_fact(table, "critical_steps", c->n_steps);
	put_fact(table, "longest_step_ns", longest ? longest->end_ns - longest->begin_ns : 0);
}

int analyse_makespan(struct table *table, const struct workflow *w, const struct shape *shape,
	const struct analyse_options *options)
{
	struct span span = { 0 };
	struct critical *c = NULL;
	int r = sweep(w, add_span, &span);

	(void)shape, (void)options;
	if (r == 0)
		r = critical_create(w, false, &c);
	if (r < 0)
		return r;
	table_columns(table, "fact value");
	put_fact(table, "makespan_ns", span.end_ns - span.begin_ns);
	put_path(table, c);
	put_cpu(table, w);
	put_fact(table, "work_ns", span.work_ns);
	table_name(table, "parallelism");
	if (span.end_ns > span.begin_ns)
		table_real(table, (double)span.work_ns / (double)(span.end_ns - span.begin_ns));
	table_row(table);
	put_fact(table, "most_working", span.most_working);
	put_fact(table, "most_living", span.most_living);
	table_note(table, "makespan: from the first start to the last exit of the chosen processes; the critical "
		"path is that of the whole run.  A process works while it lives and none of its children does; work: "
		"the sum of these times.  parallelism: work / makespan.");
	critical_destroy(c);
	return 0;
}

/* ---- parallelism ---- */

struct interval {
	int64_t most_working, most_living, work_ns;
};

struct intervals {
	struct interval *all;
	int64_t begin_ns, step_ns, n;
};

static void add_interval(void *arg, int64_t from_ns, int64_t to_ns, const struct width *width)
{
	struct intervals *in = arg;

	for (int64_t n = (from_ns - in->begin_ns) / in->step_ns; n < in->n; n++) {
		int64_t begin = in->begin_ns + n * in->step_ns, end = begin + in->step_ns;
		struct interval *one = &in->all[n];

		if (begin >= to_ns)
			break;
		one->most_working =
			width->working > one->most_working ? width->working : one->most_working;
		one->most_living =
			width->living > one->most_living ? width->living : one->most_living;
		one->work_ns = saturate_add(one->work_ns,
			saturate_multiply(width->working,
				(to_ns < end ? to_ns : end) - (from_ns > begin ? from_ns : begin)));
	}
}

#define INTERVALS_MAX 1000000

int analyse_parallelism(struct table *table, const struct workflow *w, const struct shape *shape,
	const struct analyse_options *options)
{
	struct span span = { 0 };
	struct intervals in = { 0 };
	int64_t length;
	int r = sweep(w, add_span, &span);

	(void)shape;
	if (r < 0)
		return r;
	length = span.end_ns - span.begin_ns;
	in.begin_ns = span.begin_ns;
	in.step_ns = options->interval_ns    ? options->interval_ns
		     : length / 50 > 1000000 ? length / 50
					     : 1000000;
	if (length / in.step_ns >= INTERVALS_MAX)
		in.step_ns = length / INTERVALS_MAX + 1;
	in.n = length > 0 ? (length - 1) / in.step_ns + 1 : 0;
	in.all = calloc((size_t)in.n + 1, sizeof(*in.all));
	r = in.all ? sweep(w, add_interval, &in) : -ENOMEM;
	table_columns(table, "from_s working_mean working_max living_max");
	for (int64_t i = 0; i < in.n && r == 0; i++) {
		int64_t end = (i + 1) * in.step_ns < length ? (i + 1) * in.step_ns : length;

		table_real(table, (double)(in.begin_ns + i * in.step_ns - w->begin_ns) / 1e9);
		table_real(table, (double)in.all[i].work_ns / (double)(end - i * in.step_ns));
		table_int(table, in.all[i].most_working);
		table_int(table, in.all[i].most_living);
		table_row(table);
	}
	if (length > 0)
		table_note(table,
			"On average %.2f processes worked, at most %lld.  A process works while it lives and none of "
			"its children does.",
			(double)span.work_ns / (double)length, (long long)span.most_working);
	free(in.all);
	return r;
}

/* ---- lifecycle ---- */

struct life {
	int64_t first_out_ns, last_out_ns, first_in_ns, last_ns, deleted_ns;
	int32_t readers, writers, last_user;
	bool used;
};

static int64_t earlier(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

static void add_use(struct life *life, const struct graph_access *a)
{
	if (a->kinds & EDGE_DELETE && (life->deleted_ns == GRAPH_NEVER || a->last_ns > life->deleted_ns))
		life->deleted_ns = a->last_ns;
	if (a->first_out_ns != GRAPH_NEVER) {
		life->first_out_ns = earlier(life->first_out_ns, a->first_out_ns);
		life->last_out_ns =
			life->last_out_ns == GRAPH_NEVER || a->last_out_ns > life->last_out_ns
				? a->last_out_ns
				: life->last_out_ns;
		life->writers++;
	}
	if (a->first_in_ns != GRAPH_NEVER) {
		life->first_in_ns = earlier(life->first_in_ns, a->first_in_ns);
		life->readers += a->first_out_ns ==
				 GRAPH_NEVER; /* to read back what one writes is no use of it */
	}
	if (a->first_out_ns == GRAPH_NEVER && a->first_in_ns == GRAPH_NEVER)
		return;
	if (!life->used || a->last_ns >= life->last_ns) {
		life->last_ns = a->last_ns;
		life->last_user = a->process;
	}
	life->used = true;
}

static struct life *list_lives(const struct workflow *w)
{
	const struct graph *g = w->graph;
	struct life *lives = malloc(((size_t)g->n_files + 1) * sizeof(*lives));

	for (int32_t i = 0; lives && i < g->n_files; i++)
		lives[i] = (struct life){ .first_out_ns = GRAPH_NEVER,
			.last_out_ns = GRAPH_NEVER,
			.first_in_ns = GRAPH_NEVER,
			.deleted_ns = GRAPH_NEVER };
	for (int32_t i = 0; lives && i < g->n_accesses; i++)
		if (w->chosen[i] && workflow_task(w, g->accesses[i].process)->chosen)
			add_use(&lives[g->accesses[i].file], &g->accesses[i]);
	/* What is open lives on without a name. */
	for (int32_t i = 0; lives && i < g->n_files; i++)
		if (lives[i].deleted_ns != GRAPH_NEVER && lives[i].last_ns > lives[i].deleted_ns)
			lives[i].deleted_ns = lives[i].last_ns;
	return lives;
}

static bool is_file(const struct workflow *w, int32_t file)
{
	const char *kind = workflow_data(w, file)->kind;

	return !kind || strcmp(kind, "file") == 0;
}

static const char *role_of(const struct workflow *w, int32_t file, const struct life *life)
{
	if (life->writers == 0)
		return "input";
	if (workflow_data(w, file)->created && life->deleted_ns != GRAPH_NEVER)
		return "temporary";
	return life->readers ? "intermediate" : "output";
}

static void put_time(struct table *table, int64_t ns)
{
	if (ns == GRAPH_NEVER)
		table_null(table);
	else
		table_int(table, ns);
}

/* From when on the file could be deleted: after its last read; a product of the workflow never. */
static int64_t safe_deletion(const char *role, const struct life *life)
{
	return strcmp(role, "intermediate") == 0 || strcmp(role, "temporary") == 0 ? life->last_ns
										   : GRAPH_NEVER;
}

static void put_life(struct table *table, const struct workflow *w, int32_t file,
	const struct life *life)
{
	const char *role = role_of(w, file, life);

	table_int(table, w->graph->files[file].id);
	table_string(table, role);
	put_known(table, workflow_data(w, file)->size_bytes);
	put_time(table, life->first_out_ns);
	put_time(table, life->last_out_ns);
	put_time(table, life->first_in_ns);
	table_int(table, life->last_ns);
	put_time(table, life->deleted_ns);
	table_int(table, life->readers);
	table_int(table, life->writers);
	table_int(table, life->writers && life->readers == 0);
	put_time(table, safe_deletion(role, life));
	table_int(table, w->graph->processes[life->last_user].id);
	table_string(table, workflow_data(w, file)->path);
	table_row(table);
}

/* Space that files of the run take, from their first write on. */
struct space {
	int64_t time_ns, bytes;
};

static int compare_space(const void *x, const void *y)
{
	const struct space *a = x, *b = y;

	if (a->time_ns != b->time_ns)
		return a->time_ns < b->time_ns ? -1 : 1;
	return (a->bytes < b->bytes) - (a->bytes > b->bytes);
}

static double high_water(struct space *space, size_t n)
{
	double bytes = 0, most = 0;

	qsort(space, n, sizeof(*space), compare_space);
	for (size_t i = 0; i < n; i++) {
		bytes += (double)space[i].bytes;
		most = bytes > most ? bytes : most;
	}
	return most;
}

static size_t list_space(const struct workflow *w, const struct life *lives, bool tidy,
	struct space *space)
{
	size_t n = 0;

	for (int32_t i = 0; i < w->graph->n_files; i++) {
		int64_t size = workflow_data(w, i)->size_bytes, end = lives[i].deleted_ns;

		if (!lives[i].used || lives[i].writers == 0 || size == WORKFLOW_UNKNOWN ||
			!is_file(w, i))
			continue;
		if (tidy)
			end = earlier(end, safe_deletion(role_of(w, i, &lives[i]), &lives[i]));
		space[n++] = (struct space){ lives[i].first_out_ns, size };
		if (end != GRAPH_NEVER)
			space[n++] = (struct space){ end, -size };
	}
	return n;
}

static int note_space(struct table *table, const struct workflow *w, const struct life *lives)
{
	cleanup_free struct space *space =
		malloc((2 * (size_t)w->graph->n_files + 1) * sizeof(*space));
	char as_it_was[32], tidy[32];

	if (!space)
		return -ENOMEM;
	units_bytes(high_water(space, list_space(w, lives, false, space)), as_it_was,
		sizeof(as_it_was));
	units_bytes(high_water(space, list_space(w, lives, true, space)), tidy, sizeof(tidy));
	table_note(table,
		"The most space that files of the run used: %s; if each intermediate file were deleted after its "
		"last use: %s (by the last sizes of the files).",
		as_it_was, tidy);
	return 0;
}

int analyse_lifecycle(struct table *table, const struct workflow *w, const struct shape *shape,
	const struct analyse_options *options)
{
	cleanup_free struct life *lives = list_lives(w);
	int r;

	(void)shape, (void)options;
	if (!lives)
		return -ENOMEM;
	table_columns(table, "file role size_bytes first_write_ns last_write_ns first_read_ns "
			     "last_use_ns deleted_ns readers "
			     "writers never_read delete_after_ns last_user path");
	for (int32_t i = 0; i < w->graph->n_files; i++)
		if (lives[i].used && is_file(w, i))
			put_life(table, w, i, &lives[i]);
	table_note(table, "role: input, not written in this run; intermediate, read by other processes than its "
		"writers; output, read by no other process; temporary, created and deleted.  delete after: the time "
		"from which on no process needs the file.  last user: a process.");
	r = note_space(table, w, lives);
	return r;
}
