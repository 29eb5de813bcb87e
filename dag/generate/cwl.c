/* SPDX-License-Identifier: MIT */

/*
 * Common Workflow Language v1.2: https://www.commonwl.org/v1.2/
 *
 * Each job is a step with a CommandLineTool of its own, which runs in a directory with the files that it finds (staged.h).  The files that
 * were there before are inputs of the workflow, and have a default: their paths, relative to the document.  A last step puts what is there in
 * the end into one directory tree, which CWL has no other way to say.
 */

#include "dag/generate/generate.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/cli.h"
#include "base/failure.h"
#include "base/output.h"
#include "base/utf8.h"
#include "dag/generate/rules.h"
#include "dag/generate/staged.h"
#include "dag/generate/yaml_writer.h"
#include "dag/output/json.h"
#include "dag/output/printable.h"

#define MIB (1 << 20)
#define TREE "tree"

struct writer {
	struct yaml yaml;
	const struct jobs *jobs;
	struct staged *staged;
	struct rules root; /* where texts say it, only */
	struct printable clean;
};

/* ---- texts ---- */

static bool is_expression(const char *text)
{
	return strstr(text, "$(") || strstr(text, "${");
}

static const char *escape(const char *at)
{
	return *at == '\\' ? "\\\\" : *at == '$' && (at[1] == '(' || at[1] == '{') ? "\\$" : NULL;
}

/* Of a pattern: [x] is x. */
static const char *escape_pattern(const char *at)
{
	static const char *const texts[] = { "[*]", "[?]", "[[]" };
	const char *special = "*?[", *found = strchr(special, *at);

	return found ? texts[found - special] : *at == '\\' ? "[\\]" : NULL;
}

/* A name whose text is an expression loses blanks at its ends. */
static bool says(const char *name)
{
	size_t len = strlen(name);

	return len && utf8_is_text(name, UTF8_CONTROLS) &&
	       !(is_expression(name) && (isspace((unsigned char)name[0]) || isspace((unsigned char)name[len - 1])));
}

/* A text that CWL takes for itself, in which here stands for the root; NULL: out of memory. */
static char *literal(const struct writer *w, const char *text, const char *here)
{
	char *said = NULL;
	size_t size;
	FILE *out = open_memstream(&said, &size);

	if (!out)
		return NULL;
	rules_write(&w->root, text, here, escape, out);
	said = output_close_text(out, &said);
	if (said && !is_expression(said)) {
		free(said);
		said = strdup(text);
	}
	return said;
}

static void put_literal(struct writer *w, const char *text, const char *here)
{
	cleanup_free char *said = literal(w, text, here);

	w->yaml.failed |= !said;
	yaml_value(&w->yaml, said ? said : "");
}

static void put_pattern(struct writer *w, const char *name)
{
	char *pattern = NULL;
	size_t size;
	FILE *out = open_memstream(&pattern, &size);

	if (out) {
		rules_write(&w->root, name, NULL, escape_pattern, out);
		pattern = output_close_text(out, &pattern);
	}
	w->yaml.failed |= !pattern;
	put_literal(w, pattern ? pattern : "", NULL);
	free(pattern);
}

/* ---- ports ---- */

struct port {
	char text[24];
};

/* What a tool finds and what it makes have different names, also if that is one file. */
static struct port port(int32_t file)
{
	struct port port;

	snprintf(port.text, sizeof(port.text), "f%d", file);
	return port;
}

static struct port made_port(int32_t file)
{
	struct port port;

	snprintf(port.text, sizeof(port.text), "f%d_made", file);
	return port;
}

static void put_type(struct writer *w, struct port name, int32_t file)
{
	yaml_key(&w->yaml, name.text);
	yaml_begin_map(&w->yaml, false);
	yaml_pair(&w->yaml, "type", "File");
	yaml_pair(&w->yaml, "label", w->jobs->files[file].path);
}

static void put_source(struct writer *w, int32_t file)
{
	cleanup_free char *uri = json_uri_text(w->jobs->files[file].path);

	w->yaml.failed |= !uri;
	put_type(w, port(file), file);
	yaml_key(&w->yaml, "default");
	yaml_begin_map(&w->yaml, true);
	yaml_pair(&w->yaml, "class", "File");
	yaml_pair(&w->yaml, "location", uri ? uri : "");
	yaml_end_map(&w->yaml);
	yaml_end_map(&w->yaml);
}

static void put_link(struct writer *w, const char *input, const char *step, const char *output)
{
	cleanup_free char *from = NULL;

	if (asprintf(&from, "%s/%s", step, output) < 0)
		from = NULL;
	w->yaml.failed |= !from;
	yaml_pair(&w->yaml, input, from ? from : "");
}

