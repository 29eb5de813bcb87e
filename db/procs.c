/* SPDX-License-Identifier: MIT */
#include "db/procs.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <uthash.h>

#include "db/event.h"
#include "db/figures.h"
#include "db/paths.h"
#include "db/store.h"
#include "db/text.h"

/* /proc has the start in clock ticks; two snapshots of one process never differ by more. */
#define START_GRAIN_NS 20000000

/* A thread.  Older threads with the same id follow in a list. */
struct thread {
	int32_t tid;
	struct process *process;
	int64_t from_ns, to_ns; /* to 0: living */
	struct thread *older;
	UT_hash_handle hh;
};

struct procs {
	struct store *store;
	struct paths *paths;
	struct procs_options options;
	struct thread *threads;
	int64_t last_process, last_image;
	uint64_t began; /* processes of the run */
	uint64_t living;
};

int procs_create(struct store *store, struct paths *paths, const struct procs_options *options,
	struct procs **ret_procs)
{
	struct procs *procs = calloc(1, sizeof(*procs));

	if (!procs)
		return -ENOMEM;
	procs->store = store;
	procs->paths = paths;
	procs->options = *options;
	*ret_procs = procs;
	return 0;
}

uint64_t procs_began(const struct procs *procs)
{
	return procs->began;
}

uint64_t procs_living(const struct procs *procs)
{
	return procs->living;
}

static void process_unref(struct process *process)
{
	if (--process->references > 0)
		return;
	while (process->image) {
		struct image *older = process->image->older;

		free(process->image->before);
		free(process->image);
		process->image = older;
	}
	free(process->cgroup);
	free(process->threads);
	free(process->total);
	free(process);
}

void procs_ref(struct image *image)
{
	if (!image)
		return;
	image->references++;
	image->process->references++;
}

void procs_unref(struct image *image)
{
	if (!image)
		return;
	image->references--;
	process_unref(image->process);
}

static void thread_free(struct thread *thread)
{
	process_unref(thread->process);
	free(thread);
}

void procs_destroy(struct procs *procs)
{
	if (!procs)
		return;
	procs_prune(procs, INT64_MAX);
	free(procs);
}

/* The event of a thread's end may be missing; then the end of its process counts. */
static bool is_over(const struct thread *thread, int64_t time_ns)
{
	int64_t end = thread->to_ns ? thread->to_ns : thread->process->end_ns;

	return time_ns == INT64_MAX || (end && end < time_ns);
}

/* A process may exec any number of times. */
static void prune_images(struct process *process, int64_t time_ns)
{
	struct image **link = process->image ? &process->image->older : NULL;

	while (link && *link) {
		struct image *image = *link;

		if (image->references || !image->end_ns || image->end_ns >= time_ns) {
			link = &image->older;
			continue;
		}
		*link = image->older;
		free(image->before);
		free(image);
		process->images_pruned = true;
	}
}

/* All threads that follow an ended one in the list have ended, too. */
void procs_prune(struct procs *procs, int64_t time_ns)
{
	struct thread *t, *next, *older;

	HASH_ITER(hh, procs->threads, t, next) {
		struct thread **link = &t->older;

		prune_images(t->process, time_ns);
		if (is_over(t, time_ns)) {
			HASH_DEL(procs->threads, t);
			link = &t;
		}
		while (*link && !is_over(*link, time_ns))
			link = &(*link)->older;
		older = *link;
		*link = NULL;
		while (older) {
			struct thread *gone = older;

			older = gone->older;
			thread_free(gone);
		}
	}
}

static int64_t relative(const struct procs *procs, int64_t time_ns)
{
	return time_ns - procs->options.start_ns;
}

/* ---- rows ---- */

static struct value path_value(struct procs *procs, const char *path, size_t len)
{
	struct path known;

	if (!path || paths_intern_native(procs->paths, path, len, &known) < 0)
		return V_NULL;
	return V_INT(known.id);
}

