/* SPDX-License-Identifier: MIT */
#include "dag/diff/noise.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/vector.h"
#include "dag/container/hash.h"
#include "dag/diff/names.h"

/* What a process or a file is called, also in other pairs of runs. */
static uint64_t name_of(const struct side *side, int32_t node)
{
	if (node == GRAPH_NONE)
		return 0;
	return side_is_process(side, node) || side->wild[node] || !side->plain[node] ? side->label[node] : side->plain[node];
}

/* Of what one of the runs has; 0: it has nothing. */
static uint64_t key_of(const struct comparison *c, enum find_what what, int32_t process, int32_t other, int run)
{
	const struct side *side = c->match->side[run];

	if ((process == GRAPH_NONE && other == GRAPH_NONE) ||
		(what >= FIND_FORK && what < FIND_WHAT_MAX && (process == GRAPH_NONE || other == GRAPH_NONE)))
		return 0; /* of an edge, both of its ends say which one it is */
	return hash_pair(hash_pair((uint64_t)what, name_of(side, process)),
		what == FIND_PROCESS ? 0 : name_of(side, other));
}

static const struct noisy *find_key(const struct noise *noise, uint64_t key)
{
	for (int32_t i = 0; key && i < noise->n; i++)
		if (noise->noisy[i].key == key)
			return &noise->noisy[i];
	return NULL;
}

static int add_one(struct noise *noise, const struct comparison *c, const struct difference *d, int run, int side)
{
	struct noisy one = { .key = key_of(c, d->what, d->process[run], d->other[run], run), .what = d->what, .side = side };
	const char *path = d->what == FIND_PROCESS || d->what == FIND_FORK || d->other[run] == GRAPH_NONE
				   ? NULL
				   : names_path(c->names, run, side_file(c->match->side[run], d->other[run]));

	if (!one.key || find_key(noise, one.key))
		return 0;
	one.process = d->process[run] == GRAPH_NONE ? NULL : report_process(c, run, d->process[run]);
	one.path = path ? strdup(path) : NULL;
	if ((d->process[run] == GRAPH_NONE || one.process) && (!path || one.path) && vector_push(noise->noisy, noise->n, one) == 0)
		return 0;
	free(one.process);
	free(one.path);
	return -ENOMEM;
}

int noise_add(struct noise *noise, const struct comparison *c, int side)
{
	int r = 0;

	for (int32_t i = 0; i < c->found->n && r == 0; i++)
		for (int run = 0; run < 2 && r == 0; run++)
			r = add_one(noise, c, &c->found->difference[i], run, side);
	for (int32_t i = 0; i < c->found->n_ends && r == 0; i++) {
		const struct difference d = { .what = FIND_WHAT_MAX, .process = { c->found->ends[i], GRAPH_NONE },
			.other = { GRAPH_NONE, GRAPH_NONE } };

		r = add_one(noise, c, &d, 0, side);
	}
	return r;
}

static bool is_noise(const struct noise *noise, const struct comparison *c, const struct difference *d)
{
	for (int run = 0; run < 2; run++)
		if (find_key(noise, key_of(c, d->what, d->process[run], d->other[run], run)))
			return true;
	return false;
}

void noise_take_out(struct noise *noise, const struct comparison *c)
{
	struct found *found = c->found;
	int32_t n = 0;

	for (int32_t i = 0; i < found->n; i++) {
		const struct difference d = found->difference[i];

		if (is_noise(noise, c, &d))
			found->count[d.what][d.change]--;
		else
			found->difference[n++] = d;
	}
	noise->taken += found->n - n;
	found->n = n;
	n = 0;
	for (int32_t i = 0; i < found->n_ends; i++) {
		if (find_key(noise, key_of(c, FIND_WHAT_MAX, found->ends[i], GRAPH_NONE, 0)))
			noise->taken++;
		else
			found->ends[n++] = found->ends[i];
	}
	found->n_ends = n;
}

void noise_finish(struct noise *noise)
{
	for (int32_t i = 0; i < noise->n; i++) {
		free(noise->noisy[i].process);
		free(noise->noisy[i].path);
	}
	free(noise->noisy);
}