/* ---- a tool ---- */

static void put_entry(struct writer *w, const struct staged_file *file, const char *folder)
{
	cleanup_free char *name = NULL;
	char entry[40];

	if (asprintf(&name, "%s%s", folder, w->jobs->files[file->file].path) < 0)
		name = NULL;
	w->yaml.failed |= !name;
	snprintf(entry, sizeof(entry), "$(inputs.%s)", port(file->file).text);
	yaml_begin_map(&w->yaml, false);
	yaml_key(&w->yaml, "entryname");
	put_literal(w, name ? name : "", NULL);
	yaml_pair(&w->yaml, "entry", entry);
	yaml_flag(&w->yaml, "writable", file->changes);
	yaml_end_map(&w->yaml);
}

static void put_listing(struct writer *w, const struct staged_job *job, const char *folder)
{
	yaml_key(&w->yaml, "requirements");
	yaml_begin_map(&w->yaml, false);
	yaml_key(&w->yaml, "InitialWorkDirRequirement");
	yaml_begin_map(&w->yaml, false);
	yaml_key(&w->yaml, "listing");
	yaml_begin_list(&w->yaml, false);
	for (int32_t i = 0; i < job->n_finds; i++)
		put_entry(w, &job->finds[i], folder);
	yaml_end_list(&w->yaml);
	yaml_end_map(&w->yaml);
	yaml_end_map(&w->yaml);
}

static void put_memory(struct writer *w, const struct job *job)
{
	if (job->rss_bytes == WORKFLOW_UNKNOWN)
		return;
	yaml_key(&w->yaml, "hints");
	yaml_begin_map(&w->yaml, false);
	yaml_key(&w->yaml, "ResourceRequirement");
	yaml_begin_map(&w->yaml, true);
	yaml_number(&w->yaml, "ramMin", job->rss_bytes / MIB + 1);
	yaml_end_map(&w->yaml);
	yaml_end_map(&w->yaml);
}

static void put_command(struct writer *w, const char *command)
{
	yaml_key(&w->yaml, "baseCommand");
	yaml_begin_list(&w->yaml, true);
	yaml_value(&w->yaml, "/bin/sh");
	yaml_value(&w->yaml, "-c");
	yaml_end_list(&w->yaml);
	yaml_key(&w->yaml, "arguments");
	yaml_begin_list(&w->yaml, false);
	put_literal(w, command, "$(runtime.outdir)");
	yaml_end_list(&w->yaml);
}

static void put_inputs(struct writer *w, const struct staged_job *job)
{
	yaml_key(&w->yaml, "inputs");
	yaml_begin_map(&w->yaml, job->n_finds + job->n_after == 0);
	for (int32_t i = 0; i < job->n_finds; i++)
		yaml_pair(&w->yaml, port(job->finds[i].file).text, "File");
	for (int32_t i = 0; i < job->n_after; i++)
		yaml_pair(&w->yaml, w->jobs->jobs[job->after[i]].name, "int");
	yaml_end_map(&w->yaml);
}

/* Others wait for the exit status of a job that gives them no file. */
static void put_outputs(struct writer *w, const struct staged_job *job)
{
	yaml_key(&w->yaml, "outputs");
	yaml_begin_map(&w->yaml, false);
	for (int32_t i = 0; i < job->n_makes; i++) {
		put_type(w, made_port(job->makes[i]), job->makes[i]);
		yaml_key(&w->yaml, "outputBinding");
		yaml_begin_map(&w->yaml, true);
		yaml_key(&w->yaml, "glob");
		put_pattern(w, w->jobs->files[job->makes[i]].path);
		yaml_end_map(&w->yaml);
		yaml_end_map(&w->yaml);
	}
	yaml_key(&w->yaml, "status");
	yaml_begin_map(&w->yaml, false);
	yaml_pair(&w->yaml, "type", "int");
	yaml_key(&w->yaml, "outputBinding");
	yaml_begin_map(&w->yaml, true);
	yaml_pair(&w->yaml, "outputEval", "$(runtime.exitCode)");
	yaml_end_map(&w->yaml);
	yaml_end_map(&w->yaml);
	yaml_end_map(&w->yaml);
}

/* ---- directories ---- */

static bool makes_directory(const struct writer *w, const struct job *job, const char *path, size_t len)
{
	for (int32_t i = 0; job && i < job->n_outputs; i++) {
		const struct job_file *file = &w->jobs->files[job->outputs[i]];

		if (file->directory && strlen(file->path) == len && strncmp(file->path, path, len) == 0)
			return true;
	}
	return false;
}

