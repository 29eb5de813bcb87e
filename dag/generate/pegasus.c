/* SPDX-License-Identifier: MIT */
#include "dag/generate/generate.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "dag/generate/yaml_writer.h"
#include "dag/output/printable.h"

struct writer {
	struct yaml yaml;
	const struct jobs *jobs;
	struct printable clean;
};

/* A descriptive text: any bytes become UTF-8. */
static void title(struct writer *w, const char *name, const char *text)
{
	yaml_pair(&w->yaml, name, printable_text(&w->clean, text));
}

/* ---- the workflow ---- */

static void put_use(void *arg, int32_t index, bool input, bool output)
{
	struct writer *w = arg;
	const struct job_file *file = &w->jobs->files[index];
	char size[24];

	if (file->directory)
		return;
	yaml_begin_map(&w->yaml, true);
	yaml_pair(&w->yaml, "lfn", file->path);
	yaml_pair(&w->yaml, "type", input && output ? "inout" : input ? "input" : "output");
	if (output) {
		yaml_flag(&w->yaml, "stageOut", file->kept);
		yaml_flag(&w->yaml, "registerReplica", false);
	}
	snprintf(size, sizeof(size), "%lld", (long long)file->bytes);
	if (file->bytes != WORKFLOW_UNKNOWN)
		yaml_pair(&w->yaml, "size", size);
	yaml_end_map(&w->yaml);
}

/* Names are letters, digits, - and _. */
static void put_name(struct writer *w, const char *name)
{
	cleanup_free char *copy = strdup(name);

	for (char *at = copy; at && *at; at++)
		if (!strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_",
			    *at))
			*at = '_';
	w->yaml.failed |= !copy;
	yaml_pair(&w->yaml, "name", copy && *copy ? copy : "unknown");
}

static void put_job(struct writer *w, const struct job *job)
{
	char **argv = job->command == JOBS_NONE ? NULL : w->jobs->commands[job->command].argv;

	yaml_begin_map(&w->yaml, false);
	yaml_pair(&w->yaml, "type", "job");
	yaml_pair(&w->yaml, "id", job->name);
	put_name(w, job_program(w->jobs, job));
	if (job->xform)
		title(w, "nodeLabel", job->xform);
	yaml_key(&w->yaml, "arguments");
	yaml_begin_list(&w->yaml, true);
	for (int i = 1; argv && argv[0] && argv[i]; i++)
		yaml_value(&w->yaml, argv[i]);
	yaml_end_list(&w->yaml);
	yaml_key(&w->yaml, "uses");
	yaml_begin_list(&w->yaml, false);
	job_each_use(job, put_use, w);
	yaml_end_list(&w->yaml);
	yaml_end_map(&w->yaml);
}

static int compare(const void *x, const void *y)
{
	const int32_t *a = x, *b = y;

	if (a[0] != b[0])
		return a[0] < b[0] ? -1 : 1;
	return (a[1] > b[1]) - (a[1] < b[1]);
}

/* Pegasus asks for the children of each job. */
static void put_dependencies(struct writer *w)
{
	const struct jobs *jobs = w->jobs;
	cleanup_free int32_t(*pairs)[2] = NULL;
	size_t n = 0;

	for (int32_t i = 0; i < jobs->n_jobs; i++)
		n += (size_t)jobs->jobs[i].n_deps;
	pairs = malloc((n + 1) * sizeof(*pairs));
	w->yaml.failed |= !pairs;
	n = 0;
	for (int32_t i = 0; i < jobs->n_jobs && pairs; i++)
		for (int32_t j = 0; j < jobs->jobs[i].n_deps; j++, n++) {
			pairs[n][0] = jobs->jobs[i].deps[j];
			pairs[n][1] = i;
		}
	if (n == 0 || w->yaml.failed)
		return;
	qsort(pairs, n, sizeof(*pairs), compare);
	yaml_key(&w->yaml, "jobDependencies");
	yaml_begin_list(&w->yaml, false);
	for (size_t i = 0; i < n;) {
		int32_t parent = pairs[i][0];

		yaml_begin_map(&w->yaml, false);
		yaml_pair(&w->yaml, "id", jobs->jobs[parent].name);
		yaml_key(&w->yaml, "children");
		yaml_begin_list(&w->yaml, true);
		for (; i < n && pairs[i][0] == parent; i++)
			yaml_value(&w->yaml, jobs->jobs[pairs[i][1]].name);
		yaml_end_list(&w->yaml);
		yaml_end_map(&w->yaml);
	}
	yaml_end_list(&w->yaml);
}

static void put_whole(struct writer *w, const struct generate_facts *facts)
{
	yaml_begin_map(&w->yaml, false);
	yaml_pair(&w->yaml, "pegasus", "5.0");
	title(w, "name", *facts->name ? facts->name : "workflow");
	yaml_key(&w->yaml, "x-pegasus");
	yaml_begin_map(&w->yaml, true);
	yaml_pair(&w->yaml, "createdBy", "ftrac");
	yaml_end_map(&w->yaml);
	yaml_key(&w->yaml, "jobs");
	yaml_begin_list(&w->yaml, false);
	for (int32_t i = 0; i < w->jobs->n_jobs; i++)
		put_job(w, &w->jobs->jobs[i]);
	yaml_end_list(&w->yaml);
	put_dependencies(w);
	yaml_end_map(&w->yaml);
}

int generate_pegasus(const struct jobs *jobs, const struct generate_facts *facts, FILE *out,
	struct failure *failure)
{
	struct writer w = { .jobs = jobs };
	int r = generate_check(jobs, "YAML", generate_says_utf8, failure);

	if (r == 0)
		r = yaml_open(&w.yaml, out);
	if (r < 0)
		return r;
	put_whole(&w, facts);
	w.yaml.failed |= w.clean.failed;
	printable_finish(&w.clean);
	return yaml_close(&w.yaml);
}
