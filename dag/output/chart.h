/* SPDX-License-Identifier: MIT */
#ifndef DAG_OUTPUT_CHART_H
#define DAG_OUTPUT_CHART_H

/*
 * Curves, bars with names, or maps, as a picture that gnuplot(1) draws, or as a script and data for gnuplot.
 *
 * If memory runs out, chart_finish() returns -ENOMEM; functions before it do not report it.
 */

enum {
	CHART_LOG_X = 1,
	CHART_BARS = 2,
	CHART_STEPS = 4, /* from 0 to 1, with a step at each point */
	CHART_NAMED = 8, /* two bars for each name, on logarithmic scales; unit: of the second one */
};

struct chart;
struct failure;

/* unit: of x; gnuplot writes k, M, m and the like in front of it.  NULL: out of memory. */
struct chart *chart_create(const char *title, const char *x, const char *unit, const char *y,
	int flags);
/* Begins a curve.  The points that follow belong to it. */
void chart_curve(struct chart *chart, const char *name);
void chart_point(struct chart *chart, double x, double y);
/* Curves become maps one below the other, each with its name: boxes in colours that say how large their values are.  unit:
 * of y, whose scale is logarithmic; values: what the colours say. */
void chart_map(struct chart *chart, const char *unit, const char *values);
/* A box of the map; one that begins at a y of 0 begins at a tenth of its end there.  value: above 0. */
void chart_box(struct chart *chart, double x, double x_end, double y, double y_end, double value);
/* The name of the next bars, whose points have x 0, 1, 2 ... */
void chart_name(struct chart *chart, const char *name);

/*
 * Writes the pictures svg and png, and NAME.gp with NAME.dat, except those that are NULL.  Destroys the chart, which may
 * be NULL: out of memory.  0, or a negative errno with the failure set.
 */
int chart_finish(struct chart *chart, const char *svg, const char *png, const char *name,
	struct failure *failure);

#endif