/* One that the job does not make itself, and that is below the root. */
static void put_directory(const struct writer *w, const struct job *job, const char *path, size_t len, int *n, FILE *out)
{
	cleanup_free char *copy = strndup(path, len);

	if (len == 0 || path[0] == '/' || !copy || makes_directory(w, job, path, len))
		return;
	fputs((*n)++ ? " " : "mkdir -p -- ", out);
	cli_put_quoted(copy, out);
}

static void put_above(const struct writer *w, const struct job *job, const char *path, int *n, FILE *out)
{
	const char *slash = strrchr(path, '/');

	if (slash)
		put_directory(w, job, path, (size_t)(slash - path), n, out);
}

/* The directories that a job needs, then its command; to be freed. */
static char *command_of(const struct writer *w, int32_t index)
{
	const struct job *job = &w->jobs->jobs[index];
	const struct staged_job *mine = &w->staged->jobs[index];
	cleanup_free char *command = rules_command(job, NULL);
	char *text = NULL, *line;
	size_t size;
	int n = 0;
	FILE *out = command ? open_memstream(&text, &size) : NULL;

	if (!out)
		return NULL;
	if (job->cwd && strcmp(job->cwd, ".") != 0)
		put_directory(w, job, job->cwd, strlen(job->cwd), &n, out);
	for (int32_t i = 0; i < job->n_seen; i++) {
		const struct job_file *file = &w->jobs->files[job->seen[i].file];

		if (file->directory && strcmp(file->path, ".") != 0)
			put_directory(w, job, file->path, strlen(file->path), &n, out);
	}
	for (int32_t i = 0; i < job->n_listed; i++)
		if (strcmp(job->listed[i], ".") != 0)
			put_directory(w, job, job->listed[i], strlen(job->listed[i]), &n, out);
	for (int32_t i = 0; i < mine->n_makes; i++)
		put_above(w, job, w->jobs->files[mine->makes[i]].path, &n, out);
	fprintf(out, "%s%s", n ? " || exit; " : "", command);
	text = output_close_text(out, &text);
	if (!text || utf8_is_text(text, UTF8_CONTROLS))
		return text;
	line = rules_one_line(text);
	free(text);
	return line;
}

/* ---- steps ---- */

static void put_in(struct writer *w, const struct staged_job *job)
{
	yaml_key(&w->yaml, "in");
	yaml_begin_map(&w->yaml, job->n_finds + job->n_after == 0);
	for (int32_t i = 0; i < job->n_finds; i++) {
		const struct staged_file *file = &job->finds[i];

		if (file->from == JOBS_NONE)
			yaml_pair(&w->yaml, port(file->file).text, port(file->file).text);
		else
			put_link(w, port(file->file).text, w->jobs->jobs[file->from].name, made_port(file->file).text);
	}
	for (int32_t i = 0; i < job->n_after; i++)
		put_link(w, w->jobs->jobs[job->after[i]].name, w->jobs->jobs[job->after[i]].name, "status");
	yaml_end_map(&w->yaml);
}

static void put_step(struct writer *w, int32_t index)
{
	const struct job *job = &w->jobs->jobs[index];
	const struct staged_job *mine = &w->staged->jobs[index];
	cleanup_free char *command = command_of(w, index);

	w->yaml.failed |= !command;
	yaml_key(&w->yaml, job->name);
	yaml_begin_map(&w->yaml, false);
	put_in(w, mine);
	yaml_key(&w->yaml, "out");
	yaml_begin_list(&w->yaml, true);
	for (int32_t i = 0; i < mine->n_makes; i++)
		yaml_value(&w->yaml, made_port(mine->makes[i]).text);
	yaml_value(&w->yaml, "status");
	yaml_end_list(&w->yaml);
	yaml_key(&w->yaml, "run");
	yaml_begin_map(&w->yaml, false);
	yaml_pair(&w->yaml, "class", "CommandLineTool");
	if (job->xform)
		yaml_pair(&w->yaml, "label", printable_text(&w->clean, job->xform));
	put_listing(w, mine, "");
	put_memory(w, job);
	put_command(w, command ? command : "");
	put_inputs(w, mine);
	put_outputs(w, mine);
	yaml_end_map(&w->yaml);
	yaml_end_map(&w->yaml);
}

/* ---- what there is in the end ---- */

static bool is_kept_directory(const struct job_file *file)
{
	return file->directory && file->written && file->kept && file->path[0] != '/' && strcmp(file->path, ".") != 0 && says(file->path);
}

/* The tree, with the directories that jobs made, which may be empty. */
static char *make_tree(const struct writer *w)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return NULL;
	fputs("mkdir -p " TREE " && cd " TREE " && mkdir -p -- .", out);
	for (int32_t i = 0; i < w->jobs->n_files; i++)
		if (is_kept_directory(&w->jobs->files[i])) {
			fputc(' ', out);
			cli_put_quoted(w->jobs->files[i].path, out);
		}
	return output_close_text(out, &text);
}

