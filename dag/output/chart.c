/* SPDX-License-Identifier: MIT */
#include "dag/output/chart.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/output.h"
#include "base/place.h"
#include "dag/output/pipe.h"
#include "dag/output/printable.h"

#define GNUPLOT_SECONDS 120

struct point {
	double x, y;
};

struct curve {
	char *name;
	struct point *points;
	size_t count, size;
};

struct chart {
	char *title, *x, *unit, *y;
	int flags;
	struct curve *curves;
	size_t count;
	bool failed; /* out of memory */
};

struct chart *chart_create(const char *title, const char *x, const char *unit, const char *y,
	int flags)
{
	struct chart *chart = calloc(1, sizeof(*chart));

	if (chart) {
		chart->title = strdup(title);
		chart->x = strdup(x);
		chart->unit = strdup(unit);
		chart->y = strdup(y);
		chart->flags = flags;
		chart->failed = !chart->title || !chart->x || !chart->unit || !chart->y;
	}
	return chart;
}

static void chart_destroy(struct chart *chart)
{
	if (!chart)
		return;
	for (size_t i = 0; i < chart->count; i++) {
		free(chart->curves[i].name);
		free(chart->curves[i].points);
	}
	free(chart->curves);
	free(chart->title);
	free(chart->x);
	free(chart->unit);
	free(chart->y);
	free(chart);
}

/* A copy that pictures can show: one line of UTF-8.  gnuplot does not escape '>' in SVG, and XML forbids "]]>".
 * NULL: out of memory. */
static char *legible(const char *name)
{
	struct printable clean = { 0 };
	const char *text = printable_text(&clean, name);
	char *copy = clean.failed ? NULL : strdup(text);

	printable_finish(&clean);
	for (char *at = copy ? strstr(copy, "]]>") : NULL; at; at = strstr(at, "]]>"))
		at[2] = '?';
	return copy;
}

void chart_curve(struct chart *chart, const char *name)
{
	struct curve *curves = realloc(chart->curves, (chart->count + 1) * sizeof(*curves));

	if (!curves) {
		chart->failed = true;
		return;
	}
	chart->curves = curves;
	curves[chart->count] = (struct curve){ .name = legible(name) };
	chart->failed |= !curves[chart->count].name;
	chart->count++;
}

void chart_point(struct chart *chart, double x, double y)
{
	struct curve *curve = chart->count ? &chart->curves[chart->count - 1] : NULL;

	if (curve && curve->count == curve->size) {
		size_t size = curve->size ? 2 * curve->size : 64;
		struct point *points = realloc(curve->points, size * sizeof(*points));

		curve->points = points ? points : curve->points;
		curve->size = points ? size : curve->size;
		curve = points ? curve : NULL;
	}
	if (curve)
		curve->points[curve->count++] = (struct point){ x, y };
	else
		chart->failed = true;
}

/* ---- gnuplot ---- */

/* Characters other than the plain ones become octal numbers: gnuplot runs commands in backquotes, and ends a
 * single-quoted text that begins with '' there.  A digit behind a number becomes one, too, since gnuplot reads an
 * octal number as long as digits follow. */
static void put_string(FILE *out, const char *text)
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

static void put_setting(FILE *out, const char *setting, const char *text)
{
	fprintf(out, "set %s ", setting);
	put_string(out, text);
	fputc('\n', out);
}

/* Each curve is a block, which begins with its name and is over with two empty lines. */
static void put_data(const struct chart *chart, FILE *out)
{
	for (size_t i = 0; i < chart->count; i++) {
		const struct curve *curve = &chart->curves[i];

		fprintf(out, "%s# %s\n", i ? "\n\n" : "", curve->name);
		if ((chart->flags & CHART_STEPS) && curve->count)
			fprintf(out, "%.15g 0\n", curve->points[0].x);
		for (size_t k = 0; k < curve->count; k++)
			fprintf(out, "%.15g %.15g\n", curve->points[k].x, curve->points[k].y);
	}
}

