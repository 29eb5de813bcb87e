/* SPDX-License-Identifier: MIT */
#ifndef DAG_OUTPUT_CHART_INTERNAL_H
#define DAG_OUTPUT_CHART_INTERNAL_H

/* What the parts of charts share. */

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "base/arena.h"

struct point {
	double x, y;
};

/* Of a map: chart_box(). */
struct box {
	double x, x_end, y, y_end, value;
};

struct curve {
	const char *name;
	struct point *points;
	size_t count;
	struct box *boxes;
	size_t n_boxes;
};

struct chart {
	const char *title, *x, *unit, *y;
	const char *unit_y, *values; /* of maps: chart_map(); values NULL: there are curves or bars */
	int flags;
	struct curve *curves;
	size_t count;
	const char **names; /* of bars */
	size_t n_names;
	struct arena texts;
	bool failed; /* out of memory */
};

void chart_put_string(FILE *out, const char *text);
void chart_put_setting(FILE *out, const char *setting, const char *text);
void chart_put_source(const char *source, FILE *out);

/* chart_map.c: the data of a map, and the settings and plots of all of them. */
void chart_put_boxes(const struct curve *curve, FILE *out);
void chart_put_map_settings(const struct chart *chart, FILE *out);
void chart_put_maps(const struct chart *chart, const char *source, FILE *out);

#endif
