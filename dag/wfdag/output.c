/* SPDX-License-Identifier: MIT */
#include "dag/wfdag/output.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/output.h"
#include "base/place.h"
#include "dag/export/dot.h"
#include "dag/export/export.h"
#include "dag/output/pipe.h"
#include "dag/wfdag/options.h"

#define DOT_SECONDS 300

struct picture {
	const struct shape *shape;
	const struct dot_options *options;
	int r;
};

/* Pictures are made of DOT. */
static int put(enum dag_output output, const struct shape *shape, const struct dot_options *options,
	FILE *out)
{
	switch (output) {
	case DAG_GML:
		return export_gml(shape, out);
	case DAG_CSV:
		return export_csv(shape, out);
	case DAG_GRAPHML:
		return export_graphml(shape, out);
	case DAG_CYJS:
		return export_cyjs(shape, out);
	case DAG_JSON:
		return export_json(shape, out);
	default:
		return dot_write(shape, options, out);
	}
}

static void put_dot(FILE *out, void *arg)
{
	struct picture *picture = arg;

	picture->r = dot_write(picture->shape, picture->options, out);
}

static int complain(enum dag_output output, const char *file, int r)
{
	if (output < DAG_SVG)
		return err_status(EXIT_OWN, "cannot write '%s': %s", file, place_explain(r));
	if (r == -ENOENT)
		return err_status(EXIT_OWN,
			"cannot draw '%s': there is no 'dot'; install Graphviz (Debian: "
			"graphviz), or take --dot elsewhere",
			file);
	if (r == -ETIMEDOUT)
		return err_status(EXIT_OWN,
			"cannot draw '%s': dot took more than %d s; choose a part of the "
			"graph, or take --dot elsewhere",
			file, DOT_SECONDS);
	return err_status(EXIT_OWN, "cannot draw '%s': %s", file,
		r == -EPROTO ? "dot failed; what it said is above" : place_explain(r));
}

static int write_to(int fd, enum dag_output output, const struct shape *shape,
	const struct dot_options *options)
{
	static const char *const formats[] = { "", "", "", "", "", "", "svg", "png", "pdf", "ps",
		"jpeg" };
	struct picture picture = { .shape = shape, .options = options };
	char name[] = "dot", format[16], *argv[] = { name, format, NULL };
	FILE *out;
	int r;

	_Static_assert(sizeof(formats) / sizeof(formats[0]) == DAG_OUTPUT_MAX,
		"a format for each output");
	snprintf(format, sizeof(format), "-T%s", formats[output]);
	if (output >= DAG_SVG) {
		r = pipe_run(argv, fd, DOT_SECONDS, put_dot, &picture);
		return r < 0 ? r : picture.r;
	}
	out = output_stream(fd);
	if (!out)
		return -errno;
	r = put(output, shape, options, out);
	return fclose(out) == 0 || r < 0 ? r : -errno;
}

static int write_output(const struct dag_options *o, const struct shape *shape,
	enum dag_output output)
{
	const char *file = o->outputs[output];
	struct output out;
	int r;

	if (!file)
		return 0;
	r = output_open(file, &out);
	if (r == 0)
		r = output_close(&out, write_to(out.fd, output, shape, &o->dot));
	return r < 0 ? complain(output, file, r) : 0;
}

int dag_write_data(const struct dag_options *o, const struct shape *shape)
{
	int status = 0;

	for (int i = DAG_GML; i < DAG_SVG && status == 0; i++)
		status = write_output(o, shape, i);
	return status;
}

int dag_write_pictures(const struct dag_options *o, const struct shape *shape)
{
	int status = write_output(o, shape, DAG_DOT);

	for (int i = DAG_SVG; i < DAG_OUTPUT_MAX && status == 0; i++)
		status = write_output(o, shape, i);
	return status;
}
