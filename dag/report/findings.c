/* SPDX-License-Identifier: MIT */

/*
 * Findings: what could be improved.  Each rule is a query that gives the worst cases first, and a text.  {NAME} in the
 * text is that column of the first row, {n} the number of rows.
 */

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/failure.h"
#include "dag/output/html.h"
#include "dag/output/table_page.h"
#include "dag/report/report.h"
#include "db/query.h"

/* What a rule needs of the trace. */
enum need { NEED_PROCESSES, NEED_FILES, NEED_COUNTS, NEED_OPS, NEED_CPUS, NEED_MEMORY, NEED_MAX };

static const char *const missing[] = { "", "files were not traced",
	"reads and writes were not counted", "single operations were not recorded",
	"the number of processors of the host is unknown",
	"the memory of the host is unknown" };
_Static_assert(sizeof(missing) / sizeof(missing[0]) == NEED_MAX, "words for each need");

struct rule {
	enum need need;
	const char *id, *title, *query;
	const char *words;     /* the finding, and what to do; {column*}: so many times */
	const char *threshold; /* when the rule applies */
};

static const struct rule rules[] = {
	{ NEED_COUNTS, "small-writes", "Small writes", "finding.small-writes",
		"{command} wrote {written_bytes} in {writes} writes of {mean_bytes} on the average: give it a larger "
		"buffer (setvbuf, or the option of the program), or write to local storage.",
		"a program with at least 1000 writes of less than 4096 bytes on the average" },
	{ NEED_COUNTS, "small-reads", "Small reads", "finding.small-reads",
		"{command} read {read_bytes} in {reads} reads of {mean_bytes} on the average: give it a larger buffer "
		"(setvbuf, or the option of the program), or map the file.",
		"a program with at least 1000 reads of less than 4096 bytes on the average" },
	{ NEED_COUNTS, "re-reads", "Data that are read repeatedly", "finding.re-reads",
		"{read_bytes} were read of {path}, {reread} times its size: read it once and keep it, or put a copy near the "
		"tasks. That saves {saved_bytes}.",
		"a file of which at least twice its size, and 1 MB more than it, was read" },
	{ NEED_FILES, "many-opens", "Files that are opened very often", "finding.many-opens",
		"{path} was opened {opens} times by {processes} processes: keep it open.",
		"a file that was opened at least 200 times" },
	{ NEED_COUNTS, "metadata", "More metadata operations than reads and writes", "finding.metadata",
		"{command} opened files or read attributes {asked} times, and read or wrote {moved} times: pack many small files into "
		"one (a zip of Python modules, an archive, a container image), above all on a shared file system, whose metadata server "
		"has to answer.",
		"a program with at least 1000 opens and reads of attributes, and twice as many as reads and writes" },
	{ NEED_FILES, "searches", "Missing names", "finding.searches",
		"{command} looked up missing names {searches} times, {names} different ones: shorten its search path (PATH, PYTHONPATH, -I, "
		"LD_LIBRARY_PATH), or put first what holds most.",
		"a program with at least 1000 lookups of missing names" },
	{ NEED_CPUS, "serial", "Steps that run alone", "finding.serial",
		"For {alone_ns}, {run_share} % of the run, one task of {step} ran alone, while the host has {cpus} processors: "
		"divide it, or start what does not depend on it earlier.",
		"a step of which one task ran while no other task did, for at least 10 % of the run, on a host with several "
		"processors" },
	{ NEED_MEMORY, "memory", "Memory that limits packing", "finding.memory",
		"A process of {step} had {largest_bytes} resident: only {fit} of them fit into the memory of "
		"the host, {memory_bytes}, which has {cpus} processors: run as many at a time.",
		"a process that needs more than its part of the memory: that of the host by its processors" },
	{ NEED_COUNTS, "slow-edges", "Slow edges", "finding.slow-edges",
		"{command} moved {moved_bytes} of {path} at {moved_rate}, while all data moved at {all_rate} on the "
		"average: look where that file is, and whether it is moved in small pieces.",
		"at least 1 MB between a program and a file, at less than a quarter of the average rate" },
	{ NEED_PROCESSES, "failures", "Processes that failed", "finding.failures",
		"{label}, of {step}, ended {times*} with {how}: look at its messages. There are {n} such kinds of ends.",
		"a process that was killed or ended with a status other than 0" },
	{ NEED_OPS, "errors", "Operations that failed", "finding.errors",
		"{operation} failed {count*} with {errno}.",
		"operations that failed, other than lookups of missing names and requests for features; in a trace of a mount, "
		"most errors EACCES (Permission denied), EEXIST, EISDIR, ENOTDIR, ELOOP, EXDEV, EPERM and EROFS are missing, "
		"since the kernel finds them without a request to ftrac" },
};
#define RULE_MAX (sizeof(rules) / sizeof(rules[0]))

