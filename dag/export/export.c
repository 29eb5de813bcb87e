/* SPDX-License-Identifier: MIT */
#include "dag/export/export.h"

#include <errno.h>

#include "base/output.h"
#include "dag/output/pipe.h"

const struct export exports[] = {
	{ "dot", "for Graphviz", NULL, NULL },
	{ "gml", "for networkx and yEd", export_gml, NULL },
	{ "graphml", "for networkx, igraph, yEd and Gephi", export_graphml, NULL },
	{ "cyjs", "for Cytoscape", export_cyjs, NULL },
	{ "csv", "a row for each node and each edge", export_csv, NULL },
	{ "json", "nodes and edges with all their attributes", export_json, NULL },
	{ "svg", "a picture, drawn by Graphviz", NULL, "svg" },
	{ "png", "a picture, drawn by Graphviz", NULL, "png" },
	{ "pdf", "a picture, drawn by Graphviz", NULL, "pdf" },
	{ "ps", "a picture, drawn by Graphviz", NULL, "ps" },
	{ "jpeg", "a picture, drawn by Graphviz", NULL, "jpeg" },
	{ NULL, NULL, NULL, NULL },
};
_Static_assert(sizeof(exports) / sizeof(exports[0]) <= EXPORTS_MAX + 1,
	"EXPORTS_MAX is the number of formats");

struct drawing {
	const struct shape *shape;
	const struct dot_options *options;
	int r;
};

bool export_is_drawing(const struct export *format)
{
	return !format->write;
}

static void put_dot(FILE *out, void *arg)
{
	struct drawing *drawing = arg;

	drawing->r = dot_write(drawing->shape, drawing->options, out);
}

static int write_picture(const struct export *format, struct drawing *drawing, int out)
{
	char name[] = "dot", option[16], *argv[] = { name, option, NULL };
	int r;

	snprintf(option, sizeof(option), "-T%s", format->picture);
	r = pipe_run(argv, out, EXPORT_PICTURE_SECONDS, put_dot, drawing);
	return r < 0 ? r : drawing->r;
}

int export_write(const struct export *format, const struct shape *shape,
	const struct dot_options *dot_options, int out)
{
	struct drawing drawing = { .shape = shape, .options = dot_options };
	FILE *stream;
	int r;

	if (format->picture)
		return write_picture(format, &drawing, out);
	stream = output_stream(out);
	if (!stream)
		return -errno;
	r = format->write ? format->write(shape, stream) : dot_write(shape, dot_options, stream);
	return fclose(stream) == 0 || r < 0 ? r : -errno;
}
