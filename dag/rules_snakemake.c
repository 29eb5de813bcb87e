/* SPDX-License-Identifier: MIT */

/* Rules for Snakemake 7 and newer: https://snakemake.readthedocs.io/ */

#include "dag/rules.h"

#include <errno.h>
#include <string.h>

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

static bool is_text(const char *text)
{
	size_t len = strlen(text), n;

	for (size_t i = 0; i < len; i += n) {
		n = utf8_char(text + i, len - i);
		if (n == 0 ||
			(n == 1 && (unsigned char)text[i] < ' ' && !strchr("\n\t\r", text[i])))
			return false;
	}
	return true;
}

/* Braces are wildcards in names, however they are written. */
bool rules_snakemake_says(const char *name)
{
	return *name && is_text(name) && !strpbrk(name, "{}\n\r");
}

static int write_text(const struct rules *rules, const char *text, const char *here, FILE *out,
	const char **ret_text)
{
	if (!is_text(text)) {
		*ret_text = text;
		return -EILSEQ;
	}
	fputc('"', out);
	rules_write(rules, text, here, escape_text, out);
	fputc('"', out);
	return 0;
}

static int write_names(const struct rules *rules, const char *what, const char *const *names,
	int32_t n, FILE *out, const char **ret_text)
{
	int r = 0;

	if (n)
		fprintf(out, "    %s:\n", what);
	for (int32_t i = 0; i < n && r == 0; i++) {
		fputs("        ", out);
		r = write_text(rules, names[i], NULL, out, ret_text);
		fputs(",\n", out);
	}
	return r;
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

static int write_rule(const struct rules *rules, const struct rule *rule, FILE *out,
	const char **ret_text)
{
	int r;

	fprintf(out, "\nrule %s:\n", rule->job->name);
	r = write_names(rules, "input", rule->needs, rule->n_needs, out, ret_text);
	if (r == 0)
		r = write_names(rules, "output", rule->makes, rule->n_makes, out, ret_text);
	write_resources(rule->job, out);
	fputs("    shell: ", out);
	if (r == 0)
		r = write_text(rules, rule->command, "{ROOT}", out, ret_text);
	fputc('\n', out);
	return r;
}

int rules_write_snakemake(const struct rules *rules, FILE *out, const char **ret_text)
{
	int r = 0;

	fputs("# Made by wfdag generate; needs Snakemake 7.\nimport os\n\nROOT = os.getcwd()\n"
	      "shell.executable(\"/bin/sh\")\nshell.prefix(\"\")\n\nrule all:\n    input:\n",
		out);
	for (int32_t i = 0; i < rules->n_rules && r == 0; i++)
		for (int32_t j = 0; j < rules->rules[i].n_makes && r == 0; j++) {
			fputs("        ", out);
			r = write_text(rules, rules->rules[i].makes[j], NULL, out, ret_text);
			fputs(",\n", out);
		}
	for (int32_t i = 0; i < rules->n_rules && r == 0; i++)
		r = write_rule(rules, &rules->rules[i], out, ret_text);
	return r;
}
