/* SPDX-License-Identifier: MIT */

/* Maps for gnuplot: each a plot of its own, all with the same scales, so that a reader can compare them. */

#include <math.h>

#include "dag/output/chart.h"
#include "dag/output/chart_internal.h"

#define WIDE 20 /* a range of values that needs a logarithmic scale */

/* A logarithmic scale has no 0. */
static double bottom(const struct box *box)
{
	return box->y > 0 ? box->y : box->y_end / 10;
}

struct ranges {
	struct box least, most;
	double zero; /* the middle of a box that begins at 0; NAN: there is none */
};

static struct ranges find_ranges(const struct chart *chart)
{
	struct ranges r = { { INFINITY, 0, INFINITY, 0, INFINITY }, { 0, -INFINITY, 0, -INFINITY, -INFINITY }, NAN };

	for (size_t i = 0; i < chart->count; i++)
		for (size_t k = 0; k < chart->curves[i].n_boxes; k++) {
			const struct box *box = &chart->curves[i].boxes[k];

			r.least.x = fmin(r.least.x, box->x);
			r.most.x_end = fmax(r.most.x_end, box->x_end);
			r.least.y = fmin(r.least.y, bottom(box));
			r.most.y_end = fmax(r.most.y_end, box->y_end);
			r.least.value = fmin(r.least.value, box->value);
			r.most.value = fmax(r.most.value, box->value);
			r.zero = box->y > 0 ? r.zero : sqrt(bottom(box) * box->y_end);
		}
	return r;
}

void chart_put_boxes(const struct curve *curve, FILE *out)
{
	for (size_t i = 0; i < curve->n_boxes; i++) {
		const struct box *box = &curve->boxes[i];

		fprintf(out, "%.15g %.15g %.15g %.15g %.15g\n", box->x, box->x_end, bottom(box), box->y_end, box->value);
	}
}

void chart_put_map_settings(const struct chart *chart, FILE *out)
{
	const struct ranges r = find_ranges(chart);
	bool is_wide = r.least.value > 0 && r.most.value > WIDE * r.least.value;

	chart_put_setting(out, "ylabel", chart->y);
	chart_put_setting(out, "cblabel", chart->values);
	fprintf(out, "set cblabel offset 1\nset grid\nset logscale y\n%sset palette defined (0 '#d8ecf3', 1 '#7fcdbb', 2 '#2c7fb8', 3 '#253494', 4 '#081d58')\n",
		is_wide ? "set logscale cb\n" : "");
	fprintf(out, "set xrange [%.15g:%.15g]\nset yrange [%.15g:%.15g]\nset cbrange [%.15g:%.15g]\n", r.least.x, r.most.x_end, r.least.y,
		r.most.y_end, is_wide ? r.least.value : 0, r.most.value > 0 ? r.most.value : 1);
	fprintf(out, "set format x '%%.0s %%c%s'\nset format y '%%.0s %%c%s'\nset format cb '%%.0s %%c'\n", chart->unit, chart->unit_y);
	if (!isnan(r.zero))
		fprintf(out, "set ytics add ('0 %s' %.15g)\n", chart->unit_y, r.zero);
}

void chart_put_maps(const struct chart *chart, const char *source, FILE *out)
{
	fprintf(out, "set multiplot layout %zu, 1 title ", chart->count);
	chart_put_string(out, chart->title);
	fputc('\n', out);
	for (size_t i = 0; i < chart->count; i++) {
		chart_put_setting(out, "title", chart->curves[i].name);
		chart_put_setting(out, "xlabel", i + 1 < chart->count ? "" : chart->x);
		fputs("plot ", out);
		chart_put_source(source, out);
		fprintf(out, " index %zu using (($1+$2)/2):(sqrt($3*$4)):1:2:3:4:5 with boxxyerror fillcolor palette fillstyle solid noborder notitle\n", i);
	}
	fputs("unset multiplot\n", out);
}
