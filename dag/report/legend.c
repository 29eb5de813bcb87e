/* SPDX-License-Identifier: MIT */

/* The legend of a graph: its signs, drawn as Graphviz draws them, and the colours of its steps. */

#include <stdlib.h>

#include "base/cleanup.h"
#include "base/failure.h"
#include "dag/export/dot.h"
#include "dag/export/dot_legend.h"
#include "dag/graph/workflow.h"
#include "dag/output/html.h"
#include "dag/output/table_page.h"
#include "dag/report/report.h"
#include "dag/shape/palette.h"

/* ---- signs ---- */

#define LINE(more) "<path d=\"M1 8H39\"" more "/>"
#define ARROW(head) "<path d=\"M1 8H29\"/>" head

/* SVG in a box of 40 by 16. */
static const char *const pictures[DOT_SIGN_MAX] = {
	[DOT_SIGN_PROCESS] = "<ellipse cx=\"20\" cy=\"8\" rx=\"18\" ry=\"7\"/>",
	[DOT_SIGN_FAILED] = "<g stroke=\"#8b0000\"><ellipse cx=\"20\" cy=\"8\" rx=\"18\" ry=\"7\"/>"
			    "<ellipse cx=\"20\" cy=\"8\" rx=\"14\" ry=\"4.5\"/></g>",
	[DOT_SIGN_FILE] = "<path d=\"M2 1.5H38V14.5H2Z\"/>",
	[DOT_SIGN_MISSING] = "<path d=\"M2 1.5H38V14.5H2Z\" stroke-dasharray=\"4 3\" stroke=\"#808080\"/>",
	[DOT_SIGN_SEVERAL] = "<path d=\"M5 2H13L17 6V10L13 14H5L1 10V6ZM6 4H12L15 7V9L12 12H6L3 9V7Z\"/>"
			     "<path d=\"M22 4H38V14H22ZM30 4L32 2H36L37 4\"/>",
	[DOT_SIGN_STARTED] = "<path d=\"M1 8H29\" stroke-dasharray=\"1.5 3\"/><path d=\"M29 4.5L39 8L29 11.5Z\"/>",
	[DOT_SIGN_NEXT] = LINE(" stroke-width=\"3\""),
	[DOT_SIGN_LOOKED] = LINE(" stroke-dasharray=\"1.5 3\" stroke=\"#808080\""),
	[DOT_SIGN_DATA] = LINE(""),
	[DOT_SIGN_ASSUMED] = LINE(" stroke-dasharray=\"5 3\""),
	[DOT_SIGN_BOTH] = "<path d=\"M10 8H30\"/><path d=\"M29 4.5L39 8L29 11.5ZM11 4.5L1 8L11 11.5Z\" "
			  "fill=\"currentColor\"/>",
	[DOT_SIGN_READ] = ARROW("<path d=\"M29 3.5L39 8L29 12.5L33 8Z\" fill=\"currentColor\"/>"),
	[DOT_SIGN_EXECUTE] = ARROW("<path d=\"M30 4H38V12H30Z\" fill=\"currentColor\"/>"),
	[DOT_SIGN_WRITE] = ARROW("<path d=\"M29 4.5L39 8L29 11.5Z\" fill=\"currentColor\"/>"),
	[DOT_SIGN_CREATE] = ARROW("<circle cx=\"34\" cy=\"8\" r=\"4\" fill=\"currentColor\"/>"),
	[DOT_SIGN_RENAME] = ARROW("<path d=\"M27 8L33 4.5L39 8L33 11.5Z\" fill=\"currentColor\"/>"),
	[DOT_SIGN_DELETE] = "<path d=\"M1 8H36\"/><path d=\"M35 3H38V13H35Z\" fill=\"currentColor\"/>",
	[DOT_SIGN_PIPE] = "<path d=\"M1 8H23\"/><path d=\"M19 3.5L29 8L19 12.5L23 8ZM29 3.5L39 8L29 12.5L33 8Z\" fill=\"currentColor\"/>",
	[DOT_SIGN_SLOW] = "<text x=\"6\" y=\"12\" font-size=\"11\" stroke=\"none\" fill=\"#cd6600\">kB/s</text>",
	[DOT_SIGN_FEEDBACK] = LINE(" stroke=\"#0000ff\""),
	[DOT_SIGN_CRITICAL] = LINE(" stroke=\"#ff0000\" stroke-width=\"2\""),
};

static void put_signs(const struct shape *shape, FILE *out)
{
	bool there[DOT_SIGN_MAX];

	dot_signs(shape, there);
	fputs("<ul class=\"legend signs\">\n", out);
	for (int i = 0; i < DOT_SIGN_MAX; i++)
		if (there[i])
			fprintf(out, "<li><svg width=\"40\" height=\"16\" viewBox=\"0 0 40 16\" fill=\"none\" "
				     "stroke=\"currentColor\" aria-hidden=\"true\">%s</svg>%s</li>\n",
				pictures[i], dot_sign_words[i].meaning);
	fputs("</ul>\n", out);
}

/* ---- steps ---- */

/* Marks the steps of the shape's processes, by their index in the palette.  Returns their number. */
static size_t list_steps(const struct report *r, const struct shape *shape, bool *shown)
{
	size_t n = palette_count(r->palette), count = 0;

	for (int32_t i = 0; i < shape->n_nodes; i++) {
		const struct shape_node *node = &shape->nodes[i];
		size_t index = node->kind == NODE_PROCESS
				       ? palette_index(r->palette, workflow_task(r->workflow, node->of)->step)
				       : n;

		if (index < n && !shown[index]) {
			shown[index] = true;
			count++;
		}
	}
	return count;
}

static int put_steps(const struct report *r, const struct shape *shape, FILE *out)
{
	size_t n = palette_count(r->palette), named = 0, count;
	cleanup_free bool *shown = calloc(n + 1, sizeof(*shown));

	if (!shown)
		return failure_memory(r->failure);
	count = list_steps(r, shape, shown);
	if (count)
		fputs("<ul class=\"legend steps\">\n", out);
	for (size_t i = 0; i < n && true; i++) {
		const char *step = palette_step(r->palette, i);

		if (!shown[i])
			continue;
		fprintf(out, "<li><svg width=\"14\" height=\"14\" aria-hidden=\"true\"><rect width=\"14\" "
			     "height=\"14\" fill=\"%s\"/></svg>", palette_colour(r->palette, step));
		html_put_string(step, out);
		fputs("</li>\n", out);
		named++;
	}
	if (count > named)
		fprintf(out, "<li>and %zu more</li>\n", count - named);
	if (count)
		fputs("</ul>\n", out);
	return 0;
}

int report_legend(struct report *r, const struct shape *shape)
{
	put_signs(shape, r->out);
	return put_steps(r, shape, r->out);
}

int report_colours(struct report *r)
{
	struct table_style style = r->style;
	struct table *table = table_create();
	int error;

	if (!table)
		return failure_memory(r->failure);
	style.name = "step-colours";
	table_columns(table, "step colour");
	for (size_t i = 0; i < palette_count(r->palette); i++) {
		table_string(table, palette_step(r->palette, i));
		table_string(table, palette_colour(r->palette, palette_step(r->palette, i)));
	}
	fputs("<script type=\"application/json\" id=\"data-step-colours\">", r->out);
	error = failure_of_memory(r->failure, table_put_data(table, &style, r->out));
	fputs("</script>\n", r->out);
	table_destroy(table);
	return error;
}
