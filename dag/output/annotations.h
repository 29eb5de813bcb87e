/* SPDX-License-Identifier: MIT */
#ifndef DAG_OUTPUT_ANNOTATIONS_H
#define DAG_OUTPUT_ANNOTATIONS_H

/*
 * Findings about lines of source files, for what shows them there: SARIF 2.1.0 (OASIS), and the commands that GitHub reads in the
 * output of a step.
 *
 * Files are relative to the root of the sources.  Texts may be any bytes.  Results are 0 or -errno.
 */

#include <stdint.h>
#include <stdio.h>

struct annotation_rule {
	const char *id, *text, *help; /* what is wrong; why it matters, and what to do */
	const char *level;            /* error, warning or note */
};

struct annotation {
	int32_t rule; /* of annotations.rules */
	const char *text;
	const char *file; /* NULL: none is known */
	int32_t line;     /* 0: not known */
	const char *other; /* another file that it is about, or NULL */
	uint64_t fingerprint; /* of what stays the same when lines move */
};

struct annotations {
	const char *program;
	const struct annotation_rule *rules;
	int32_t n_rules;
	const struct annotation *all;
	int32_t n;
	const char *note; /* about the whole */
};

int annotations_sarif(const struct annotations *annotations, FILE *out);
int annotations_github(const struct annotations *annotations, FILE *out);

#endif
