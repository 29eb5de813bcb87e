/* SPDX-License-Identifier: MIT */

/*
 * Findings: what could be improved.  Each rule is a query that gives the worst cases first, and a text.  {NAME} in the
 * text is that column of the first row, {n} the number of rows.
 */

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
	const char *words;     /* the finding, and a remedy */
	const char *threshold; /* when the rule applies */
};

static const struct rule rules[] = {
	{ NEED_COUNTS, "small-writes", "Small writes", "finding.small-writes",
		"{command} wrote {written_bytes} in {writes} writes of {mean_bytes} on the average. Larger "
		"buffers would save most of these calls.",
		"a program with at least 1000 writes of less than 4096 bytes on the average" },
	{ NEED_COUNTS, "small-reads", "Small reads", "finding.small-reads",
		"{command} read {read_bytes} in {reads} reads of {mean_bytes} on the average. Larger buffers "
		"would save most of these calls.",
		"a program with at least 1000 reads of less than 4096 bytes on the average" },
	{ NEED_COUNTS, "re-reads", "Data that are read repeatedly", "finding.re-reads",
		"{read_bytes} were read of {path}, {reread} times its size: a copy near the jobs, or a cache, would "
		"save {saved_bytes}.",
		"a file of which at least twice its size, and 1 MB more than it, was read" },
	{ NEED_FILES, "many-opens", "Files that are opened very often", "finding.many-opens",
		"{path} was opened {opens} times by {processes} processes. Keeping it open, or one file in the "
		"place of many, would save these calls.",
		"a file that was opened at least 200 times" },
	{ NEED_COUNTS, "metadata", "More metadata operations than reads and writes", "finding.metadata",
		"{command} opened files or read attributes {asked} times, and read or wrote {moved} times: that loads a "
		"metadata server.",
		"a program with at least 1000 opens and reads of attributes, and twice as many as reads and writes" },
	{ NEED_FILES, "searches", "Missing names", "finding.searches",
		"{command} looked up missing names {searches} times, {names} different ones. Shorter search paths would "
		"save these calls.",
		"a program with at least 1000 lookups of missing names" },
	{ NEED_CPUS, "serial", "Serial phases", "finding.serial",
		"For {alone_ns}, {run_share} % of the run, one job of phase {phase} ran alone, while the host has "
		"{cpus} processors.",
		"a phase with only one job running in all for at least 10 % of the run, on a host with several "
		"processors" },
	{ NEED_MEMORY, "memory", "Memory that limits packing", "finding.memory",
		"A process of phase {phase} had {largest_bytes} resident: only {fit} of them fit into the memory of "
		"the host, {memory_bytes}, which has {cpus} processors.",
		"a process that needs more than its part of the memory: that of the host by its processors" },
	{ NEED_COUNTS, "slow-edges", "Slow edges", "finding.slow-edges",
		"{command} moved {moved_bytes} of {path} at {moved_rate}, while all data moved at {all_rate} on the "
		"average.",
		"at least 1 MB between a program and a file, at less than a quarter of the average rate" },
	{ NEED_PROCESSES, "failures", "Processes that failed", "finding.failures",
		"{n} kinds of failures; {program} ended {times} times with {how}.",
		"a process that was killed or ended with a status other than 0" },
	{ NEED_OPS, "errors", "Operations that failed", "finding.errors",
		"{operation} failed {count} times with {error}.",
		"operations that failed, other than lookups of missing names and requests for features; in a trace of a mount, "
		"most errors EACCES (Permission denied), EEXIST, EISDIR, ENOTDIR, ELOOP, EXDEV, EPERM and EROFS are missing, "
		"since the kernel finds them without a request to ftrac" },
};
#define RULE_MAX (sizeof(rules) / sizeof(rules[0]))

static void put_column(const struct report *r, const struct table *table, const char *name, size_t len, FILE *out)
{
	char text[64];
	int column;

	snprintf(text, sizeof(text), "%.*s", (int)len, name);
	column = table_find(table, text);
	fputs("<bdi>", out);
	if (column >= 0)
		table_put_cell(table, &r->style, 0, column, out);
	else
		fprintf(out, "%zu", table_rows(table));
	fputs("</bdi>", out);
}

static void put_words(const struct report *r, const struct rule *rule, const struct table *table, FILE *out)
{
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
	fprintf(out, "</p>\n<p class=\"note\">Rule: %s.", rule->threshold);
}

static int put_finding(struct report *r, const struct rule *rule, struct table *table, const char *sql)
{
	cleanup_free char *id = NULL, *words = NULL;
	struct exhibit e = { .title = rule->title, .closed = true };
	size_t len;
	FILE *memory = open_memstream(&words, &len);
	int error;

	if (!memory)
		return failure_memory(r->failure);
	put_words(r, rule, table, memory);
	if (fclose(memory) != 0 || asprintf(&id, "finding-%s", rule->id) < 0)
		return failure_memory(r->failure);
	e.id = id;
	e.about = words;
	table_top(table, EXHIBIT_ROWS);
	fputs("<div class=\"finding\">\n", r->out);
	error = exhibit_put(r, &e, table, sql);
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

static int apply_rule(struct report *r, const struct rule *rule, bool *ret_nothing)
{
	struct table *table = table_create();
	cleanup_free char *sql = exhibit_sql(r, rule->query);
	int error = table ? exhibit_fill(r, rule->query, table) : failure_memory(r->failure);

	*ret_nothing = error == 0 && table_rows(table) == 0;
	if (error == 0 && !*ret_nothing)
		error = put_finding(r, rule, table, sql);
	table_destroy(table);
	return error;
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

int report_findings(struct report *r)
{
	bool nothing[RULE_MAX] = { false }, blind[RULE_MAX] = { false };
	int error = 0, found = 0;

	for (size_t i = 0; i < RULE_MAX && error == 0; i++) {
		error = apply_rule(r, &rules[i], &nothing[i]);
		found += !nothing[i];
		blind[i] = nothing[i] && !is_there(r, rules[i].need);
		nothing[i] &= !blind[i];
	}
	if (found == 0)
		fputs("<p>None of the rules below found anything.</p>\n", r->out);
	put_rules(r, "Rules that found nothing", nothing, false);
	put_rules(r, "Rules that could not look", blind, true);
	return error;
}
