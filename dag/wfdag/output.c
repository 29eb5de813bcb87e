/* SPDX-License-Identifier: MIT */
#include "dag/wfdag/output.h"

#include <errno.h>

#include "base/failure.h"
#include "base/output.h"
#include "base/place.h"
#include "dag/export/export.h"
#include "dag/export/stacks.h"
#include "dag/wfdag/options.h"

static int fail_write(const char *file, int r, struct failure *failure)
{
	return failure_set(failure, r, "cannot write '%s': %s", file, place_explain(r));
}

static int fail_export(const struct export *format, const char *file, int r, struct failure *failure)
{
	if (!format->picture)
		return fail_write(file, r, failure);
	if (r == -ENOENT)
		return failure_set(failure, r,
			"cannot draw '%s': there is no 'dot'; install Graphviz (Debian: graphviz), "
			"or write --dot and draw it elsewhere",
			file);
	if (r == -ETIMEDOUT)
		return failure_set(failure, r,
			"cannot draw '%s': dot took more than %d s; choose a part of the graph, or "
			"write --dot and draw it elsewhere",
			file, EXPORT_PICTURE_SECONDS);
	return failure_set(failure, r, "cannot draw '%s': %s", file,
		r == -EPROTO ? "dot failed; its message is above" : place_explain(r));
}

static int write_file(const struct dag_options *o, const struct shape *shape,
	const struct export *format, const char *file, struct failure *failure)
{
	const struct export_options options = { .dot = &o->dot, .stacks = &stacks_kinds[o->stacks] };
	struct output out;
	int r = output_open(file, &out), exported;

	if (r < 0)
		return fail_write(file, r, failure);
	exported = export_write(format, shape, &options, out.fd);
	r = output_close(&out, exported);
	return exported < 0 ? fail_export(format, file, exported, failure) : r < 0 ? fail_write(file, r, failure) : 0;
}

static enum output_kind kind_of(const struct export *format)
{
	return !export_is_drawing(format) ? OUTPUT_DATA : format->picture ? OUTPUT_PICTURE : OUTPUT_DOT;
}

bool dag_has_output(const struct dag_options *o, enum output_kind kind)
{
	for (int i = 0; exports[i].option; i++)
		if (o->outputs[i] && kind_of(&exports[i]) == kind)
			return true;
	return false;
}

int dag_write(const struct dag_options *o, const struct shape *shape, enum output_kind kind, struct failure *failure)
{
	int r = 0;

	for (int i = 0; exports[i].option && r == 0; i++)
		if (o->outputs[i] && kind_of(&exports[i]) == kind)
			r = write_file(o, shape, &exports[i], o->outputs[i], failure);
	return r;
}
