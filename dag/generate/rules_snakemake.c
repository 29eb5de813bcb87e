/* SPDX-License-Identifier: MIT */

/* Rules for Snakemake 7 and newer: https://snakemake.readthedocs.io/ */

#include "dag/generate/rules.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/utf8.h"

#define MIB (1 << 20)
#define MINUTE_NS 60000000000

/* In a literal of Python, in which braces stand for values. */
static const char *escape_text(const char *at)
{
	switch (*at) {
	case '\\':
		return "\\\\";
	case '"':
		return "\\\"";
	case '\n':
		return "\\n";
	case '\t':
		return "\\t";
	case '\r':
		return "\\r";
	case '{':
		return "{{";
	case '}':
		return "}}";
	default:
		return NULL;
	}
}

/* Braces are wildcards in names, however they are written. */
bool rules_snakemake_says(const char *name)
{
	return *name && utf8_is_text(name, "\t\x7f") && !strpbrk(name, "{}");
}

static void write_text(const struct rules *rules, const char *text, const char *here, FILE *out)
{
	fputc('"', out);
	rules_write(rules, text, here, escape_text, out);
	fputc('"', out);
}

static void write_names(const struct rules *rules, const char *what, const char *const *names,
	int32_t n, FILE *out)
{
	if (n)
		fprintf(out, "    %s:\n", what);
	for (int32_t i = 0; i < n; i++) {
		fputs("        ", out);
		write_text(rules, names[i], NULL, out);
		fputs(",\n", out);
	}
}

/* With all its lines, if it is text: a literal of Python can have these. */
static int write_command(const struct rules *rules, const char *command, FILE *out)
{
	bool says = utf8_is_text(command, "\n\t\r");
	cleanup_free char *line = says ? NULL : rules_one_line(command);

	if (!says && !line)
		return -ENOMEM;
	fputs("    shell: ", out);
	write_text(rules, line ? line : command, "{ROOT}", out);
	fputc('\n', out);
	return 0;
}

/* What it took then, rounded up; a job that may need more has to be given more. */
static void write_resources(const struct job *job, FILE *out)
{
	int64_t wall_ns = job->end_ns == GRAPH_NEVER ? 0 : job->end_ns - job->start_ns;
	const char *between = "    resources: ";

	if (job->rss_bytes != WORKFLOW_UNKNOWN)
		fprintf(out, "%smem_mb=%lld", between, (long long)(job->rss_bytes / MIB + 1)),
			between = ", ";
	if (wall_ns > 0)
		fprintf(out, "%sruntime=%lld", between, (long long)(wall_ns / MINUTE_NS + 1)),
			between = ", ";
	if (*between == ',')
		fputc('\n', out);
	if (job_cores(job) > 1)
		fprintf(out, "    threads: %lld\n", (long long)job_cores(job));
}

static int write_rule(const struct rules *rules, const struct rule *rule, FILE *out)
{
	fprintf(out, "\nrule %s:\n", rule->job->name);
	write_names(rules, "input", rule->needs, rule->n_needs, out);
	write_names(rules, "output", rule->makes, rule->n_makes, out);
	write_resources(rule->job, out);
	return write_command(rules, rule->command, out);
}

int rules_write_snakemake(const struct rules *rules, FILE *out)
{
	int r = 0;

	fputs("# Made by wfdag generate; needs Snakemake 7.\nimport os\n\nROOT = os.getcwd()\n"
	      "shell.executable(\"/bin/sh\")\nshell.prefix(\"\")\n\nrule all:\n    input:\n",
		out);
	for (int32_t i = 0; i < rules->n_rules; i++)
		for (int32_t j = 0; j < rules->rules[i].n_makes; j++) {
			fputs("        ", out);
			write_text(rules, rules->rules[i].makes[j], NULL, out);
			fputs(",\n", out);
		}
	for (int32_t i = 0; i < rules->n_rules && r == 0; i++)
		r = write_rule(rules, &rules->rules[i], out);
	return r;
}