/* source: the data, as gnuplot names it; "$data" is in the script. */
static void put_plot(const struct chart *chart, const char *source, FILE *out)
{
	const char *style = chart->flags & CHART_BARS    ? "histeps"
			    : chart->flags & CHART_STEPS ? "steps"
							 : "lines";

	fputs("plot", out);
	for (size_t i = 0; i < chart->count; i++) {
		fputs(i ? ", \\\n    " : " ", out);
		if (*source == '$')
			fputs(source, out);
		else
			put_string(out, source);
		/* There are eight colours; then lines are dashed. */
		fprintf(out, " index %zu using 1:2 with %s linewidth 2 dashtype %zu title ", i,
			style, i / 8 + 1);
		put_string(out, chart->curves[i].name);
	}
	fputc('\n', out);
}

/* One value has no range of its own. */
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

static void put_settings(const struct chart *chart, FILE *out)
{
	put_setting(out, "title", chart->title);
	put_setting(out, "xlabel", chart->x);
	put_setting(out, "ylabel", chart->y);
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

/* Its script, with the data in it.  The picture comes on gnuplot's stdout: what gnuplot makes of the name of
 * a file is its own affair. */
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

static int draw(const struct chart *chart, const char *terminal, const char *file)
{
	char name[] = "gnuplot", *argv[] = { name, NULL };
	struct picture picture = { chart, terminal };
	struct output output;
	int r;

	if (!file)
		return 0;
	if (chart->count == 0)
		return err_status(EXIT_OWN, "cannot draw '%s': there is nothing in it", file);
	r = output_open(file, &output);
	if (r < 0)
		return err_status(EXIT_OWN, "cannot write '%s': %s", file, place_explain(r));
	r = output_close(&output, pipe_run(argv, output.fd, GNUPLOT_SECONDS, put_script, &picture));
	if (r == -ENOENT)
		return err_status(EXIT_OWN,
			"cannot draw '%s': there is no gnuplot; install it (Debian: "
			"gnuplot-nox), or take its script by --gnuplot elsewhere",
			file);
	if (r == -EPROTO)
		return err_status(EXIT_OWN,
			"cannot draw '%s': gnuplot failed; what it said is above", file);
	if (r == -ETIMEDOUT)
		return err_status(EXIT_OWN,
			"cannot draw '%s': gnuplot took more than %d s; take its script by "
			"--gnuplot elsewhere",
			file, GNUPLOT_SECONDS);
	return r < 0 ? err_status(EXIT_OWN, "cannot run gnuplot: %s", strerror(-r)) : 0;
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
	void (*put)(const struct chart *, const char *, FILE *))
{
	char *path = NULL, *data = NULL;
	int r = asprintf(&path, "%s%s", name, end) < 0 || asprintf(&data, "%s.dat", name) < 0
			? -ENOMEM
			: 0;

	if (r == 0)
		r = put_to(chart, path, data, put);
	if (r < 0)
		r = err_status(EXIT_OWN, "cannot write '%s': %s", path ? path : name, place_explain(r));
	free(path);
	free(data);
	return r;
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

/* A curve without a point is none. */
static void drop_empty(struct chart *chart)
{
	size_t n = 0;

	for (size_t i = 0; i < chart->count; i++)
		if (chart->curves[i].count)
			chart->curves[n++] = chart->curves[i];
		else
			free(chart->curves[i].name);
	chart->count = n;
}

int chart_finish(struct chart *chart, const char *svg, const char *png, const char *name)
{
	int status = chart && !chart->failed ? 0 : err_status(EXIT_OWN, "out of memory");

	if (chart)
		drop_empty(chart);
	if (status == 0 && name)
		status = write_file(chart, name, ".dat", put_dat);
	if (status == 0 && name)
		status = write_file(chart, name, ".gp", put_gp);
	if (status == 0)
		status = draw(chart, "svg size 900,600 noenhanced background 'white'", svg);
	if (status == 0)
		status = draw(chart, "pngcairo size 900,600 noenhanced", png);
	chart_destroy(chart);
	return status;
}