static int put_process(struct procs *procs, const struct process *p)
{
	bool ended = p->end_ns && p->status >= 0;

	return store_put(procs->store, PUT_PROCESS,
		(struct value[]){ V_INT(p->id), V_INT(p->pid), V_OPT(p->ppid > 0, p->ppid),
			V_ID(p->parent), V_OPT(p->ids_known, p->uid),
			V_OPT(p->ids_known, p->gid), V_OPT(p->start_ns, relative(procs, p->start_ns)),
			V_OPT(p->end_ns, relative(procs, p->end_ns)),
			V_OPT(ended && WIFEXITED(p->status), WEXITSTATUS(p->status)),
			V_OPT(ended && WIFSIGNALED(p->status), WTERMSIG(p->status)),
			p->image ? V_INT(p->image->id) : V_NULL, path_value(procs, p->cgroup, p->cgroup ? strlen(p->cgroup) : 0),
			V_INT(p->tier) });
}

static int put_environ(struct procs *procs, int64_t image, const char *vars, size_t len)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < len;) {
		size_t n = strnlen(vars + i, len - i);
		const char *equals = memchr(vars + i, '=', n);

		if (equals) {
			size_t name = equals - (vars + i);

			r = store_put(procs->store, PUT_ENVIRON,
				(struct value[]){ V_INT(image), text_value(vars + i, name),
					text_value(equals + 1, n - name - 1) });
		}
		i += n + 1;
	}
	return r;
}

struct part {
	const char *bytes;
	size_t len;
};

static void get_parts(const char *text, size_t len, struct part parts[PROCESS_PART_MAX])
{
	for (int i = 0; i < PROCESS_PART_MAX; i++)
		parts[i].bytes = text_part(text, len, i, &parts[i].len);
}

static int put_image(struct procs *procs, const struct image *i, const struct part *part)
{
	const struct part none[PROCESS_PART_MAX] = { 0 };
	char *argv = NULL;
	bool exact = true;
	struct value start = V_OPT(i->start_ns, relative(procs, i->start_ns));
	int r;

	part = part ? part : none;
	if (part[PROCESS_ARGV].bytes) {
		argv = text_json_array(part[PROCESS_ARGV].bytes, part[PROCESS_ARGV].len, &exact);
		if (!argv)
			return -ENOMEM;
	}
	r = store_put(procs->store, PUT_IMAGE,
		(struct value[]){ V_INT(i->id), V_INT(i->process->id), V_INT(i->seq),
			V_OPT(i->base != i->id, i->base), start,
			V_OPT(i->end_ns, relative(procs, i->end_ns)),
			path_value(procs, part[PROCESS_EXE].bytes, part[PROCESS_EXE].len),
			path_value(procs, part[PROCESS_CWD].bytes, part[PROCESS_CWD].len),
			text_value(part[PROCESS_COMM].bytes, part[PROCESS_COMM].len), V_STR(argv),
			exact ? V_NULL
			      : V_BYTES(VALUE_BLOB, part[PROCESS_ARGV].bytes, part[PROCESS_ARGV].len),
			path_value(procs, part[PROCESS_STDIN].bytes, part[PROCESS_STDIN].len),
			path_value(procs, part[PROCESS_STDOUT].bytes, part[PROCESS_STDOUT].len),
			path_value(procs, part[PROCESS_STDERR].bytes, part[PROCESS_STDERR].len) });
	free(argv);
	if (r == 0 && i->base == i->id)
		r = store_put(procs->store, PUT_FRESH_IMAGE, &V_INT(i->id));
	return r;
}

/* ---- processes and images ---- */

static struct thread *newest_thread(struct procs *procs, pid_t tid)
{
	struct thread *thread;

	HASH_FIND_INT(procs->threads, &tid, thread);
	return thread;
}

static struct process *living_process(struct procs *procs, pid_t pid)
{
	struct thread *thread = newest_thread(procs, pid);

	return thread && !thread->to_ns && thread->process->pid == pid ? thread->process : NULL;
}

