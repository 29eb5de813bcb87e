/* SPDX-License-Identifier: MIT */
#include "dag/generate/generate.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

#include "base/cleanup.h"
#include "dag/output/printable.h"

struct writer {
	yaml_emitter_t emitter;
	const struct jobs *jobs;
	struct printable clean;
	bool failed;
};

static int write_bytes(void *out, unsigned char *bytes, size_t len)
{
	return fwrite(bytes, 1, len, out) == len;
}

/* The emitter takes the event, whether it succeeds or not. */
static void emit(struct writer *w, yaml_event_t *event, int made)
{
	if (w->failed || !made || !yaml_emitter_emit(&w->emitter, event))
		w->failed = true;
}

static void put(struct writer *w, const char *text, yaml_scalar_style_t style)
{
	yaml_event_t event;

	emit(w, &event,
		yaml_scalar_event_initialize(&event, NULL, NULL, (const yaml_char_t *)text,
			(int)strlen(text), 1, 1, style));
}

static void key(struct writer *w, const char *name)
{
	put(w, name, YAML_PLAIN_SCALAR_STYLE);
}

/* Quoted: what looks like a number stays a text. */
static void value(struct writer *w, const char *text)
{
	put(w, text, YAML_DOUBLE_QUOTED_SCALAR_STYLE);
}

static void pair(struct writer *w, const char *name, const char *text)
{
	key(w, name);
	value(w, text);
}

/* A descriptive text: any bytes become UTF-8. */
static void title(struct writer *w, const char *name, const char *text)
{
	pair(w, name, printable_text(&w->clean, text));
}

static void flag(struct writer *w, const char *name, bool is)
{
	key(w, name);
	key(w, is ? "true" : "false");
}

static void begin_map(struct writer *w, bool flow)
{
	yaml_event_t event;

	emit(w, &event,
		yaml_mapping_start_event_initialize(&event, NULL, NULL, 1,
			flow ? YAML_FLOW_MAPPING_STYLE : YAML_BLOCK_MAPPING_STYLE));
}

static void end_map(struct writer *w)
{
	yaml_event_t event;

	emit(w, &event, yaml_mapping_end_event_initialize(&event));
}

static void begin_list(struct writer *w, bool flow)
{
	yaml_event_t event;

	emit(w, &event,
		yaml_sequence_start_event_initialize(&event, NULL, NULL, 1,
			flow ? YAML_FLOW_SEQUENCE_STYLE : YAML_BLOCK_SEQUENCE_STYLE));
}

static void end_list(struct writer *w)
{
	yaml_event_t event;

	emit(w, &event, yaml_sequence_end_event_initialize(&event));
}

/* ---- the workflow ---- */

static void put_use(void *arg, int32_t index, bool input, bool output)
{
	struct writer *w = arg;
	const struct job_file *file = &w->jobs->files[index];
	char size[24];

	if (file->directory)
		return;
	begin_map(w, true);
	pair(w, "lfn", file->path);
	pair(w, "type", input && output ? "inout" : input ? "input" : "output");
	if (output) {
		flag(w, "stageOut", file->kept);
		flag(w, "registerReplica", false);
	}
	snprintf(size, sizeof(size), "%lld", (long long)file->bytes);
	if (file->bytes != WORKFLOW_UNKNOWN)
		pair(w, "size", size);
	end_map(w);
}

/* Names are letters, digits, - and _. */
static void put_name(struct writer *w, const char *name)
{
	cleanup_free char *copy = strdup(name);

	for (char *at = copy; at && *at; at++)
		if (!strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_",
			    *at))
			*at = '_';
	w->failed |= !copy;
	pair(w, "name", copy && *copy ? copy : "unknown");
}

static void put_job(struct writer *w, const struct job *job)
{
	char **argv = job->command == JOBS_NONE ? NULL : w->jobs->commands[job->command].argv;

	begin_map(w, false);
	pair(w, "type", "job");
	pair(w, "id", job->name);
	put_name(w, job_program(w->jobs, job));
	if (job->xform)
		title(w, "nodeLabel", job->xform);
	key(w, "arguments");
	begin_list(w, true);
	for (int i = 1; argv && argv[0] && argv[i]; i++)
		value(w, argv[i]);
	end_list(w);
	key(w, "uses");
	begin_list(w, false);
	job_each_use(job, put_use, w);
	end_list(w);
	end_map(w);
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
	w->failed |= !pairs;
	n = 0;
	for (int32_t i = 0; i < jobs->n_jobs && pairs; i++)
		for (int32_t j = 0; j < jobs->jobs[i].n_deps; j++, n++) {
			pairs[n][0] = jobs->jobs[i].deps[j];
			pairs[n][1] = i;
		}
	if (n == 0 || w->failed)
		return;
	qsort(pairs, n, sizeof(*pairs), compare);
	key(w, "jobDependencies");
	begin_list(w, false);
	for (size_t i = 0; i < n;) {
		int32_t parent = pairs[i][0];

		begin_map(w, false);
		pair(w, "id", jobs->jobs[parent].name);
		key(w, "children");
		begin_list(w, true);
		for (; i < n && pairs[i][0] == parent; i++)
			value(w, jobs->jobs[pairs[i][1]].name);
		end_list(w);
		end_map(w);
	}
	end_list(w);
}

static void put_whole(struct writer *w, const struct generate_facts *facts)
{
	begin_map(w, false);
	pair(w, "pegasus", "5.0");
	title(w, "name", *facts->name ? facts->name : "workflow");
	key(w, "x-pegasus");
	begin_map(w, true);
	pair(w, "createdBy", "ftrac");
	end_map(w);
	key(w, "jobs");
	begin_list(w, false);
	for (int32_t i = 0; i < w->jobs->n_jobs; i++)
		put_job(w, &w->jobs->jobs[i]);
	end_list(w);
	put_dependencies(w);
	end_map(w);
}

int generate_pegasus(const struct jobs *jobs, const struct generate_facts *facts, FILE *out,
	struct failure *failure)
{
	struct writer w = { .jobs = jobs };
	yaml_event_t event;
	int r = generate_check(jobs, "YAML", generate_says_utf8, failure);

	if (r < 0)
		return r;
	if (!yaml_emitter_initialize(&w.emitter))
		return -ENOMEM;
	yaml_emitter_set_output(&w.emitter, write_bytes, out);
	yaml_emitter_set_unicode(&w.emitter, 1);
	yaml_emitter_set_width(&w.emitter, -1);
	emit(&w, &event, yaml_stream_start_event_initialize(&event, YAML_UTF8_ENCODING));
	emit(&w, &event, yaml_document_start_event_initialize(&event, NULL, NULL, NULL, 1));
	put_whole(&w, facts);
	emit(&w, &event, yaml_document_end_event_initialize(&event, 1));
	emit(&w, &event, yaml_stream_end_event_initialize(&event));
	yaml_emitter_delete(&w.emitter);
	if (w.clean.failed)
		w.failed = true;
	printable_finish(&w.clean);
	return w.failed ? ferror(out) ? -EIO : -ENOMEM : 0;
}