static void put_column(const struct report *r, const struct table *table, const char *name, size_t len, FILE *out)
{
	bool is_count = name[len - 1] == '*';
	char text[64];
	int column;

	snprintf(text, sizeof(text), "%.*s", (int)len - is_count, name);
	column = table_find(table, text);
	if (is_count && table_number(table, 0, column, 0) == 1) {
		fputs("once", out);
		return;
	}
	fputs("<bdi>", out);
	if (column >= 0)
		table_put_cell(table, &r->style, 0, column, out);
	else
		fprintf(out, "%zu", table_rows(table));
	fputs(is_count ? "</bdi> times" : "</bdi>", out);
}

struct finding {
	const struct rule *rule;
	struct table *table;
	char *sql;
	double gain_ns; /* -1: not known */
};

#define GAIN "gain_ns"

/* What would gain less than the first digit that is shown is no finding. */
static bool is_found(const struct report *r, const struct finding *finding)
{
	return table_rows(finding->table) && (finding->gain_ns < 0 || finding->gain_ns * 2000 >= (double)r->run_ns);
}

/* Of the worst case. */
static void put_gain(const struct report *r, const struct finding *finding, FILE *out)
{
	if (finding->gain_ns < 0)
		return;
	fputs(" Gain: at most ", out);
	put_column(r, finding->table, GAIN, strlen(GAIN), out);
	fprintf(out, ", %.1f %% of the run.", r->run_ns > 0 ? 100 * finding->gain_ns / (double)r->run_ns : 0.0);
}

static void put_words(const struct report *r, const struct finding *finding, FILE *out)
{
	const struct rule *rule = finding->rule;
	const struct table *table = finding->table;


	for (const char *at = rule->words; *at;) {
		size_t len = strcspn(at, "{");

		html_put(at, len, out);
		at += len;
		if (*at == '{') {
			len = strcspn(at, "}");
			put_column(r, table, at + 1, len - 1, out);
			at += len + 1;
		}
	}
	put_gain(r, finding, out);
	fprintf(out, "</p>\n<p class=\"note\">Rule: %s.", rule->threshold);
}

static int put_finding(struct report *r, const struct finding *finding)
{
	const struct rule *rule = finding->rule;
	cleanup_free char *id = NULL, *words = NULL;
	struct exhibit e = { .title = rule->title, .closed = true };
	size_t len;
	FILE *memory = open_memstream(&words, &len);
	int error;

	if (!memory)
		return failure_memory(r->failure);
	put_words(r, finding, memory);
	if (fclose(memory) != 0 || asprintf(&id, "finding-%s", rule->id) < 0)
		return failure_memory(r->failure);
	e.id = id;
	e.about = words;
	table_top(finding->table, EXHIBIT_ROWS);
	fputs("<div class=\"finding\">\n", r->out);
	error = exhibit_put(r, &e, finding->table, finding->sql);
	fputs("</div>\n", r->out);
	return error;
}

