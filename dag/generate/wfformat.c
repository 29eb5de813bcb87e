/* SPDX-License-Identifier: MIT */
#include "dag/generate/generate.h"

#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/cleanup.h"
#include "base/saturate.h"
#include "base/vector.h"
#include "base/version.h"
#include "dag/output/json.h"
#include "dag/output/printable.h"

struct writer {
	const struct jobs *jobs;
	const struct generate_facts *facts;
	struct printable clean;
	int32_t **children;
	int32_t *n_children, *levels;
};

/* A descriptive text, which WfFormat does not let be empty. */
static json_t *text(struct writer *w, const char *bytes, const char *instead)
{
	return json_string(bytes && *bytes ? printable_text(&w->clean, bytes) : instead);
}

/* What is not a digit, a letter or one of _./- is :XX. */
static json_t *file_id(struct writer *w, const char *path)
{
	cleanup_free char *id = malloc(3 * strlen(path) + 1);
	char *at = id;

	for (; id && *path; path++)
		if (strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./-",
			    *path))
			*at++ = *path;
		else
			at += sprintf(at, ":%02X", (unsigned char)*path);
	if (id)
		*at = '\0';
	w->clean.failed |= !id;
	return id ? json_string(id) : NULL;
}

static json_t *date(int64_t ns)
{
	char text[40];
	time_t seconds = (time_t)(ns / 1000000000);
	struct tm tm;

	if (!gmtime_r(&seconds, &tm) ||
		!strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%S+00:00", &tm))
		return json_string("1970-01-01T00:00:00+00:00");
	return json_string(text);
}

/* ---- the graph ---- */

static int find_children(struct writer *w)
{
	size_t n = (size_t)w->jobs->n_jobs + 1;

	w->children = calloc(n, sizeof(*w->children));
	w->n_children = calloc(n, sizeof(*w->n_children));
	w->levels = calloc(n, sizeof(*w->levels));
	if (!w->children || !w->n_children || !w->levels)
		return -ENOMEM;
	for (int32_t i = 0; i < w->jobs->n_jobs; i++)
		for (int32_t j = 0; j < w->jobs->jobs[i].n_deps; j++) {
			int32_t parent = w->jobs->jobs[i].deps[j];

			if (vector_push(w->children[parent], w->n_children[parent], i) < 0)
				return -ENOMEM;
		}
	return 0;
}

/* The longest way from a job that waits for no other. */
static int find_levels(struct writer *w)
{
	int32_t n = w->jobs->n_jobs, ready = 0, done = 0;
	cleanup_free int32_t *queue = malloc(((size_t)n + 1) * sizeof(*queue)),
			     *left = malloc(((size_t)n + 1) * sizeof(*left));

	for (int32_t i = 0; i < n && queue && left; i++) {
		left[i] = w->jobs->jobs[i].n_deps;
		if (left[i] == 0)
			queue[ready++] = i;
	}
	while (queue && left && done < ready) {
		int32_t job = queue[done++];

		for (int32_t i = 0; i < w->n_children[job]; i++) {
			int32_t child = w->children[job][i];

			if (w->levels[child] <= w->levels[job])
				w->levels[child] = w->levels[job] + 1;
			if (--left[child] == 0)
				queue[ready++] = child;
		}
	}
	return queue && left ? 0 : -ENOMEM;
}

/* ---- the specification ---- */

static json_t *names(struct writer *w, const int32_t *jobs, int32_t n)
{
	json_t *array = json_array();

	for (int32_t i = 0; i < n; i++)
		json_array_append_new(array, json_string(w->jobs->jobs[jobs[i]].name));
	return array;
}

static json_t *paths(struct writer *w, const int32_t *files, int32_t n)
{
	json_t *array = json_array();

	for (int32_t i = 0; i < n; i++)
		if (!w->jobs->files[files[i]].directory)
			json_array_append_new(array, file_id(w, w->jobs->files[files[i]].path));
	return array;
}

static json_t *specification_task(struct writer *w, int32_t index)
{
	const struct job *job = &w->jobs->jobs[index];

	return json_pack("{s:o,s:s,s:o,s:o,s:o,s:o}", "name", text(w, job->xform, "unknown"), "id",
		job->name, "parents", names(w, job->deps, job->n_deps), "children",
		names(w, w->children[index], w->n_children[index]), "inputFiles",
		paths(w, job->inputs, job->n_inputs), "outputFiles",
		paths(w, job->outputs, job->n_outputs));
}

/* Files that a job has to do with, in the order of their first one. */
static json_t *files(struct writer *w, int64_t *ret_n, int64_t *ret_bytes)
{
	const struct jobs *jobs = w->jobs;
	cleanup_free bool *listed = calloc((size_t)jobs->n_files + 1, sizeof(*listed));
	json_t *array = json_array();

	*ret_n = *ret_bytes = 0;
	for (int32_t i = 0; i < jobs->n_jobs && listed; i++) {
		const struct job *job = &jobs->jobs[i];

		for (int32_t j = 0; j < job->n_inputs + job->n_outputs; j++) {
			int32_t index = j < job->n_inputs ? job->inputs[j]
							  : job->outputs[j - job->n_inputs];
			const struct job_file *file = &jobs->files[index];
			int64_t bytes = file->bytes == WORKFLOW_UNKNOWN ? 0 : file->bytes;

			if (listed[index] || file->directory)
				continue;
			listed[index] = true;
			++*ret_n;
			*ret_bytes = saturate_add(*ret_bytes, bytes);
			json_array_append_new(array,
				json_pack("{s:o,s:I}", "id", file_id(w, file->path), "sizeInBytes",
					(json_int_t)bytes));
		}
	}
	if (!listed) {
		json_decref(array);
		array = NULL;
	}
	return array;
}

static json_t *specification_metrics(struct writer *w, int64_t n_files, int64_t bytes)
{
	int32_t n = w->jobs->n_jobs, levels = 0, least = n, most = 0;
	cleanup_free int32_t *width = calloc((size_t)n + 1, sizeof(*width));

	for (int32_t i = 0; i < n && width; i++) {
		width[w->levels[i]]++;
		levels = w->levels[i] >= levels ? w->levels[i] + 1 : levels;
	}
	for (int32_t i = 0; i < levels; i++) {
		least = width[i] < least ? width[i] : least;
		most = width[i] > most ? width[i] : most;
	}
	return width ? json_pack("{s:i,s:I,s:I,s:i,s:i,s:i}", "numberOfTasks", n, "numberOfFiles",
			       (json_int_t)n_files, "sumOfFileSizesInBytes", (json_int_t)bytes,
			       "numberOfLevels", levels, "minimumWidth", least, "maximumWidth",
			       most)
		     : NULL;
}

static json_t *specification(struct writer *w)
{
	int64_t n_files, bytes;
	json_t *tasks = json_array(), *all = files(w, &n_files, &bytes), *object;

	for (int32_t i = 0; i < w->jobs->n_jobs; i++)
		json_array_append_new(tasks, specification_task(w, i));
	object = json_pack("{s:o,s:o}", "tasks", tasks, "files", all);
	if (w->facts->wfformat >= 6)
		json_object_set_new(object, "metrics", specification_metrics(w, n_files, bytes));
	return object;
}

/* ---- the execution ---- */

/* An empty word is written as a shell would need it, since texts must not be empty. */
static json_t *word(const char *bytes)
{
	return json_string(*bytes ? bytes : "\"\"");
}

static json_t *command(struct writer *w, const struct job *job)
{
	char **argv = job->command == JOBS_NONE ? NULL : w->jobs->commands[job->command].argv;
	json_t *arguments;

	if (!argv || !argv[0] || !generate_says_command(w->jobs, job, generate_says_utf8))
		return NULL;
	arguments = json_array();
	for (int i = 1; argv[i]; i++)
		json_array_append_new(arguments, word(argv[i]));
	return json_pack("{s:o,s:o}", "program", word(argv[0]), "arguments", arguments);
}

static void set_int(json_t *object, const char *key, int64_t number)
{
	if (number != WORKFLOW_UNKNOWN)
		json_object_set_new(object, key, json_integer(number));
}

static json_t *execution_task(struct writer *w, const struct job *job)
{
	double wall = (double)generate_runtime_ns(w->facts, job) / 1e9;
	double cpu = job->cpu_ns == WORKFLOW_UNKNOWN ? -1 : (double)job->cpu_ns / 1e9;
	json_t *object = json_pack("{s:s,s:f,s:o,s:[o]}", "id", job->name, "runtimeInSeconds", wall,
		"executedAt", date(job->start_ns), "machines", text(w, w->facts->host, "unknown"));
	json_t *said = command(w, job);

	if (said)
		json_object_set_new(object, "command", said);
	if (cpu >= 0 && wall > 0) {
		json_object_set_new(object, "avgCPU", json_real(100 * cpu / wall));
	}
	if (job_cores(job))
		set_int(object, "coreCount", job_cores(job));
	set_int(object, "readBytes", job->read_bytes);
	set_int(object, "writtenBytes", job->written_bytes);
	set_int(object, "memoryInBytes", job->rss_bytes);
	return object;
}

static json_t *machine(struct writer *w)
{
	const struct generate_facts *f = w->facts;
	json_t *cpu = json_object(), *object = json_pack("{s:s,s:o}", "system", "linux", "nodeName",
					     text(w, f->host, "unknown"));

	if (*f->kernel)
		json_object_set_new(object, "release", text(w, f->kernel, ""));
	if (f->memory_bytes > 0)
		set_int(object, "memoryInBytes", f->memory_bytes);
	if (f->cpus > 0)
		set_int(cpu, "coreCount", f->cpus);
	if (*f->cpu_model)
		json_object_set_new(cpu, "vendor", text(w, f->cpu_model, ""));
	json_object_set_new(object, "cpu", cpu);
	return object;
}

/* A sum of which a part is not known is left out. */
static json_t *execution_metrics(struct writer *w)
{
	double seconds = 0;
	int64_t read = 0, written = 0;
	json_t *object;

	for (int32_t i = 0; i < w->jobs->n_jobs; i++) {
		const struct job *job = &w->jobs->jobs[i];

		seconds += (double)generate_runtime_ns(w->facts, job) / 1e9;
		read = job_sum(read, job->read_bytes);
		written = job_sum(written, job->written_bytes);
	}
	object = json_pack("{s:f}", "sumTaskRuntimesInSeconds", seconds);
	set_int(object, "totalNumBytesRead", read);
	set_int(object, "totalNumBytesWritten", written);
	return object;
}

static json_t *execution(struct writer *w)
{
	json_t *tasks = json_array(), *object;
	int64_t span = w->facts->end_ns - w->facts->begin_ns;

	for (int32_t i = 0; i < w->jobs->n_jobs; i++)
		json_array_append_new(tasks, execution_task(w, &w->jobs->jobs[i]));
	object = json_pack("{s:f,s:o,s:o,s:[o]}", "makespanInSeconds",
		span > 0 ? (double)span / 1e9 : 0.0, "executedAt", date(w->facts->begin_ns),
		"tasks", tasks, "machines", machine(w));
	if (w->facts->wfformat >= 6)
		json_object_set_new(object, "metrics", execution_metrics(w));
	return object;
}

/* ---- the whole ---- */

static json_t *author(struct writer *w)
{
	const char *user = *w->facts->user ? w->facts->user : "unknown";
	const char *host = *w->facts->host ? w->facts->host : "localhost";
	cleanup_free char *email = NULL;
	json_t *object;

	if (asprintf(&email, "%s@%s", user, host) < 0)
		return NULL;
	object = json_pack("{s:o,s:o}", "name", text(w, user, ""), "email", text(w, email, ""));
	return object;
}

static json_t *whole(struct writer *w)
{
	const struct generate_facts *f = w->facts;
	char version[] = { '1', '.', (char)('0' + f->wfformat), '\0' };

	return json_pack("{s:o,s:s,s:s,s:o,s:o,s:{s:s,s:s,s:s},s:{s:o,s:o}}", "name",
		text(w, f->name, "workflow"), "description", "What ran, as traced by ftrac",
		"schemaVersion", version, "createdAt", date(f->begin_ns), "author", author(w),
		"runtimeSystem", "name", "ftrac", "version", FTRAC_VERSION, "url",
		"https://example.org/ftrac", "workflow", "specification", specification(w),
		"execution", execution(w));
}

static void finish(struct writer *w)
{
	for (int32_t i = 0; i < w->jobs->n_jobs && w->children; i++)
		free(w->children[i]);
	free(w->children);
	free(w->n_children);
	free(w->levels);
	printable_finish(&w->clean);
}

int generate_wfformat(const struct jobs *jobs, const struct generate_facts *facts, FILE *out)
{
	struct writer w = { .jobs = jobs, .facts = facts };
	json_t *json = NULL;
	int r = find_children(&w);

	if (r == 0)
		r = find_levels(&w);
	if (r == 0)
		json = whole(&w);
	if (r == 0 && (!json || w.clean.failed || json_memory_failed()))
		r = -ENOMEM;
	if (r == 0 && (json_dumpf(json, out, JSON_INDENT(1) | JSON_REAL_PRECISION(15)) != 0 ||
			      fputc('\n', out) == EOF))
		r = -EIO;
	json_decref(json);
	finish(&w);
	return r;
}
