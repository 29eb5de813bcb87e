/* SPDX-License-Identifier: MIT */
#include "dag/diff/sides.h"

#include <stdlib.h>

#include "base/failure.h"
#include "dag/diff/figures.h"
#include "dag/diff/noise.h"
#include "dag/diff/options.h"

/* All runs: those of the first side, then those of the second. */
struct runs {
	struct run *run;
	struct figures *figures;
	const int *n; /* of each side */
	int reference[2]; /* of each side, the run that is shown */
	struct noise noise;
};

static int64_t time_of(const struct run *run)
{
	return run->workflow->end_ns - run->workflow->begin_ns;
}

/* The run that takes the median of the times. */
static int find_reference(const struct runs *runs, int first, int n)
{
	for (int i = first; i < first + n; i++) {
		int before = 0;

		for (int k = first; k < first + n; k++)
			before += time_of(&runs->run[k]) < time_of(&runs->run[i]) ||
				  (time_of(&runs->run[k]) == time_of(&runs->run[i]) && k < i);
		if (before == n / 2)
			return i;
	}
	return first;
}

static int load_all(struct runs *runs, const struct diff_options *o, struct failure *failure)
{
	int n = o->n[0] + o->n[1], r = 0;

	runs->run = calloc((size_t)n, sizeof(*runs->run));
	runs->figures = calloc((size_t)n, sizeof(*runs->figures));
	runs->n = o->n;
	if (!runs->run || !runs->figures)
		return failure_memory(failure);
	for (int i = 0; i < n && r == 0; i++)
		r = pair_load_run(&runs->run[i], o, o->traces[i], i >= o->n[0], failure);
	for (int side = 0; side < 2 && r == 0; side++)
		runs->reference[side] = find_reference(runs, side ? o->n[0] : 0, o->n[side]);
	return r;
}

/* Two runs of one side: how they differ is noise. */
static int compare_within(struct runs *runs, const struct diff_options *o, int side, int other, struct failure *failure)
{
	struct pair pair = { 0 };
	const struct run *const both[2] = { &runs->run[runs->reference[side]], &runs->run[other] };
	int r = pair_compare(&pair, both, o, failure);

	if (r == 0) {
		figures_of(pair.side[1], pair.comparison.found, pair.comparison.measurement, 1, &runs->figures[other]);
		r = failure_of_memory(failure, noise_add(&runs->noise, &pair.comparison, side));
	}
	pair_finish(&pair);
	return r;
}

static int compare_all_within(struct runs *runs, const struct diff_options *o, struct failure *failure)
{
	int r = 0;

	for (int i = 0; i < o->n[0] + o->n[1] && r == 0; i++)
		if (i != runs->reference[i >= o->n[0]])
			r = compare_within(runs, o, i >= o->n[0], i, failure);
	return r;
}

/* ---- the whole ---- */

typedef int show_sides(void *arg, const struct comparison *comparison, const struct run *const both[2]);

static int compare(struct runs *runs, const struct diff_options *o, show_sides *show, void *arg, struct failure *failure)
{
	struct pair pair = { 0 };
	struct comparison *c = &pair.comparison;
	const struct run *const both[2] = { &runs->run[runs->reference[0]], &runs->run[runs->reference[1]] };
	int r = pair_compare(&pair, both, o, failure);

	for (int side = 0; side < 2 && r == 0; side++) {
		figures_of(pair.side[side], c->found, c->measurement, side, &runs->figures[runs->reference[side]]);
		c->n_runs[side] = o->n[side];
		c->figures[side] = runs->figures + (side ? o->n[0] : 0);
	}
	if (r == 0) {
		c->noise = &runs->noise;
		noise_take_out(&runs->noise, c);
		r = show(arg, c, both);
	}
	pair_finish(&pair);
	return r;
}

static void finish(struct runs *runs, int n)
{
	for (int i = 0; runs->run && i < n; i++)
		pair_finish_run(&runs->run[i]);
	free(runs->run);
	free(runs->figures);
	noise_finish(&runs->noise);
}

int sides_compare(const struct diff_options *o, show_sides *show, void *arg, bool *ret_whole, struct failure *failure)
{
	struct runs runs = { 0 };
	int r = load_all(&runs, o, failure);

	if (r == 0)
		r = compare_all_within(&runs, o, failure);
	if (r == 0)
		r = compare(&runs, o, show, arg, failure);
	*ret_whole = true;
	for (int i = 0; r == 0 && i < o->n[0] + o->n[1]; i++)
		*ret_whole &= runs.run[i].whole;
	finish(&runs, o->n[0] + o->n[1]);
	return r;
}
