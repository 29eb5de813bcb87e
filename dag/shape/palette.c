/* SPDX-License-Identifier: MIT */
#include "dag/shape/palette.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "dag/graph/critical.h"
#include "dag/graph/workflow.h"

/* Okabe and Ito's colours, which colour-blind readers can tell apart, too, then paler and darker ones.  Without those that mean
 * something else in graphs and charts: red, orange, blue, grey. */
static const char *const colours[] = { "#009e73", "#cc79a7", "#56b4e9", "#b8a800", "#4b3f92", "#8c510a", "#4d9221", "#c51b7d",
	"#35978f", "#9e9ac8", "#c7a76c" };
_Static_assert(sizeof(colours) / sizeof(colours[0]) == PALETTE_COLOURS, "as the header says");
static const char none[] = "#999999";

struct entry {
	const char *step;
	double time_ns; /* of processors; their life, if that is not known */
	int64_t begin_ns;
	int32_t process; /* the first of it */
	size_t index;    /* in the order of their begin */
};

struct palette {
	size_t n;
	struct entry *entries; /* in the order of their begin */
	struct entry *by_name; /* the same */
};

static int compare_names(const void *x, const void *y)
{
	return strcmp(((const struct entry *)x)->step, ((const struct entry *)y)->step);
}

static int compare_begins(const void *x, const void *y)
{
	const struct entry *a = x, *b = y;

	if (a->begin_ns != b->begin_ns)
		return a->begin_ns < b->begin_ns ? -1 : 1;
	return (a->process > b->process) - (a->process < b->process);
}

static int compare_both(const void *x, const void *y)
{
	int order = compare_names(x, y);

	return order ? order : compare_begins(x, y);
}

static int compare_times(const void *x, const void *y)
{
	const struct entry *a = x, *b = y;

	return a->time_ns != b->time_ns ? (a->time_ns < b->time_ns) - (a->time_ns > b->time_ns) : compare_begins(x, y);
}

static double time_of(const struct workflow *w, int32_t process)
{
	const struct task *task = workflow_task(w, process);

	return task->cpu_ns != WORKFLOW_UNKNOWN ? (double)task->cpu_ns : (double)(critical_end(w, process) - critical_begin(w, process));
}

/* Each step once, with its first process and the time of all. */
static size_t list(const struct workflow *w, struct entry *entries)
{
	size_t n = 0, kept = 0;

	for (int32_t i = 0; i < w->graph->n_processes; i++) {
		const struct task *task = workflow_task(w, i);

		if (task->chosen && task->step && !critical_is_outside(w, i))
			entries[n++] = (struct entry){ task->step, time_of(w, i), critical_begin(w, i), i, 0 };
	}
	qsort(entries, n, sizeof(*entries), compare_both);
	for (size_t i = 0; i < n; i++)
		if (i == 0 || compare_names(&entries[i], &entries[kept - 1]) != 0)
			entries[kept++] = entries[i];
		else
			entries[kept - 1].time_ns += entries[i].time_ns;
	return kept;
}

int palette_create(const struct workflow *workflow, struct palette **ret_palette)
{
	size_t room = (size_t)workflow->graph->n_processes + 1;
	struct palette *p = calloc(1, sizeof(*p));

	*ret_palette = p;
	if (p) {
		p->entries = calloc(room, sizeof(*p->entries));
		p->by_name = calloc(room, sizeof(*p->by_name));
	}
	if (!p || !p->entries || !p->by_name)
		return -ENOMEM;
	p->n = list(workflow, p->entries);
	qsort(p->entries, p->n, sizeof(*p->entries), compare_times);
	p->n = p->n < PALETTE_COLOURS ? p->n : PALETTE_COLOURS;
	qsort(p->entries, p->n, sizeof(*p->entries), compare_begins);
	for (size_t i = 0; i < p->n; i++)
		p->entries[i].index = i;
	memcpy(p->by_name, p->entries, p->n * sizeof(*p->entries));
	qsort(p->by_name, p->n, sizeof(*p->by_name), compare_names);
	return 0;
}

void palette_destroy(struct palette *palette)
{
	if (!palette)
		return;
	free(palette->entries);
	free(palette->by_name);
	free(palette);
}

size_t palette_count(const struct palette *palette)
{
	return palette->n;
}

const char *palette_step(const struct palette *palette, size_t index)
{
	return palette->entries[index].step;
}

size_t palette_index(const struct palette *palette, const char *step)
{
	const struct entry key = { .step = step }, *found = NULL;

	if (step)
		found = bsearch(&key, palette->by_name, palette->n, sizeof(key), compare_names);
	return found ? found->index : palette->n;
}

const char *palette_colour(const void *arg, const char *step)
{
	const struct palette *palette = arg;
	size_t index = palette_index(palette, step);

	return index < palette->n ? colours[index] : none;
}