static void put_end(struct writer *w)
{
	const struct staged_job *end = staged_end(w->staged);
	cleanup_free char *command = make_tree(w);

	w->yaml.failed |= !command;
	yaml_key(&w->yaml, "result");
	yaml_begin_map(&w->yaml, false);
	put_in(w, end);
	yaml_key(&w->yaml, "out");
	yaml_begin_list(&w->yaml, true);
	yaml_value(&w->yaml, TREE);
	yaml_end_list(&w->yaml);
	yaml_key(&w->yaml, "run");
	yaml_begin_map(&w->yaml, false);
	yaml_pair(&w->yaml, "class", "CommandLineTool");
	put_listing(w, end, TREE "/");
	put_command(w, command ? command : "");
	put_inputs(w, end);
	yaml_key(&w->yaml, "outputs");
	yaml_begin_map(&w->yaml, false);
	yaml_key(&w->yaml, TREE);
	yaml_begin_map(&w->yaml, false);
	yaml_pair(&w->yaml, "type", "Directory");
	yaml_key(&w->yaml, "outputBinding");
	yaml_begin_map(&w->yaml, true);
	yaml_pair(&w->yaml, "glob", TREE);
	for (int i = 0; i < 5; i++)
		yaml_end_map(&w->yaml);
}

/* ---- the whole ---- */

static void put_whole(struct writer *w, const struct generate_facts *facts)
{
	yaml_begin_map(&w->yaml, false);
	yaml_pair(&w->yaml, "cwlVersion", "v1.2");
	yaml_pair(&w->yaml, "class", "Workflow");
	yaml_pair(&w->yaml, "label", *facts->name ? printable_text(&w->clean, facts->name) : "workflow");
	yaml_key(&w->yaml, "inputs");
	yaml_begin_map(&w->yaml, w->staged->n_sources == 0);
	for (int32_t i = 0; i < w->staged->n_sources; i++)
		put_source(w, w->staged->sources[i]);
	yaml_end_map(&w->yaml);
	yaml_key(&w->yaml, "outputs");
	yaml_begin_map(&w->yaml, false);
	yaml_key(&w->yaml, TREE);
	yaml_begin_map(&w->yaml, false);
	yaml_pair(&w->yaml, "type", "Directory");
	yaml_pair(&w->yaml, "outputSource", "result/" TREE);
	yaml_end_map(&w->yaml);
	yaml_end_map(&w->yaml);
	yaml_key(&w->yaml, "steps");
	yaml_begin_map(&w->yaml, false);
	for (int32_t i = 0; i < w->jobs->n_jobs; i++)
		if (w->staged->jobs[i].runs)
			put_step(w, i);
	put_end(w);
	yaml_end_map(&w->yaml);
	yaml_end_map(&w->yaml);
}

/* ---- what cannot be said ---- */

static int refuse(const struct jobs *jobs, int32_t index, const char *why, struct failure *failure)
{
	struct printable clean = { 0 };
	const char *shown = printable_text(&clean, jobs->files[index].path);
	int r = clean.failed ? -ENOMEM : failure_set(failure, -EILSEQ, "CWL cannot express %s '%.200s'", why, shown);

	printable_finish(&clean);
	return r;
}

static int check(const struct jobs *jobs, const struct staged *staged, struct failure *failure)
{
	for (int32_t i = 0; i <= staged->n_jobs; i++) {
		const struct staged_job *job = &staged->jobs[i];

		for (int32_t j = 0; j < job->n_finds + job->n_makes; j++) {
			int32_t index = j < job->n_finds ? job->finds[j].file : job->makes[j - job->n_finds];

			if (!says(jobs->files[index].path))
				return refuse(jobs, index, "the file name", failure);
			if (jobs->files[index].renamed)
				return refuse(jobs, index, "that a job renames a file that another one wrote:", failure);
		}
	}
	return 0;
}

static int write_whole(struct writer *w, const struct generate_facts *facts, FILE *out)
{
	int r = yaml_open(&w->yaml, out);

	if (r < 0)
		return r;
	put_whole(w, facts);
	w->yaml.failed |= w->clean.failed;
	printable_finish(&w->clean);
	return yaml_close(&w->yaml);
}

int generate_cwl(const struct jobs *jobs, const struct generate_facts *facts, FILE *out, struct failure *failure)
{
	struct writer w = { .jobs = jobs, .root.root = jobs->root };
	int r = staged_create(jobs, &w.staged);

	if (r == 0)
		r = check(jobs, w.staged, failure);
	if (r == 0)
		r = write_whole(&w, facts, out);
	staged_destroy(w.staged);
	return r;
}