static bool is_there(const struct report *r, enum need need)
{
	const char *fidelity = query_fact_text(r->db, "fidelity");

	switch (need) {
	case NEED_FILES:
		return fidelity;
	case NEED_COUNTS:
		return fidelity && strcmp(fidelity, "open") != 0;
	case NEED_OPS:
		return r->has_ops;
	case NEED_CPUS:
		return query_fact(r->db, "cpus", 0) > 0;
	case NEED_MEMORY:
		return query_fact(r->db, "cpus", 0) > 0 && query_fact(r->db, "memory_bytes", 0) > 0;
	default:
		return true;
	}
}

static int apply_rule(struct report *r, const struct rule *rule, struct finding *finding)
{
	struct table *table = table_create();
	int column, error;

	*finding = (struct finding){ rule, table, exhibit_sql(r, rule->query), -1 };
	error = table ? exhibit_fill(r, rule->query, table) : failure_memory(r->failure);
	column = error == 0 && table_rows(table) ? table_find(table, GAIN) : -1;
	if (column >= 0)
		finding->gain_ns = table_number(table, 0, column, -1);
	return error;
}

/* Failures first, then what would gain most. */
static int compare_findings(const void *x, const void *y)
{
	const struct finding *a = x, *b = y;
	bool p = strcmp(a->rule->id, "failures") == 0, q = strcmp(b->rule->id, "failures") == 0;

	if (p != q)
		return p ? -1 : 1;
	if (a->gain_ns != b->gain_ns)
		return a->gain_ns > b->gain_ns ? -1 : 1;
	return (a->rule > b->rule) - (a->rule < b->rule);
}

static void put_rule(struct report *r, const struct rule *rule, bool blind)
{
	cleanup_free char *sql = exhibit_sql(r, rule->query);
	enum need need = rule->need == NEED_COUNTS && !is_there(r, NEED_FILES) ? NEED_FILES : rule->need;

	fprintf(r->out, "<li>%s: %s%s%s.\n<details class=\"sql\"><summary>SQL</summary><pre>", rule->title,
		rule->threshold, blind ? "; could not be looked at, because " : "",
		blind ? missing[need] : "");
	html_put_string(sql ? sql : "", r->out);
	fputs("</pre></details></li>\n", r->out);
}

static void put_rules(struct report *r, const char *title, const bool *listed, bool blind)
{
	if (!memchr(listed, true, RULE_MAX * sizeof(*listed)))
		return;
	fprintf(r->out, "<details class=\"rules\"><summary>%s</summary>\n<ul>\n", title);
	for (size_t i = 0; i < RULE_MAX; i++)
		if (listed[i])
			put_rule(r, &rules[i], blind);
	fputs("</ul></details>\n", r->out);
}

static int put_findings(struct report *r, struct finding *findings)
{
	int error = 0, found = 0;

	qsort(findings, RULE_MAX, sizeof(*findings), compare_findings);
	for (size_t i = 0; i < RULE_MAX && error == 0; i++)
		if (is_found(r, &findings[i])) {
			error = put_finding(r, &findings[i]);
			found++;
		}
	if (found == 0)
		fputs("<p>None of the rules below found anything.</p>\n", r->out);
	return error;
}

int report_findings(struct report *r)
{
	bool nothing[RULE_MAX] = { false }, blind[RULE_MAX] = { false };
	struct finding findings[RULE_MAX] = { 0 };
	int error = 0;

	for (size_t i = 0; i < RULE_MAX && error == 0; i++) {
		error = apply_rule(r, &rules[i], &findings[i]);
		nothing[i] = error == 0 && !is_found(r, &findings[i]);
		blind[i] = nothing[i] && !is_there(r, rules[i].need);
		nothing[i] &= !blind[i];
	}
	if (error == 0)
		error = put_findings(r, findings);
	if (error == 0) {
		put_rules(r, "Rules that found nothing", nothing, false);
		put_rules(r, "Rules that could not look", blind, true);
	}
	for (size_t i = 0; i < RULE_MAX; i++) {
		table_destroy(findings[i].table);
		free(findings[i].sql);
	}
	return error;
}
