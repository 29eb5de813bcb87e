/* SPDX-License-Identifier: MIT */
#include "dag/output/chart.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/cleanup.h"
#include "base/failure.h"
#include "base/output.h"
#include "base/place.h"
#include "base/vector.h"
#include "dag/output/chart_internal.h"
#include "dag/output/pipe.h"
#include "dag/output/printable.h"

#define GNUPLOT_SECONDS 120

static char *keep(struct chart *chart, const char *text)
{
	char *copy = arena_text(&chart->texts, text, strlen(text));

	chart->failed |= !copy;
	return copy;
}

struct chart *chart_create(const char *title, const char *x, const char *unit, const char *y,
	int flags)
{
	struct chart *chart = calloc(1, sizeof(*chart));

	if (!chart)
		return NULL;
	chart->title = keep(chart, title);
	chart->x = keep(chart, x);
	chart->unit = keep(chart, unit);
	chart->y = keep(chart, y);
	chart->flags = flags;
	return chart;
}

static void chart_destroy(struct chart *chart)
{
	if (!chart)
		return;
	for (size_t i = 0; i < chart->count; i++)
		free(chart->curves[i].points), free(chart->curves[i].boxes);
	free(chart->curves);
	free(chart->names);
	arena_free(&chart->texts);
	free(chart);
}

/* A copy for pictures: one line of UTF-8.  gnuplot does not escape '>' in SVG, and XML forbids "]]>".
 * NULL: out of memory. */
static char *legible(struct chart *chart, const char *name)
{
	struct printable clean = { 0 };
	char *copy = keep(chart, printable_text(&clean, name));

	chart->failed |= clean.failed;
	printable_finish(&clean);
	for (char *at = copy ? strstr(copy, "]]>") : NULL; at; at = strstr(at, "]]>"))
		at[2] = '?';
	return copy;
}

void chart_curve(struct chart *chart, const char *name)
{
	const struct curve curve = { .name = legible(chart, name) };

	chart->failed |= vector_push(chart->curves, chart->count, curve) < 0;
}

void chart_name(struct chart *chart, const char *name)
{
	const char *copy = legible(chart, name);

	chart->failed |= vector_push(chart->names, chart->n_names, copy) < 0;
}

void chart_point(struct chart *chart, double x, double y)
{
	struct curve *curve = chart->count ? &chart->curves[chart->count - 1] : NULL;

	chart->failed |=
		!curve || vector_push(curve->points, curve->count, (struct point){ x, y }) < 0;
}

void chart_map(struct chart *chart, const char *unit, const char *values)
{
	chart->unit_y = keep(chart, unit);
	chart->values = keep(chart, values);
}

void chart_box(struct chart *chart, double x, double x_end, double y, double y_end, double value)
{
	struct curve *curve = chart->count ? &chart->curves[chart->count - 1] : NULL;

	chart->failed |= !curve || vector_push(curve->boxes, curve->n_boxes, (struct box){ x, x_end, y, y_end, value }) < 0;
}

/* ---- gnuplot ---- */

/* Characters other than the plain ones become octal numbers: gnuplot runs commands in backquotes, and ends a
 * single-quoted text that begins with '' there.  A digit behind an octal number becomes one, too: gnuplot reads all
 * digits that follow as a part of the number. */
void chart_put_string(FILE *out, const char *text)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ _.,:/()-";
	bool number = false;

	fputc('"', out);
	for (; *text; text++) {
		bool digit = *text >= '0' && *text <= '9';

		number = !strchr(plain, *text) && (unsigned char)*text < 0x80 && (!digit || number);
		if (number)
			fprintf(out, "\\%03o", (unsigned char)*text);
		else
			fputc(*text, out);
	}
	fputc('"', out);
}

void chart_put_setting(FILE *out, const char *setting, const char *text)
{
	fprintf(out, "set %s ", setting);
	chart_put_string(out, text);
	fputc('\n', out);
}

/* Each curve is a block: its name, its points, and two empty lines behind it. */
static void put_data(const struct chart *chart, FILE *out)
{
	for (size_t i = 0; i < chart->count; i++) {
		const struct curve *curve = &chart->curves[i];

		fprintf(out, "%s# %s\n", i ? "\n\n" : "", curve->name);
		if ((chart->flags & CHART_STEPS) && curve->count)
			fprintf(out, "%.15g 0\n", curve->points[0].x);
		for (size_t k = 0; k < curve->count; k++)
			fprintf(out, "%.15g %.15g\n", curve->points[k].x, curve->points[k].y);
		chart_put_boxes(curve, out);
	}
}

