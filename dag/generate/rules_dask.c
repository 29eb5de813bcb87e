/* SPDX-License-Identifier: MIT */

/* A task graph for Dask, in Python: https://docs.dask.org/en/stable/spec.html */

#include "dag/generate/rules.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/vector.h"

/* In a literal of bytes.  What is no ASCII has numbers. */
static const char *escape(const char *at)
{
	static char number[8];

	if (*at == '\\' || *at == '"')
		snprintf(number, sizeof(number), "\\%c", *at);
	else if (*at == '\n')
		return "\\n";
	else if ((unsigned char)*at < ' ' || (unsigned char)*at >= 0x7f)
		snprintf(number, sizeof(number), "\\x%02x", (unsigned char)*at);
	else
		return NULL;
	return number;
}

bool rules_dask_says(const char *name)
{
	return *name != '\0';
}

static void write_bytes(const struct rules *rules, const char *text, const char *here, FILE *out)
{
	fputs("b\"", out);
	rules_write(rules, text, here, escape, out);
	fputc('"', out);
}

/* ---- what waits for what ---- */

struct maker {
	const char *name;
	int32_t rule;
};

static int compare_makers(const void *x, const void *y)
{
	return strcmp(((const struct maker *)x)->name, ((const struct maker *)y)->name);
}

/* What rules make, by name. */
static struct maker *find_makers(const struct rules *rules, size_t *ret_n)
{
	struct maker *makers;
	size_t n = 0;

	for (int32_t i = 0; i < rules->n_rules; i++)
		n += (size_t)rules->rules[i].n_makes;
	makers = malloc((n + 1) * sizeof(*makers));
	n = 0;
	for (int32_t i = 0; i < rules->n_rules && makers; i++)
		for (int32_t j = 0; j < rules->rules[i].n_makes; j++)
			makers[n++] = (struct maker){ rules->rules[i].makes[j], i };
	if (n)
		qsort(makers, n, sizeof(*makers), compare_makers);
	*ret_n = n;
	return makers;
}

static int compare_numbers(const void *x, const void *y)
{
	const int32_t *a = x, *b = y;

	return (*a > *b) - (*a < *b);
}

/* The keys of the rules that make what it needs, each once. */
static int write_needs(const struct rules *rules, const struct rule *rule, const struct maker *makers, size_t n_makers, FILE *out)
{
	cleanup_free int32_t *needs = malloc(((size_t)rule->n_needs + 1) * sizeof(*needs));
	const char *between = "";
	int32_t n = 0;

	for (int32_t i = 0; i < rule->n_needs && needs; i++) {
		const struct maker key = { rule->needs[i], 0 }, *found = vector_find(&key, makers, n_makers, sizeof(key), compare_makers);

		if (found)
			needs[n++] = found->rule;
	}
	if (n)
		qsort(needs, (size_t)n, sizeof(*needs), compare_numbers);
	for (int32_t i = 0; i < n; i++)
		if (i == 0 || needs[i] != needs[i - 1]) {
			fprintf(out, "%s\"%s\"", between, rules->rules[needs[i]].job->name);
			between = ", ";
		}
	return needs ? 0 : -ENOMEM;
}

/* ---- the whole ---- */

static int write_rule(const struct rules *rules, const struct rule *rule, const struct maker *makers, size_t n_makers, FILE *out)
{
	int r;

	fprintf(out, "    \"%s\": (partial(run, ", rule->job->name);
	write_bytes(rules, rule->command, "\" + ROOT + b\"", out);
	fputs("), [", out);
	r = write_needs(rules, rule, makers, n_makers, out);
	fputs("]),\n", out);
	return r;
}

static void write_directories(const struct rules *rules, FILE *out)
{
	fputs("\nDIRECTORIES = [\n", out);
	for (int32_t i = 0; i < rules->n_directories; i++) {
		fputs("    ", out);
		write_bytes(rules, rules->directories[i], NULL, out);
		fputs(",\n", out);
	}
	fputs("]\n", out);
}

/* A command is no argument of a task, because Dask takes a text that is a key for what this makes. */
int rules_write_dask(const struct rules *rules, FILE *out)
{
	size_t n_makers;
	cleanup_free struct maker *makers = find_makers(rules, &n_makers);
	int r = makers ? 0 : -ENOMEM;

	fputs("# Made by wfdag generate, for Dask.  Run it in the directory of the workflow, or give `dsk` to a scheduler of Dask:\n"
	      "# client.get(dsk, list(dsk)), where workers share that directory.\n"
	      "import os\nimport subprocess\nfrom functools import partial\n\nROOT = os.getcwdb()\n",
		out);
	write_directories(rules, out);
	fputs("\n\ndef run(command, after):\n"
	      "    for directory in DIRECTORIES:\n"
	      "        os.makedirs(os.path.join(ROOT, directory), exist_ok=True)\n"
	      "    subprocess.run([\"/bin/sh\", \"-c\", command], cwd=ROOT, check=True)\n"
	      "\n\n# Each job: its command, and the jobs that it waits for.\ndsk = {\n",
		out);
	for (int32_t i = 0; i < rules->n_rules && r == 0; i++)
		r = write_rule(rules, &rules->rules[i], makers, n_makers, out);
	fputs("}\n\nif __name__ == \"__main__\":\n"
	      "    from dask.threaded import get\n\n"
	      "    get(dsk, list(dsk))\n",
		out);
	return r;
}
