/* SPDX-License-Identifier: MIT */

/* The comparison as Markdown: a summary, what is counted, and the tables, folded. */

#include "dag/diff/print_text.h"

#include <errno.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "dag/diff/noise.h"
#include "dag/output/markdown.h"

#define COMMAND_SHOWN 100

static void put_side(struct printable *p, const struct comparison *c, int side, FILE *out)
{
	cleanup_free char *command = NULL;
	size_t size;
	FILE *text = open_memstream(&command, &size);

	if (text) {
		report_put_short(text, c->command[side] ? c->command[side] : "-", COMMAND_SHOWN);
		p->failed |= fclose(text) != 0;
	}
	p->failed |= !command;
	fprintf(out, "- **%c** (%s): ", 'A' + side, side ? "this" : "before");
	markdown_put(p, command ? command : "", out);
	if (c->n_runs[side] > 1)
		fprintf(out, ", %d runs", c->n_runs[side]);
	fputc('\n', out);
}

/* A part with nothing in it is left out. */
static int put_folded(const struct text_output *t, const char *title, int (*print)(const struct text_output *t))
{
	cleanup_free char *part = NULL;
	size_t size = 0;
	struct text_output inner = *t;
	int r;

	inner.out = open_memstream(&part, &size);
	if (!inner.out)
		return -ENOMEM;
	r = print(&inner);
	if (fclose(inner.out) != 0)
		r = -ENOMEM;
	if (r == 0 && size)
		fprintf(t->out, "\n<details><summary>%s</summary>\n%s\n</details>\n", title, part);
	return r;
}

int report_print_markdown(const struct comparison *c, const struct table_style *style, int64_t top, FILE *out)
{
	struct text_output t = { c, style, top, out, NULL, NULL };
	cleanup_free char *summary = report_summary(c);
	struct printable printable = { 0 };
	int r = summary ? 0 : -ENOMEM;

	if (r == 0) {
		fputs("### ", out);
		markdown_put(&printable, summary, out);
		fputs("\n\n", out);
		put_side(&printable, c, 0, out);
		put_side(&printable, c, 1, out);
		r = printable.failed ? -ENOMEM : print_text_figures(&t);
	}
	if (r == 0 && c->found->n)
		r = print_text_differences(&t);
	if (r == 0)
		r = put_folded(&t, "Noise: what differs among runs of one side, and does not count", print_text_noise);
	if (r == 0)
		r = put_folded(&t, "Time, CPU, memory and bytes of phases", print_text_measures);
	if (r == 0)
		r = put_folded(&t, "Critical path", print_text_paths);
	printable_finish(&printable);
	return r;
}