void chart_put_source(const char *source, FILE *out)
{
	if (*source == '$')
		fputs(source, out);
	else
		chart_put_string(out, source);
}

/* Two bars side by side, each with a scale of its own. */
static void put_bars(const struct chart *chart, const char *source, FILE *out)
{
	fputs("plot", out);
	for (size_t i = 0; i < chart->count; i++) {
		fputs(i ? ", \\\n    " : " ", out);
		chart_put_source(source, out);
		fprintf(out, " index %zu using ($1%s0.2):2 with boxes axes x1y%zu title ", i, i ? "+" : "-", i + 1);
		chart_put_string(out, chart->curves[i].name);
	}
	fputc('\n', out);
}

/* source: the data, as gnuplot names it; "$data" is in the script. */
static void put_plot(const struct chart *chart, const char *source, FILE *out)
{
	const char *style = chart->flags & CHART_BARS    ? "histeps"
			    : chart->flags & CHART_STEPS ? "steps"
							 : "lines";

	if (chart->values) {
		chart_put_maps(chart, source, out);
		return;
	}
	if (chart->flags & CHART_NAMED) {
		put_bars(chart, source, out);
		return;
	}
	fputs("plot", out);
	for (size_t i = 0; i < chart->count; i++) {
		fputs(i ? ", \\\n    " : " ", out);
		chart_put_source(source, out);
		/* Behind the eighth curve the colours repeat, so the lines are dashed. */
		fprintf(out, " index %zu using 1:2 with %s linewidth 2 dashtype %zu title ", i,
			style, i / 8 + 1);
		chart_put_string(out, chart->curves[i].name);
	}
	fputc('\n', out);
}

/* gnuplot finds no range for a single value. */
static void put_range(const struct chart *chart, FILE *out)
{
	double min = INFINITY, max = -INFINITY;

	for (size_t i = 0; i < chart->count; i++)
		for (size_t k = 0; k < chart->curves[i].count; k++) {
			min = fmin(min, chart->curves[i].points[k].x);
			max = fmax(max, chart->curves[i].points[k].x);
		}
	if (min == max)
		fprintf(out, "set xrange [%.15g:%.15g]\n", min > 0 ? min / 2 : min - 1,
			max > 0 ? max * 2 : max + 1);
}

static void put_names(const struct chart *chart, FILE *out)
{
	fputs("set xtics rotate by -45 (", out);
	for (size_t i = 0; i < chart->n_names; i++) {
		fputs(i ? ", " : "", out);
		chart_put_string(out, chart->names[i]);
		fprintf(out, " %zu", i);
	}
	fprintf(out, ")\nset xrange [-0.6:%.1f]\nset boxwidth 0.4\nset style fill solid 0.8\nset logscale y\nset logscale y2\n"
		     "set ytics nomirror\nset y2tics\nset format y '%%.0s %%c'\nset format y2 '%%.0s %%c%s'\n",
		(double)chart->n_names - 0.4, chart->unit);
	if (chart->count > 1)
		chart_put_setting(out, "y2label", chart->curves[1].name);
}

static void put_settings(const struct chart *chart, FILE *out)
{
	if (chart->values) {
		chart_put_map_settings(chart, out);
		return;
	}
	chart_put_setting(out, "title", chart->title);
	chart_put_setting(out, "xlabel", chart->x);
	chart_put_setting(out, "ylabel", chart->y);
	if (chart->flags & CHART_NAMED) {
		fputs("set grid y\nset key outside center top horizontal\n", out);
		put_names(chart, out);
		return;
	}
	fputs("set grid\nset key outside right top\n", out);
	if (chart->flags & CHART_LOG_X)
		fputs("set logscale x\n", out);
	put_range(chart, out);
	fprintf(out, "set format x '%%.0s %%c%s'\n", chart->unit);
	fputs(chart->flags & CHART_STEPS ? "set yrange [0:1]\n" : "set format y '%.0s %c'\n", out);
}

/* A picture that is being made. */
struct picture {
	const struct chart *chart;
	const char *terminal;
};

/* Its script, which contains the data.  gnuplot writes the picture to stdout, so that it does not interpret the name of a
 * file. */
static void put_script(FILE *out, void *arg)
{
	const struct picture *picture = arg;

	fprintf(out, "set encoding utf8\nset terminal %s\n", picture->terminal);
	put_settings(picture->chart, out);
	fputs("$data << END_OF_DATA\n", out);
	put_data(picture->chart, out);
	fputs("END_OF_DATA\n", out);
	put_plot(picture->chart, "$data", out);
}