static int add_thread(struct procs *procs, pid_t tid, struct process *process, int64_t from_ns)
{
	struct thread *newest = newest_thread(procs, tid), *thread;

	if (newest && !newest->to_ns && newest->process == process)
		return 0;
	thread = calloc(1, sizeof(*thread));
	if (!thread)
		return -ENOMEM;
	if (newest) { /* the hashed struct stays and becomes the new one, which cannot fail */
		*thread = *newest;
		if (!thread->to_ns)
			thread->to_ns = from_ns;
		newest->older = thread;
		newest->to_ns = 0;
	} else {
		newest = thread;
		newest->tid = tid;
		HASH_ADD_INT(procs->threads, tid, newest);
		if (!newest->hh.tbl) {
			free(newest);
			return -ENOMEM;
		}
	}
	newest->process = process;
	newest->from_ns = from_ns;
	process->references++;
	return 0;
}

/* seq: of the first known image. */
static struct image *add_image(struct procs *procs, struct process *process, int64_t start_ns,
	int seq)
{
	struct image *image = calloc(1, sizeof(*image));

	if (!image)
		return NULL;
	*image = (struct image){ .id = ++procs->last_image, .process = process,
		.start_ns = start_ns, .older = process->image };
	image->base = image->id;
	image->seq = image->older ? image->older->seq + 1 : seq;
	process->image = image;
	return image;
}

static struct process *add_process(struct procs *procs, pid_t pid, pid_t ppid, int64_t start_ns)
{
	const struct process *parent = living_process(procs, ppid);
	struct process *process = calloc(1, sizeof(*process));

	if (!process)
		return NULL;
	*process = (struct process){ .id = ++procs->last_process, .pid = pid, .ppid = ppid,
		.parent = parent ? parent->id : 0, .start_ns = start_ns, .status = -1 };
	if (add_thread(procs, pid, process, start_ns) < 0) {
		free(process);
		return NULL;
	}
	procs->began += start_ns >= procs->options.start_ns;
	procs->living++;
	return process;
}

/* The figures of the process; those that are missing there from its threads. */
static struct figures all_figures(const struct process *process)
{
	const struct figures none = { 0 }, *total = process->total ? process->total : &none;
	struct figures all = process->threads ? *process->threads : none;

	for (int i = 0; i < FIGURE_MAX; i++)
		if (figures_has(total, i))
			figures_set(&all, i, total->value[i]);
	return all;
}

static int put_figures(struct procs *procs, const struct process *process, const struct figures *all)
{
	struct value row[1 + FIGURE_MAX] = { V_INT(process->id) };

	if (!all->known)
		return 0;
	for (int i = 0; i < FIGURE_MAX; i++)
		row[1 + i] = V_OPT(figures_has(all, i), all->value[i]);
	return store_put(procs->store, PUT_FIGURES, row);
}

static int64_t between(int64_t value, int64_t low, int64_t high)
{
	return value < low ? low : value > high ? high : value;
}

/*
 * Makes earlier figures consistent with later ones: no figure may decrease.  User and system time are estimated parts of
 * the CPU time; they are shifted so that neither decreases.
 */
static void fit(struct figures *before, const struct figures *later)
{
	for (int i = 0; i < FIGURE_MAX; i++)
		if (before->value[i] > later->value[i])
			before->value[i] = later->value[i];
	before->known &= later->known;
	before->value[FIGURE_UTIME] = between(before->value[FIGURE_UTIME],
		before->value[FIGURE_CPU] - later->value[FIGURE_STIME], before->value[FIGURE_CPU]);
	before->value[FIGURE_STIME] = before->value[FIGURE_CPU] - before->value[FIGURE_UTIME];
}

static int put_spent(struct procs *procs, const struct image *image, const struct figures *before)
{
	static const enum figure columns[] = { FIGURE_CPU, FIGURE_UTIME, FIGURE_STIME, FIGURE_READ_CHAR,
		FIGURE_WRITE_CHAR, FIGURE_READ_BYTES, FIGURE_WRITE_BYTES, FIGURE_MINFLT,
		FIGURE_MAJFLT };
	struct value row[1 + sizeof(columns) / sizeof(columns[0])] = { V_INT(image->id) };

	for (size_t i = 0; i < sizeof(columns) / sizeof(columns[0]); i++)
		row[1 + i] = V_OPT(figures_has(before, columns[i]), before->value[columns[i]]);
	return before->known ? store_put(procs->store, PUT_SPENT, row) : 0;
}

