/* SPDX-License-Identifier: MIT */
#include "dag/export/export.h"

#include <errno.h>

#include "base/output.h"
#include "dag/export/collapsed.h"
#include "dag/output/pipe.h"
#include "dag/shape/attributes.h"

#define FORMAT(name, help) { #name, help, export_##name, NULL, false, NULL },
#define SINGLE(name, help) { #name, help, export_##name, NULL, true, NULL },
#define LINES(name, help) { #name, help, NULL, name##_write, true, NULL },
#define DRAWING(name, picture, help) { #name, help, NULL, NULL, false, picture },
const struct export exports[] = { EXPORTS(FORMAT, SINGLE, LINES, DRAWING){ NULL, NULL, NULL, NULL, false, NULL } };
_Static_assert(sizeof(exports) / sizeof(exports[0]) <= EXPORTS_MAX + 1,
	"EXPORTS_MAX is the number of formats");

struct drawing {
	const struct shape *shape;
	const struct dot_options *options;
	int r;
};

bool export_is_drawing(const struct export *format)
{
	return !format->write && !format->write_lines;
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
	r = pipe_run(argv, out, drawing->options->limit_s ? drawing->options->limit_s : EXPORT_PICTURE_SECONDS, put_dot, drawing);
	return r < 0 ? r : drawing->r;
}

int export_finish(struct attribute_value *value, FILE *out)
{
	bool failed = value->clean.failed;

	attribute_value_finish(value);
	return failed ? -ENOMEM : ferror(out) || fflush(out) != 0 ? -EIO : 0;
}

int export_write(const struct export *format, const struct shape *shape,
	const struct export_options *options, int out)
{
	struct drawing drawing = { .shape = shape, .options = options->dot };
	FILE *stream;
	int r;

	if (format->picture)
		return write_picture(format, &drawing, out);
	stream = output_stream(out);
	if (!stream)
		return -errno;
	r = format->write	  ? format->write(shape, stream)
	    : format->write_lines ? format->write_lines(shape, options->stacks, stream)
				  : dot_write(shape, options->dot, stream);
	return fclose(stream) == 0 || r < 0 ? r : -errno;
}
