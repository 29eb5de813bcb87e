/* SPDX-License-Identifier: MIT */
#include "dag/generate/generate.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/output.h"
#include "base/utf8.h"
#include "dag/generate/rules.h"

#define MIB (1 << 20)

/* Of an argument list in HTCondor's new syntax, inside of a quoted value of VARS. */
static const char *escape(const char *at)
{
	return *at == '\''   ? "''"
	       : *at == '"'  ? "\\\"\\\""
	       : *at == '\\' ? "\\\\"
	       : *at == '$'  ? "$(DOLLAR)"
			     : NULL;
}

/* Of a value of VARS that is no argument list. */
static const char *escape_value(const char *at)
{
	return *at == '"' ? "\\\"" : *at == '\\' ? "\\\\" : *at == '$' ? "$(DOLLAR)" : NULL;
}

/* The directory of a job, absolute if the root is known; to be freed. */
static char *directory_of(const struct rules *rules, const struct job *job)
{
	bool at_root = !job->cwd || strcmp(job->cwd, ".") == 0,
	     is_whole = !at_root && job->cwd[0] == '/';
	char *path;

	return asprintf(&path, "%s%s%s", is_whole ? "" : rules->root,
		       at_root || is_whole ? "" : "/", at_root ? "" : job->cwd) < 0
		       ? NULL
		       : path;
}

/* Cuts the path back to the nearest directory that a line of a submit description can hold: no control characters, no
 * blank at the end.  Returns whether it was cut. */
static bool shorten(char *path)
{
	bool shorter = false;
	size_t len = strlen(path);

	while (len > 1 && (!utf8_is_text(path, "") || path[len - 1] == ' ')) {
		while (len > 1 && path[--len] != '/')
			;
		path[len > 1 ? len : 1] = '\0';
		shorter = true;
	}
	return shorter;
}

/* The script of a job as one line; moves: it first changes to cwd. */
static char *line_of(const struct job *job, const char *cwd, bool moves)
{
	char *text = NULL, *line;
	size_t size;
	FILE *out = moves ? open_memstream(&text, &size) : NULL;

	if (!moves)
		return rules_one_line(job->script);
	if (!out)
		return NULL;
	rules_put_move(cwd, out);
	fputs(job->script, out);
	text = output_close_text(out, &text);
	line = text ? rules_one_line(text) : NULL;
	free(text);
	return line;
}

static void put_values(const struct rules *rules, const struct job *job, const char *line,
	const char *directory, FILE *out)
{
	fprintf(out, "JOB %s job\nVARS %s args=\"-c '", job->name, job->name);
	rules_write(rules, line, NULL, escape, out);
	fputs("'\" directory=\"", out);
	rules_write(rules, directory, NULL, escape_value, out);
	fputc('"', out);
	if (job->rss_bytes != WORKFLOW_UNKNOWN)
		fprintf(out, " memory=\"%lldMB\"", (long long)(job->rss_bytes / MIB + 1));
	if (job_cores(job) > 1)
		fprintf(out, " cpus=\"%lld\"", (long long)job_cores(job));
	fputc('\n', out);
}

static int put_job(const struct rules *rules, const struct job *job, FILE *out)
{
	cleanup_free char *cwd = directory_of(rules, job), *directory = cwd ? strdup(cwd) : NULL,
			  *line = directory ? line_of(job, cwd, shorten(directory)) : NULL;
	int r = line ? 0 : -ENOMEM;

	if (line)
		put_values(rules, job, line, directory, out);
	return r;
}

static void put_parents(const struct jobs *jobs, const struct job *job, FILE *out)
{
	if (job->n_deps == 0)
		return;
	fputs("PARENT", out);
	for (int32_t i = 0; i < job->n_deps; i++)
		fprintf(out, " %s", jobs->jobs[job->deps[i]].name);
	fprintf(out, " CHILD %s\n", job->name);
}

int generate_dagman(const struct jobs *jobs, const struct generate_facts *facts, FILE *out)
{
	const struct rules rules = { .root = jobs->root };
	int r = 0;

	(void)facts;
	fputs("# Made by wfdag generate.  Jobs run in the directories in which they ran: on a "
	      "shared file system.\n"
	      "SUBMIT-DESCRIPTION job {\n    universe = vanilla\n    executable = /bin/sh\n"
	      "    transfer_executable = false\n    arguments = \"$(args)\"\n    initialdir = "
	      "$(directory)\n"
	      "    request_cpus = $(cpus:1)\n    request_memory = $(memory:128MB)\n    "
	      "should_transfer_files = no\n"
	      "    log = workflow.log\n}\n",
		out);
	/* The command of a job that used no file may be unknown (check_commands()); no job depends on it. */
	for (int32_t i = 0; i < jobs->n_jobs && r == 0; i++)
		r = jobs->jobs[i].script ? put_job(&rules, &jobs->jobs[i], out) : 0;
	for (int32_t i = 0; i < jobs->n_jobs && r == 0; i++)
		put_parents(jobs, &jobs->jobs[i], out);
	return r;
}