static int put_used(struct procs *procs, const struct process *process)
{
	struct figures later = all_figures(process);
	int r = put_figures(procs, process, &later);

	for (struct image *image = process->image; image && r == 0; image = image->older) {
		if (!image->before)
			continue;
		fit(image->before, &later);
		later = *image->before;
		r = put_spent(procs, image, &later);
	}
	return r < 0 || !process->images_pruned ? r : store_fit_spent(procs->store, process->id);
}

static int end_process(struct procs *procs, struct process *process, int64_t time_ns, int status)
{
	struct image *image = process->image;
	int r = 0;

	procs->living -= process->end_ns == 0;
	process->end_ns = time_ns;
	process->status = status;
	if (image && !image->end_ns)
		image->end_ns = time_ns;
	if (image)
		r = store_end_image(procs->store, image->id, relative(procs, time_ns));
	if (r == 0)
		r = put_used(procs, process);
	return r < 0 ? r : put_process(procs, process);
}

/* FNV-1a, to compare program and arguments of two images. */
static uint64_t digest_parts(const struct part *parts)
{
	const struct part *of[] = { &parts[PROCESS_EXE], &parts[PROCESS_ARGV] };
	uint64_t hash = 14695981039346656037u;

	if (!parts[PROCESS_ARGV].bytes)
		return 0;
	for (int i = 0; i < 2; i++)
		for (size_t j = 0; j < of[i]->len; j++)
			hash = (hash ^ (unsigned char)of[i]->bytes[j]) * 1099511628211u;
	return hash;
}

static int image_texts(struct procs *procs, struct image *image, const struct part *parts)
{
	int r;

	image->digest = digest_parts(parts);
	snprintf(image->comm, sizeof(image->comm), "%.*s", (int)parts[PROCESS_COMM].len,
		parts[PROCESS_COMM].bytes ? parts[PROCESS_COMM].bytes : "");
	r = put_image(procs, image, parts);
	if (r == 0 && parts[PROCESS_ENVIRON].bytes)
		r = put_environ(procs, image->id, parts[PROCESS_ENVIRON].bytes,
			parts[PROCESS_ENVIRON].len);
	return r;
}

/* Stores texts for an image that has none, also not by a fork. */
static int own_texts(struct procs *procs, struct image *image, const struct part *parts)
{
	if (!parts[PROCESS_ARGV].bytes && !parts[PROCESS_EXE].bytes && !parts[PROCESS_COMM].bytes)
		return 0;
	image->base = image->id;
	return image_texts(procs, image, parts);
}

static int on_fork(struct procs *procs, const struct event *ev)
{
	const struct event_process *e = &ev->u.process;
	struct process *process = living_process(procs, e->pid);
	const struct process *parent;
	struct image *from, *image;
	int r = 0;

	if (process) /* its exit event was lost */
		r = end_process(procs, process, ev->time_ns, -1);
	if (r < 0)
		return r;
	from = procs_find(procs, e->ppid, ev->time_ns);
	parent = living_process(procs, e->ppid);
	process = add_process(procs, e->pid, e->ppid, ev->time_ns);
	image = process ? add_image(procs, process, ev->time_ns, 0) : NULL;
	if (!image)
		return -ENOMEM;
	process->tier = e->tier;
	if (parent) {
		process->uid = parent->uid;
		process->gid = parent->gid;
		process->ids_known = parent->ids_known;
		process->cgroup = parent->cgroup ? strdup(parent->cgroup) : NULL;
		if (parent->cgroup && !process->cgroup)
			return -ENOMEM;
	}
	if (from) {
		image->base = from->base;
		memcpy(image->comm, from->comm, sizeof(image->comm));
		image->digest = from->digest;
	}
	r = put_image(procs, image, NULL);
	return r < 0 ? r : put_process(procs, process);
}

/* A new program in a known process. */
static int next_image(struct procs *procs, struct process *process, const struct event *ev,
	const struct part *parts)
{
	struct image *old = process->image, *image;
	int r = 0;

	if (old && !old->end_ns) {
		old->end_ns = ev->time_ns;
		r = store_end_image(procs->store, old->id, relative(procs, ev->time_ns));
	}
	image = add_image(procs, process, ev->time_ns, 1);
	if (!image)
		return -ENOMEM;
	if (r == 0)
		r = image_texts(procs, image, parts);
	return r;
}

