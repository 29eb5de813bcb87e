/* SPDX-License-Identifier: MIT */

/* The workflow graph and the tree of processes, laid out by Graphviz, with the facts of each node. */

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/failure.h"
#include "dag/export/dot.h"
#include "dag/export/rows.h"
#include "dag/graph/critical.h"
#include "dag/output/html.h"
#include "dag/output/pipe.h"
#include "dag/report/report.h"
#include "dag/shape/fold.h"
#include "dag/shape/palette.h"
#include "dag/shape/shape.h"

#define DOT_SECONDS 120
#define PATIENCE_SECONDS 4 /* while there is a smaller graph to draw */
#define NODES_LEAST 40

struct picture {
	const struct shape *shape;
	struct dot_options options;
	int r;
};

static void put_dot(FILE *out, void *arg)
{
	struct picture *picture = arg;

	picture->r = dot_write(picture->shape, &picture->options, out);
}

/* ---- the picture ---- */

/* Reads what a program has written into a file.  The caller frees *ret_text also after an error. */
static int read_back(FILE *file, char **ret_text, size_t *ret_len)
{
	off_t end = lseek(fileno(file), 0, SEEK_END);
	char *text = end < 0 ? NULL : malloc((size_t)end + 1);
	ssize_t n = text ? pread(fileno(file), text, (size_t)end, 0) : -1;

	*ret_text = text;
	*ret_len = n < 0 ? 0 : (size_t)n;
	if (n >= 0)
		text[n] = '\0';
	return n == end ? 0 : text ? -EIO : -ENOMEM;
}

static int draw(const struct report *report, const char *ids, const struct shape *shape, int seconds, char **ret_svg)
{
	char dot[] = "dot", format[] = "-Tsvg", *argv[] = { dot, format, NULL };
	struct picture picture = { .shape = shape, .options = { .no_legend = true, .ids = ids,
		.colour = palette_colour, .colours = report->palette } };
	FILE *file = tmpfile();
	size_t len;
	int r = file ? pipe_run(argv, fileno(file), seconds, put_dot, &picture) : -errno;

	*ret_svg = NULL;
	if (r == 0)
		r = picture.r;
	if (r == 0)
		r = read_back(file, ret_svg, &len);
	if (file)
		fclose(file);
	return r;
}

/* The XML head before <svg> is left out: it is for a separate file. */
static void put_svg(const char *id, const char *title, const char *svg, FILE *out)
{
	const char *at = strstr(svg, "<svg"), *end = at ? strchr(at, '>') : NULL;

	if (!end)
		return;
	fprintf(out, "<div class=\"graph\" id=\"%s-picture\">\n", id);
	fprintf(out, "<svg role=\"group\" aria-label=\"%s\"%.*s", title, (int)(end - at - 4), at + 4);
	fputs(end, out);
	fputs("</div>\n", out);
}

static void put_no_picture(int r, FILE *out)
{
	fputs("<p class=\"missing\">", out);
	if (r == -ENOENT)
		fputs("There is no picture: 'dot' was not there when the report was made; install Graphviz "
		      "(Debian: graphviz).", out);
	else if (r == -ETIMEDOUT)
		fprintf(out, "There is no picture: dot took more than %d s; try a smaller --max-nodes.",
			DOT_SECONDS);
	else
		fprintf(out, "There is no picture: dot failed: %s", strerror(-r));
	fputs("</p>\n", out);
}

/* Nodes and edges as rows, those of wfdag --csv. */
static int put_elements(struct report *r, const char *id, const struct shape *shape)
{
	cleanup_free char *text = export_rows(shape);

	if (!text)
		return failure_memory(r->failure);
	fprintf(r->out, "<script type=\"application/json\" id=\"data-%s\">", id);
	html_put_json(text, strlen(text), r->out);
	fputs("</script>\n", r->out);
	return 0;
}

/* ---- the section ---- */

static void put_words(const struct shape *shape, FILE *out)
{
	fputs("<p>As <code>wfdag</code> draws it. <span class=\"script\">Drag to pan, wheel or + - to zoom, 0 to see all; "
	      "click a node, or Enter on it, for its facts.</span></p>\n", out);
	if (shape->folded)
		fprintf(out, "<p class=\"note\">%d nodes are folded into others: %d are shown.</p>\n",
			shape->folded, shape->n_nodes);
}

/* What dot does not draw in a few seconds is folded once more, if the user does not say how large the picture is. */
static int draw_somehow(struct report *r, const char *ids, struct shape *shape, char **ret_svg)
{
	int64_t max = r->options->max_nodes;
	int drawn;

	for (;; max /= 2) {
		bool is_last = r->options->max_given || max / 2 < NODES_LEAST;

		drawn = draw(r, ids, shape, is_last ? DOT_SECONDS : PATIENCE_SECONDS, ret_svg);
		if (drawn != -ETIMEDOUT || is_last)
			return drawn;
		free(*ret_svg);
		drawn = fold_to(shape, (int32_t)(max / 2));
		if (drawn < 0)
			return drawn;
	}
}

static int put_shape(struct report *r, const char *id, const char *title, struct shape *shape,
	bool is_tree)
{
	cleanup_free char *svg = NULL, *sql = NULL;
	int drawn, error = 0;

	fprintf(r->out, "<article class=\"exhibit\" id=\"%s\">\n<h3>%s</h3>\n", id, title);
	drawn = draw_somehow(r, is_tree ? "tree-" : "dag-", shape, &svg);
	put_words(shape, r->out);
	if (drawn == 0) {
		put_svg(id, title, svg, r->out);
		error = report_legend(r, shape);
	} else {
		put_no_picture(drawn, r->out);
	}
	r->out_of_memory |= drawn == -ENOMEM;
	sql = exhibit_graph_sql(r, is_tree ? "--tree" : "--dag");
	exhibit_put_sql(r, id, sql);
	if (error == 0)
		error = put_elements(r, id, shape);
	fputs("</article>\n", r->out);
	return error;
}

static int put_graph(struct report *r, const char *id, const char *title, enum shape_what what)
{
	int64_t most = r->options->max_nodes;
	/* Where nodes are folded, parts of one file would remain separate nodes. */
	struct shape_options options = {
		.what = what, .critical = r->critical, .fold = r->shape->n_nodes > most
	};
	struct shape *shape = NULL;
	int error = shape_create(r->workflow, &options, &shape);

	if (error == 0)
		error = fold_to(shape, most > INT32_MAX ? INT32_MAX : (int32_t)most);
	error = error < 0 ? failure_memory(r->failure)
			  : put_shape(r, id, title, shape, what == SHAPE_TREE);
	shape_destroy(shape);
	return error;
}

int report_graph(struct report *r)
{
	int error = put_graph(r, "dag", "The workflow", SHAPE_DAG);

	return error < 0 ? error : put_graph(r, "tree", "Process tree", SHAPE_TREE);
}
