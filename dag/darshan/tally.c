/* SPDX-License-Identifier: MIT */
#include "dag/darshan/tally.h"

#include <string.h>

#include "base/saturate.h"
#include "base/vector.h"

double tally_seconds(int64_t ns)
{
	return (double)ns / 1e9;
}

void stretch_add(struct stretch *s, const struct work *w)
{
	if (!s->any || w->begin_ns < s->first_ns)
		s->first_ns = w->begin_ns;
	s->last_ns = w->end_ns;
	s->any = true;
}

double stretch_start(const struct stretch *s)
{
	return s->any ? tally_seconds(s->first_ns) : 0;
}

double stretch_end(const struct stretch *s)
{
	return s->any ? tally_seconds(s->last_ns) : 0;
}

/* They come in the order of their ends. */
void spent_add(struct spent *s, const struct work *w)
{
	s->ns = saturate_add(s->ns, w->end_ns - (w->begin_ns > s->until_ns ? w->begin_ns : s->until_ns));
	if (w->end_ns > s->until_ns)
		s->until_ns = w->end_ns;
}

int transfers_add(struct transfers *t, const struct work *w)
{
	int64_t ns = w->end_ns - w->begin_ns;

	stretch_add(&t->stretch, w);
	spent_add(&t->spent, w);
	if (ns > t->longest.ns)
		t->longest = (struct longest){ ns, w->bytes };
	return vector_push(t->segments, t->n_segments, (struct darshan_segment){ w->offset, w->bytes, tally_seconds(w->begin_ns),
		tally_seconds(w->end_ns) });
}

int tally_size_class(int64_t bytes)
{
	static const int64_t most[DARSHAN_SIZES - 1] = { 100, 1024, 10240, 102400, 1 << 20, 4 << 20, 10 << 20, 100 << 20, 1 << 30 };
	int class = 0;

	while (class < DARSHAN_SIZES - 1 && bytes > most[class])
		class++;
	return class;
}

int values_add(struct values *v, int64_t value)
{
	return value ? vector_push(v->of, v->n, value) : 0;
}

/* The larger first. */
static int compare(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x < y) - (x > y);
}

static void place(int64_t value, int64_t count, int64_t values[DARSHAN_FREQUENT], int64_t counts[DARSHAN_FREQUENT])
{
	int at = 0;

	while (at < DARSHAN_FREQUENT && counts[at] >= count)
		at++;
	if (at == DARSHAN_FREQUENT)
		return;
	for (int i = DARSHAN_FREQUENT - 1; i > at; i--) {
		values[i] = values[i - 1];
		counts[i] = counts[i - 1];
	}
	values[at] = value;
	counts[at] = count;
}

void values_frequent(struct values *v, int64_t ret_values[DARSHAN_FREQUENT], int64_t ret_counts[DARSHAN_FREQUENT])
{
	memset(ret_values, 0, DARSHAN_FREQUENT * sizeof(*ret_values));
	memset(ret_counts, 0, DARSHAN_FREQUENT * sizeof(*ret_counts));
	if (v->n)
		qsort(v->of, v->n, sizeof(*v->of), compare);
	for (size_t i = 0, next; i < v->n; i = next) {
		for (next = i + 1; next < v->n && v->of[next] == v->of[i]; next++)
			;
		place(v->of[i], (int64_t)(next - i), ret_values, ret_counts);
	}
}