/* Batch systems change the cgroup of a job between fork and exec. */
static int take_cgroup(struct process *process, const struct part *part)
{
	const char *known = process->cgroup;

	if (!part->bytes || (known && strlen(known) == part->len && !memcmp(known, part->bytes, part->len)))
		return 0;
	free(process->cgroup);
	process->cgroup = strndup(part->bytes, part->len);
	return process->cgroup ? 0 : -ENOMEM;
}

static int take_facts(struct process *process, const struct event_process *e,
	const struct part *parts)
{
	int r = take_cgroup(process, &parts[PROCESS_CGROUP]);

	process->tier |= e->tier;
	if (r < 0)
		return r;
	if (!e->known || e->uid == UINT32_MAX)
		return 0;
	process->uid = e->uid;
	process->gid = e->gid;
	process->ids_known = 1;
	return 0;
}

static int on_exec(struct procs *procs, const struct event *ev, const struct part *parts)
{
	struct process *process = living_process(procs, ev->u.process.pid);
	int r;

	if (!process)
		process = add_process(procs, ev->u.process.pid, ev->u.process.ppid, 0);
	if (!process)
		return -ENOMEM;
	store_keep(procs->store);
	r = take_facts(process, &ev->u.process, parts);
	if (r == 0)
		r = next_image(procs, process, ev, parts);
	if (r == 0 && ev->u.process.loaded > 0)
		r = store_put(procs->store, PUT_LOADED,
			(struct value[]){ V_INT(process->image->id), V_INT(ev->u.process.loaded) });
	if (r < 0)
		return r;
	return put_process(procs, process);
}

/* Adds a process without a fork event: it is older than the run, or there is no connector. */
static int discover_process(struct procs *procs, const struct event *ev, const struct part *parts,
	struct process **ret_process)
{
	const struct event_process *e = &ev->u.process;
	const struct process *parent = living_process(procs, e->ppid);
	struct process *process = add_process(procs, e->pid, e->ppid, e->start_ns);
	struct image *image = process ? add_image(procs, process, e->start_ns, 0) : NULL;
	const struct image *from = parent ? parent->image : NULL;

	if (!image)
		return -ENOMEM;
	*ret_process = process;
	/* Another program than the parent's means that the process has called exec itself. */
	if (!from || from->digest != digest_parts(parts))
		image->seq = 1;
	return image_texts(procs, image, parts);
}

/* Children may be reported before their parent, whose number they know.  A process that had the number before was older. */
static int adopt_children(struct procs *procs, const struct process *parent)
{
	struct thread *thread, *next;
	int r = 0;

	HASH_ITER(hh, procs->threads, thread, next) {
		struct process *child = thread->process;

		if (child->parent || child->ppid != parent->pid || child->end_ns || !parent->start_ns ||
			child->start_ns + START_GRAIN_NS < parent->start_ns || thread->tid != child->pid)
			continue;
		child->parent = parent->id;
		r = r < 0 ? r : put_process(procs, child);
	}
	return r;
}

static int on_process(struct procs *procs, const struct event *ev, const struct part *parts)
{
	const struct event_process *e = &ev->u.process;
	struct process *process = living_process(procs, e->pid);
	int r = 0;

	if (process && process->start_ns && e->start_ns > process->start_ns + START_GRAIN_NS) {
		r = end_process(procs, process, e->start_ns, -1); /* the pid is in use again */
		process = NULL;
	}
	if (r < 0)
		return r;
	if (!process) {
		r = discover_process(procs, ev, parts, &process);
		if (r == 0)
			r = adopt_children(procs, process);
	} else if (e->new_image)
		r = next_image(procs, process, ev, parts);
	else if (!process->image->digest)
		r = own_texts(procs, process->image, parts);
	if (r == 0)
		r = take_facts(process, e, parts);
	return r < 0 ? r : put_process(procs, process);
}

static int on_thread(struct procs *procs, const struct event *ev)
{
	struct process *process = living_process(procs, ev->u.process.pid);

	return process ? add_thread(procs, ev->u.process.tid, process, ev->time_ns) : 0;
}

