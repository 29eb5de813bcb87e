/* SPDX-License-Identifier: MIT */
#include "dag/report/page.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/failure.h"
#include "base/output.h"
#include "base/place.h"
#include "base/version.h"
#include "dag/output/html.h"
#include "dag/report/assets.h"

/* Stands before and behind the names that put_part() replaces. */
#define MARK "\1"

static void put_nav(const struct page *p, FILE *out)
{
	for (int i = 0; i < p->n; i++)
		fprintf(out, "<a href=\"#%s\">%s</a>\n", p->sections[i].id, p->sections[i].title);
}

static void put_sections(const struct page *p, FILE *out)
{
	for (int i = 0; i < p->n; i++)
		fprintf(out, "<section id=\"%s\">\n<h2>%s</h2>\n%s</section>\n", p->sections[i].id, p->sections[i].title,
			p->sections[i].text);
}

static void put_part(const struct page *p, const char *name, size_t len, FILE *out)
{
#define IS(text) (len == strlen(text) && strncmp(name, text, len) == 0)
	if (IS("TITLE"))
		html_put_string(p->title, out);
	else if (IS("NAV"))
		put_nav(p, out);
	else if (IS("SECTIONS"))
		put_sections(p, out);
	else if (IS("CHOICE"))
		fputs(p->note ? p->note : "", out);
	else if (IS("SKIP"))
		fprintf(out, "<a class=\"skip\" href=\"#%s\">%s</a>", p->skip, p->skip_text);
	else if (IS("VERSION"))
		fputs(FTRAC_VERSION, out);
#undef IS
}

static int put_page(const struct page *p, FILE *out)
{
	const char *at = report_frame;

	for (const char *end; *at; at = end + 1) {
		size_t len = strcspn(at, MARK);

		fwrite(at, 1, len, out);
		at += len;
		if (!*at)
			break;
		end = strchr(at + 1, MARK[0]);
		put_part(p, at + 1, (size_t)(end - at - 1), out);
	}
	return fflush(out) == 0 && !ferror(out) ? 0 : errno ? -errno : -EIO;
}

int report_write_page(const struct page *page, const char *file, struct failure *failure)
{
	struct output output;
	int error = output_open(file, &output);
	FILE *out;

	if (error == 0) {
		out = output_stream(output.fd);
		error = out ? put_page(page, out) : -errno;
		if (out && fclose(out) != 0 && error == 0)
			error = -errno;
		error = output_close(&output, error);
	}
	return error < 0 ? failure_set(failure, error, "cannot write '%s': %s", file, place_explain(error)) : 0;
}
