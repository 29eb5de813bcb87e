/* SPDX-License-Identifier: MIT */
#include "dag/shape/palette.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "dag/graph/critical.h"
#include "dag/graph/workflow.h"

/* Okabe and Ito's colours, which colour-blind readers can tell apart, too, then paler and darker ones. */
static const char *const colours[] = { "#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9",
	"#d55e00", "#b8a800", "#777777", "#4b3f92", "#8c510a", "#4d9221", "#c51b7d", "#35978f",
	"#9e9ac8" };
_Static_assert(sizeof(colours) / sizeof(colours[0]) == PALETTE_COLOURS, "as the header says");
static const char none[] = "#999999";

struct entry {
	const char *phase;
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
	return strcmp(((const struct entry *)x)->phase, ((const struct entry *)y)->phase);
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

/* Each phase once, with its first process. */
static size_t list(const struct workflow *w, struct entry *entries)
{
	size_t n = 0, kept = 0;

	for (int32_t i = 0; i < w->graph->n_processes; i++) {
		const struct task *task = workflow_task(w, i);

		if (task->chosen && task->phase && !critical_is_outside(w, i))
			entries[n++] = (struct entry){ task->phase, critical_begin(w, i), i, 0 };
	}
	qsort(entries, n, sizeof(*entries), compare_both);
	for (size_t i = 0; i < n; i++)
		if (i == 0 || compare_names(&entries[i], &entries[kept - 1]) != 0)
			entries[kept++] = entries[i];
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
	qsort(p->entries, p->n, sizeof(*p->entries), compare_begins);
	p->n = p->n < PALETTE_PHASES ? p->n : PALETTE_PHASES;
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

const char *palette_phase(const struct palette *palette, size_t index)
{
	return palette->entries[index].phase;
}

size_t palette_index(const struct palette *palette, const char *phase)
{
	const struct entry key = { .phase = phase }, *found = NULL;

	if (phase)
		found = bsearch(&key, palette->by_name, palette->n, sizeof(key), compare_names);
	return found ? found->index : palette->n;
}

const char *palette_colour(const void *arg, const char *phase)
{
	const struct palette *palette = arg;
	size_t index = palette_index(palette, phase);

	return index < palette->n ? colours[index % PALETTE_COLOURS] : none;
}
