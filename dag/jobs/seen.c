/* SPDX-License-Identifier: MIT */

/* Which files jobs found by their names.  A file that a job used, and not by the name that it has in the end, is renamed. */

#include "dag/jobs/jobs_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/vector.h"
#include "dag/container/path_names.h"

static int32_t job_of(const struct jobs *jobs, const struct name_event *event)
{
	if (jobs->names->by_process)
		return jobs->of[event->process];
	return event->command == JOBS_NONE ? JOBS_NONE : jobs->commands[event->command].job;
}

static int compare_seen(const void *x, const void *y)
{
	const struct job_seen *a = x, *b = y;

	return (a->file > b->file) - (a->file < b->file);
}

/* Each once; it alters the file if it ever did. */
static void sort_seen(struct job *job)
{
	int32_t n = 0;

	if (job->n_seen == 0)
		return;
	qsort(job->seen, (size_t)job->n_seen, sizeof(*job->seen), compare_seen);
	for (int32_t i = 1; i < job->n_seen; i++)
		if (job->seen[i].file == job->seen[n].file)
			job->seen[n].alters |= job->seen[i].alters;
		else
			job->seen[++n] = job->seen[i];
	job->n_seen = n + 1;
}

static void use(void *arg, int32_t index, bool input, bool output)
{
	void **both = arg;
	struct jobs *jobs = both[0];
	const struct job *job = both[1];
	const struct job_seen key = { .file = index };

	(void)input;
	(void)output;
	if (!vector_find(&key, job->seen, (size_t)job->n_seen, sizeof(key), compare_seen))
		jobs->files[index].renamed = true;
}

/* Whether there is one, its first event tells. */
static void find_there(struct jobs *jobs, const int32_t *file_of)
{
	for (int32_t i = jobs->names->n_events - 1; i >= 0; i--) {
		const struct name_event *event = &jobs->names->events[i];
		int32_t file = file_of[event->path];

		if (file != JOBS_NONE)
			jobs->files[file].there = event->did == NAME_REMOVED ||
						  (event->did != NAME_MADE && event->file != GRAPH_NONE);
	}
}

static int add_listed(struct jobs *jobs, struct job *job, int32_t path)
{
	const char *text = path_names_text(jobs->names->names, path);
	const char *directory = jobs_short_path(jobs, text);

	if (job->n_listed && strcmp(job->listed[job->n_listed - 1], directory) == 0)
		return 0;
	return vector_push(job->listed, job->n_listed, directory);
}

static int add_all(struct jobs *jobs, const int32_t *file_of)
{
	int r = 0;

	for (int32_t i = 0; i < jobs->names->n_events && r == 0; i++) {
		const struct name_event *event = &jobs->names->events[i];
		int32_t number = job_of(jobs, event), file = file_of[event->path];
		struct job *job = number == JOBS_NONE ? NULL : &jobs->jobs[number];

		if (job && event->did == NAME_LISTED)
			r = add_listed(jobs, job, event->path);
		if (r == 0 && job && file != JOBS_NONE && event->file != GRAPH_NONE)
			r = vector_push(job->seen, job->n_seen, (struct job_seen){ file, event->did == NAME_CHANGED });
	}
	return r;
}

int jobs_find_seen(struct jobs *jobs)
{
	size_t n = (size_t)path_names_count(jobs->names->names);
	cleanup_free int32_t *file_of = malloc((n + 1) * sizeof(*file_of));
	int r;

	for (size_t i = 0; i < n && file_of; i++)
		file_of[i] = JOBS_NONE;
	for (int32_t i = 0; i < jobs->n_files && file_of; i++)
		if (jobs->files[i].name != PATH_NAMES_NONE)
			file_of[jobs->files[i].name] = i;
	r = file_of ? add_all(jobs, file_of) : -ENOMEM;
	if (r == 0)
		find_there(jobs, file_of);
	for (int32_t i = 0; i < jobs->n_jobs && r == 0; i++) {
		sort_seen(&jobs->jobs[i]);
		job_each_use(&jobs->jobs[i], use, (void *[]){ jobs, &jobs->jobs[i] });
	}
	return r;
}