static int on_end(struct procs *procs, const struct event *ev)
{
	const struct event_process *e = &ev->u.process;
	struct thread *thread = newest_thread(procs, e->tid);

	if (!thread || thread->to_ns)
		return 0;
	thread->to_ns = ev->time_ns;
	if (e->tid != thread->process->pid)
		return 0;
	thread->process->tier |= e->tier;
	return end_process(procs, thread->process, ev->time_ns, e->status);
}

/* With a tid: of one more ended thread; without: of the process. */
static int on_figures(struct procs *procs, const struct event *ev, const char *text, size_t len)
{
	struct process *process = living_process(procs, ev->u.process.pid);
	struct figures news, **known;

	if (!process || len != sizeof(news))
		return 0;
	memcpy(&news, text, sizeof(news));
	known = ev->u.process.tid ? &process->threads : &process->total;
	process->tier |= ev->u.process.tier;
	if (*known && ev->u.process.tid) {
		figures_add(*known, &news);
		return 0;
	}
	if (!*known && !(*known = malloc(sizeof(**known))))
		return -ENOMEM;
	**known = news;
	return 0;
}

/* Written now because the older image may be pruned before the process ends. */
static int put_spent_of_older(struct procs *procs, const struct image *image)
{
	const struct image *older = image->older;
	struct figures before;

	if (!older || !older->before)
		return 0;
	before = *older->before;
	fit(&before, image->before);
	return put_spent(procs, older, &before);
}

static int on_before(struct procs *procs, const struct event *ev, const char *text, size_t len)
{
	const struct process *process = living_process(procs, ev->u.process.pid);
	struct image *image = process ? process->image : NULL;

	if (!image || len != sizeof(*image->before))
		return 0;
	if (!image->before && !(image->before = malloc(sizeof(*image->before))))
		return -ENOMEM;
	memcpy(image->before, text, sizeof(*image->before));
	return put_spent_of_older(procs, image);
}

static int on_sample(struct procs *procs, const struct event *ev)
{
	const struct process *process = living_process(procs, ev->u.sample.pid);

	if (!process)
		return 0;
	return store_put(procs->store, PUT_SAMPLE,
		(struct value[]){ V_INT(process->id), V_INT(relative(procs, ev->time_ns)),
			V_OPT(ev->u.sample.rss_bytes >= 0, ev->u.sample.rss_bytes),
			V_OPT(ev->u.sample.cpu_ns >= 0, ev->u.sample.cpu_ns) });
}

int procs_event(struct procs *procs, const struct event *ev, const char *text, size_t len)
{
	struct part parts[PROCESS_PART_MAX];

	if (ev->kind == EVENT_FIGURES)
		return on_figures(procs, ev, text, len);
	if (ev->kind == EVENT_BEFORE)
		return on_before(procs, ev, text, len);
	if (ev->kind == EVENT_SAMPLE)
		return on_sample(procs, ev);
	get_parts(text, len, parts);
	switch (ev->kind) {
	case EVENT_FORK: return on_fork(procs, ev);
	case EVENT_EXEC: return on_exec(procs, ev, parts);
	case EVENT_PROCESS: return on_process(procs, ev, parts);
	case EVENT_THREAD: return on_thread(procs, ev);
	case EVENT_EXIT: return on_end(procs, ev);
	default: return -EINVAL;
	}
}

/* If images of the process were pruned, the image nearest to a time need not be that of the time. */
static bool is_of_time(const struct process *process, const struct image *image, int64_t time_ns)
{
	if (!process->images_pruned)
		return true;
	return image->start_ns <= time_ns && (image == process->image || image->end_ns > time_ns);
}

struct image *procs_find(struct procs *procs, pid_t tid, int64_t time_ns)
{
	struct thread *thread = newest_thread(procs, tid);
	struct image *image;

	if (tid <= 0)
		return NULL;
	while (thread && thread->older && thread->from_ns > time_ns)
		thread = thread->older;
	if (!thread)
		return NULL;
	image = thread->process->image;
	while (image && image->older && image->start_ns > time_ns)
		image = image->older;
	return image && is_of_time(thread->process, image, time_ns) ? image : NULL;
}
