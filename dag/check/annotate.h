/* SPDX-License-Identifier: MIT */
#ifndef DAG_CHECK_ANNOTATE_H
#define DAG_CHECK_ANNOTATE_H

/* What was found, for what shows it at the line of the makefile where the rule stands. */

#include <stdbool.h>
#include <stdio.h>

#include "dag/check/mend.h"

enum annotate_as { ANNOTATE_SARIF, ANNOTATE_GITHUB };

struct annotate_options {
	const char *root;     /* of the sources: files elsewhere are not named, and what is about them is only counted */
	const char *declared; /* the CSV file, if it is below the root, or NULL */
	enum check_mend mend;
	enum annotate_as as;
};

/* 0 or -errno. */
int check_annotate(const struct check *check, const struct annotate_options *options, FILE *out);

#endif
