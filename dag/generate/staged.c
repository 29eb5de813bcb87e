/* SPDX-License-Identifier: MIT */
#include "dag/generate/staged.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/vector.h"
#include "dag/generate/rules.h"

/* What is known of each file while one job is looked at. */
struct slot {
	int32_t last; /* the job that made it last, of those that the job waits for */
	int32_t of;   /* the job for which .last is known */
	int32_t done; /* the job that has it already */
};

struct build {
	const struct jobs *jobs;
	struct staged *staged;
	struct slot *slots;
	int32_t *levels; /* of each job: the longest way from one that waits for none */
	bool *gives;	 /* each job: something to the one that is looked at */
	bool *is_source; /* each file */
	int32_t now;	 /* the job that is looked at */
	int r;
};

static bool is_staged(const struct job_file *file)
{
	return !file->directory && file->path[0] != '/';
}

static void put_made(void *arg, int32_t index, bool input, bool output)
{
	struct build *b = arg;
	struct staged_job *job = &b->staged->jobs[b->now];

	(void)input;
	if (output && is_staged(&b->jobs->files[index]) && b->r == 0)
		b->r = vector_push(job->makes, job->n_makes, index);
}

static bool is_made(const struct staged_job *job, int32_t file)
{
	for (int32_t i = 0; i < job->n_makes; i++)
		if (job->makes[i] == file)
			return true;
	return false;
}

/* What a job wrote, and files of which it changed the mode. */
static void find_made(struct build *b)
{
	for (b->now = 0; b->now < b->jobs->n_jobs && b->r == 0; b->now++) {
		const struct job *job = &b->jobs->jobs[b->now];
		struct staged_job *mine = &b->staged->jobs[b->now];

		mine->runs = rules_has_effect(job);
		if (!mine->runs)
			continue;
		job_each_use(job, put_made, b);
		for (int32_t i = 0; i < job->n_seen && b->r == 0; i++)
			if (job->seen[i].alters && !is_made(mine, job->seen[i].file))
				put_made(b, job->seen[i].file, false, true);
	}
}

static void find_levels(struct build *b)
{
	bool changed = true;

	while (changed) {
		changed = false;
		for (int32_t i = 0; i < b->jobs->n_jobs; i++)
			for (int32_t j = 0; j < b->jobs->jobs[i].n_deps; j++) {
				int32_t level = b->levels[b->jobs->jobs[i].deps[j]] + 1;

				changed |= level > b->levels[i];
				b->levels[i] = level > b->levels[i] ? level : b->levels[i];
			}
	}
}

/* The job that is looked at can have what this one made. */
static void offer(struct build *b, int32_t from)
{
	const struct staged_job *job = &b->staged->jobs[from];

	b->gives[from] = false;
	for (int32_t i = 0; i < job->n_makes; i++) {
		struct slot *slot = &b->slots[job->makes[i]];

		if (slot->of == b->now && b->levels[slot->last] >= b->levels[from])
			continue;
		slot->of = b->now;
		slot->last = from;
	}
}

/* needed: it read the file, and not only wrote it or looked. */
static void take(struct build *b, int32_t index, bool needed, bool changes)
{
	struct staged_job *mine = &b->staged->jobs[b->now];
	const struct job_file *file = &b->jobs->files[index];
	struct slot *slot = &b->slots[index];
	int32_t from = slot->of == b->now ? slot->last : JOBS_NONE;

	if (!is_staged(file) || slot->done == b->now || (from == JOBS_NONE && !needed && !file->there) || b->r < 0)
		return;
	slot->done = b->now;
	b->r = vector_push(mine->finds, mine->n_finds, (struct staged_file){ index, from, changes });
	if (from != JOBS_NONE)
		b->gives[from] = true;
	else if (b->r == 0 && !b->is_source[index])
		b->r = vector_push(b->staged->sources, b->staged->n_sources, index);
	b->is_source[index] |= from == JOBS_NONE;
}

static void take_used(void *arg, int32_t index, bool input, bool output)
{
	struct build *b = arg;

	take(b, index, input, output);
}

/* Does another one that it waits for wait for it? */
static bool is_implied(const struct build *b, const struct job *job, int32_t other)
{
	for (int32_t i = 0; i < job->n_deps; i++) {
		const struct job *between = &b->jobs->jobs[job->deps[i]];

		for (int32_t j = 0; j < between->n_deps && b->staged->jobs[job->deps[i]].runs; j++)
			if (between->deps[j] == other)
				return true;
	}
	return false;
}

static void look_at(struct build *b)
{
	const struct job *job = &b->jobs->jobs[b->now];
	struct staged_job *mine = &b->staged->jobs[b->now];

	for (int32_t i = 0; i < job->n_deps; i++)
		offer(b, job->deps[i]);
	job_each_use(job, take_used, b);
	for (int32_t i = 0; i < job->n_seen; i++)
		take(b, job->seen[i].file, false, job->seen[i].alters);
	for (int32_t i = 0; i < job->n_deps && b->r == 0; i++)
		if (b->staged->jobs[job->deps[i]].runs && !b->gives[job->deps[i]] && !is_implied(b, job, job->deps[i]))
			b->r = vector_push(mine->after, mine->n_after, job->deps[i]);
}

/* What there is in the end. */
static void look_at_end(struct build *b)
{
	for (int32_t i = 0; i < b->jobs->n_jobs; i++)
		offer(b, i);
	for (int32_t i = 0; i < b->jobs->n_files; i++)
		if (b->slots[i].of == b->now && b->jobs->files[i].kept)
			take(b, i, true, true);
}

static int fill(struct build *b)
{
	size_t n = (size_t)b->jobs->n_jobs + 1, n_files = (size_t)b->jobs->n_files + 1;

	b->staged->jobs = calloc(n, sizeof(*b->staged->jobs));
	b->levels = calloc(n, sizeof(*b->levels));
	b->gives = calloc(n, sizeof(*b->gives));
	b->slots = malloc(n_files * sizeof(*b->slots));
	b->is_source = calloc(n_files, sizeof(*b->is_source));
	if (!b->staged->jobs || !b->levels || !b->gives || !b->slots || !b->is_source)
		return -ENOMEM;
	for (size_t i = 0; i < n_files; i++)
		b->slots[i] = (struct slot){ JOBS_NONE, JOBS_NONE, JOBS_NONE };
	b->staged->n_jobs = b->jobs->n_jobs;
	find_levels(b);
	find_made(b);
	for (b->now = 0; b->now < b->jobs->n_jobs && b->r == 0; b->now++)
		if (b->staged->jobs[b->now].runs)
			look_at(b);
	if (b->r == 0)
		look_at_end(b);
	return b->r;
}

int staged_create(const struct jobs *jobs, struct staged **ret_staged)
{
	struct build b = { .jobs = jobs, .staged = calloc(1, sizeof(*b.staged)) };
	int r = b.staged ? fill(&b) : -ENOMEM;

	free(b.levels);
	free(b.gives);
	free(b.slots);
	free(b.is_source);
	*ret_staged = b.staged;
	return r;
}

void staged_destroy(struct staged *staged)
{
	for (int32_t i = 0; staged && staged->jobs && i <= staged->n_jobs; i++) {
		free(staged->jobs[i].finds);
		free(staged->jobs[i].makes);
		free(staged->jobs[i].after);
	}
	if (staged) {
		free(staged->jobs);
		free(staged->sources);
	}
	free(staged);
}
