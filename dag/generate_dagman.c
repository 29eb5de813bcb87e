/* SPDX-License-Identifier: MIT */
#include "dag/generate.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "dag/rules.h"

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

static void put_directory(const struct rules *rules, const char *cwd, FILE *out)
{
	bool at_root = !cwd || strcmp(cwd, ".") == 0;

	if (at_root || cwd[0] != '/')
		rules_write(rules, rules->root, NULL, escape, out);
	if (at_root)
		return;
	if (cwd[0] != '/')
		fputc('/', out);
	rules_write(rules, cwd, NULL, escape, out);
}

static int put_job(const struct rules *rules, const struct job *job, FILE *out,
	const char **ret_text)
{
	char *line = job->script ? rules_one_line(job->script) : NULL;
	int r = 0;

	*ret_text = job->name;
	if (job->script && !line)
		r = -ENOMEM;
	else if (!line)
		r = -EILSEQ;
	if (r == 0) {
		fprintf(out, "JOB %s job\nVARS %s args=\"-c '", job->name, job->name);
		rules_write(rules, line, NULL, escape, out);
		fprintf(out, "'\" directory=\"");
		put_directory(rules, job->cwd, out);
		fputc('"', out);
		if (job->rss_bytes != WORKFLOW_UNKNOWN)
			fprintf(out, " memory=\"%lldMB\"", (long long)(job->rss_bytes / MIB + 1));
		if (job_cores(job) > 1)
			fprintf(out, " cpus=\"%lld\"", (long long)job_cores(job));
		fputc('\n', out);
	}
	free(line);
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

int generate_dagman(const struct jobs *jobs, const struct generate_facts *facts, FILE *out,
	const char **ret_text)
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
	for (int32_t i = 0; i < jobs->n_jobs && r == 0; i++)
		r = put_job(&rules, &jobs->jobs[i], out, ret_text);
	for (int32_t i = 0; i < jobs->n_jobs && r == 0; i++)
		put_parents(jobs, &jobs->jobs[i], out);
	return r;
}
