/* SPDX-License-Identifier: MIT */
#ifndef DAG_OUTPUT_CHART_H
#define DAG_OUTPUT_CHART_H

/*
 * Curves, drawn by gnuplot(1), which is run for it, or written as its script and data.
 */

enum {
	CHART_LOG_X = 1,
	CHART_BARS = 2,
	CHART_STEPS = 4, /* parts of 1, which begin with 0 and go up at each point */
};

struct chart;

/* unit: of x, written behind its numbers, which have k, M, m and the like in front of it. */
struct chart *chart_create(const char *title, const char *x, const char *unit, const char *y,
	int flags);
/* What follows is a curve of its own. */
void chart_curve(struct chart *chart, const char *name);
void chart_point(struct chart *chart, double x, double y);

/*
 * Writes what is asked for, each may be NULL: pictures, and NAME.gp with NAME.dat.  Ends the chart,
 * which may be NULL (out of memory).  The exit status; errors are printed.
 */
int chart_finish(struct chart *chart, const char *svg, const char *png, const char *name);

#endif
