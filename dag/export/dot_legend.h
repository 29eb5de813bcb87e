/* SPDX-License-Identifier: MIT */
#ifndef DAG_EXPORT_DOT_LEGEND_H
#define DAG_EXPORT_DOT_LEGEND_H

/* What the signs of a picture of a shape (dot.h) mean, and which of them are in it. */

#include <stdbool.h>

#include "dag/shape/shape.h"

enum dot_sign {
	/* nodes */
	DOT_SIGN_PROCESS,
	DOT_SIGN_FAILED,
	DOT_SIGN_FILE,
	DOT_SIGN_MISSING,
	DOT_SIGN_SEVERAL,
	/* edges */
	DOT_SIGN_STARTED,
	DOT_SIGN_NEXT,
	DOT_SIGN_LOOKED,
	DOT_SIGN_DATA,
	DOT_SIGN_ASSUMED,
	DOT_SIGN_BOTH,
	/* arrowheads: operations */
	DOT_SIGN_READ,
	DOT_SIGN_EXECUTE,
	DOT_SIGN_WRITE,
	DOT_SIGN_CREATE,
	DOT_SIGN_RENAME,
	DOT_SIGN_DELETE,
	DOT_SIGN_PIPE,
	/* colours */
	DOT_SIGN_SLOW,
	DOT_SIGN_FEEDBACK,
	DOT_SIGN_CRITICAL,
	DOT_SIGN_MAX
};
#define DOT_SIGN_ARROWS DOT_SIGN_READ
#define DOT_SIGN_COLOURS DOT_SIGN_SLOW

/* sign and meaning are valid HTML.  colour: that of the sign in the legend; NULL: black. */
struct dot_sign_words {
	const char *sign, *colour, *meaning;
};
extern const struct dot_sign_words dot_sign_words[DOT_SIGN_MAX];

/* Sets ret_there[sign] for each sign that the picture of the shape has. */
void dot_signs(const struct shape *shape, bool ret_there[DOT_SIGN_MAX]);

/* The arrowhead of an edge, or the style of its line if it has no arrowhead. */
enum dot_sign dot_sign_of(const struct shape_edge *edge);

#endif
