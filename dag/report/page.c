/* SPDX-License-Identifier: MIT */
#include "dag/report/page.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/version.h"
#include "dag/output/html.h"
#include "dag/report/assets.h"
#include "dag/report/report.h"
#include "db/query.h"

/* Stands before and behind the names that put_part() replaces. */
#define MARK "\1"

static const struct {
	const char *id, *title;
} names[] = { { "summary", "Summary" }, { "findings", "Findings" }, { "timeline", "Time line" },
	{ "by-phase", "Steps" }, { "io-section", "Reads and writes" }, { "files", "Files" },
	{ "graphs", "Graphs" } };
_Static_assert(sizeof(names) / sizeof(names[0]) == SECTION_MAX, "a name for each section");

static void put_title(const struct report *r, FILE *out)
{
	const char *command = r->options->title ? NULL : query_fact_text(r->db, "command");

	html_put_string(r->options->title    ? r->options->title
			: command && *command ? command
					      : r->options->traces.word[0],
		out);
}

static void put_nav(FILE *out)
{
	for (int i = 0; i < SECTION_MAX; i++)
		fprintf(out, "<a href=\"#%s\">%s</a>\n", names[i].id, names[i].title);
}

static void put_sections(const struct report *r, FILE *out)
{
	for (int i = 0; i < SECTION_MAX; i++)
		fprintf(out, "<section id=\"%s\">\n<h2>%s</h2>\n%s</section>\n", names[i].id, names[i].title,
			r->sections[i]);
}

static void put_choice(const struct report *r, FILE *out)
{
	const struct choice *c = &r->options->choice;

	if (c->phase || c->job || c->process || c->include.n || c->exclude.n || c->from_ns || c->to_ns)
		fputs("<p class=\"note\">A part of the run was chosen: numbers are of that part, but for those of "
		      "the summary, the critical path and the makespan.</p>\n", out);
}

static void put_part(const struct report *r, const char *name, size_t len, FILE *out)
{
#define IS(text) (len == strlen(text) && strncmp(name, text, len) == 0)
	if (IS("TITLE"))
		put_title(r, out);
	else if (IS("NAV"))
		put_nav(out);
	else if (IS("SECTIONS"))
		put_sections(r, out);
	else if (IS("CHOICE"))
		put_choice(r, out);
	else if (IS("VERSION"))
		fputs(FTRAC_VERSION, out);
#undef IS
}

int report_page_put(const struct report *r, FILE *out)
{
	const char *at = report_frame;

	for (const char *end; *at; at = end + 1) {
		size_t len = strcspn(at, MARK);

		fwrite(at, 1, len, out);
		at += len;
		if (!*at)
			break;
		end = strchr(at + 1, MARK[0]);
		put_part(r, at + 1, (size_t)(end - at - 1), out);
	}
	return fflush(out) == 0 && !ferror(out) ? 0 : errno ? -errno : -EIO;
}