static int draw(const struct chart *chart, const char *terminal, const char *file,
	struct failure *failure)
{
	char name[] = "gnuplot", *argv[] = { name, NULL };
	struct picture picture = { chart, terminal };
	struct output output;
	int r;

	if (!file)
		return 0;
	if (chart->count == 0)
		return failure_set(failure, -ENODATA, "cannot draw '%s': there is nothing to draw; choose a larger part of the run",
			file);
	r = output_open(file, &output);
	if (r < 0)
		return failure_set(failure, r, "cannot write '%s': %s", file, place_explain(r));
	r = output_close(&output, pipe_run(argv, output.fd, GNUPLOT_SECONDS, put_script, &picture));
	if (r == OUTPUT_IS_OTHER)
		return failure_set(failure, r, "cannot write '%s': %s", file, place_explain(r));
	if (r == -ENOENT)
		return failure_set(failure, r,
			"cannot draw '%s': there is no gnuplot; install it (Debian: "
			"gnuplot-nox), or take its script by --gnuplot elsewhere",
			file);
	if (r == -EPROTO)
		return failure_set(failure, r,
			"cannot draw '%s': gnuplot failed; its message is above", file);
	if (r == -ETIMEDOUT)
		return failure_set(failure, r,
			"cannot draw '%s': gnuplot took more than %d s; take its script by "
			"--gnuplot elsewhere",
			file, GNUPLOT_SECONDS);
	return r < 0 ? failure_set(failure, r, "cannot run gnuplot: %s", strerror(-r)) : 0;
}

static int put_to(const struct chart *chart, const char *path, const char *data,
	void (*put)(const struct chart *, const char *, FILE *))
{
	struct output output;
	int r = output_open(path, &output);
	FILE *out;

	if (r < 0)
		return r;
	out = output_stream(output.fd);
	if (!out)
		return output_close(&output, -errno);
	put(chart, data, out);
	r = ferror(out) ? -EIO : 0;
	if (fclose(out) != 0 && r == 0)
		r = -errno;
	return output_close(&output, r);
}

static int write_file(const struct chart *chart, const char *name, const char *end,
	void (*put)(const struct chart *, const char *, FILE *), struct failure *failure)
{
	cleanup_free char *path = NULL, *data = NULL;
	int r;

	if (asprintf(&path, "%s%s", name, end) < 0 || asprintf(&data, "%s.dat", name) < 0)
		return failure_memory(failure);
	r = put_to(chart, path, data, put);
	return r < 0 ? failure_set(failure, r, "cannot write '%s': %s", path, place_explain(r)) : 0;
}

static void put_dat(const struct chart *chart, const char *data, FILE *out)
{
	(void)data;
	put_data(chart, out);
}

static void put_gp(const struct chart *chart, const char *data, FILE *out)
{
	put_settings(chart, out);
	put_plot(chart, data, out);
}

/* Curves without a point are not drawn. */
static void drop_empty(struct chart *chart)
{
	size_t n = 0;

	for (size_t i = 0; i < chart->count; i++)
		if (chart->curves[i].count || chart->curves[i].n_boxes)
			chart->curves[n++] = chart->curves[i];
	chart->count = n;
}

#define MAP_HEIGHT 250

/* A picture of so many maps that 600 pixels are few is higher. */
static int draw_all(const struct chart *chart, const char *svg, const char *png, struct failure *failure)
{
	size_t height = chart->values && chart->count * MAP_HEIGHT > 600 ? chart->count * MAP_HEIGHT : 600;
	char terminal[96];
	int r;

	snprintf(terminal, sizeof(terminal), "svg size 900,%zu noenhanced background 'white'", height);
	r = draw(chart, terminal, svg, failure);
	snprintf(terminal, sizeof(terminal), "pngcairo size 900,%zu noenhanced", height);
	return r < 0 ? r : draw(chart, terminal, png, failure);
}

static int write_chart(struct chart *chart, const char *svg, const char *png, const char *name,
	struct failure *failure)
{
	int r = 0;

	if (!chart || chart->failed)
		return failure_memory(failure);
	drop_empty(chart);
	if (name)
		r = write_file(chart, name, ".dat", put_dat, failure);
	if (r == 0 && name)
		r = write_file(chart, name, ".gp", put_gp, failure);
	return r < 0 ? r : draw_all(chart, svg, png, failure);
}

int chart_finish(struct chart *chart, const char *svg, const char *png, const char *name,
	struct failure *failure)
{
	int r = write_chart(chart, svg, png, name, failure);

	chart_destroy(chart);
	return r;
}
