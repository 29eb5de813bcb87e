/* SPDX-License-Identifier: MIT */
#ifndef DAG_STAT_OPTIONS_H
#define DAG_STAT_OPTIONS_H

/* The command line of wfstat. */

#include <stdbool.h>
#include <stdint.h>

#include "base/cli.h"
#include "base/formats.h"
#include "dag/output/table.h"
#include "dag/trace/compose.h"

/* Size classes: those of Darshan (pattern), powers of two, powers of ten (hist). */
enum stat_sizes { SIZES_DARSHAN, SIZES_POWERS, SIZES_TENS };

#define STAT_FORMATS 6

struct stat_options {
	const char *table; /* NULL: the overview */
	struct words traces;
	struct words by;
	struct choice choice;
	bool long_form, per_given, sizes_given, interval_given;
	const char *of; /* the value of hist and cdf */
	const char *sort;
	const char *columns; /* NULL: all */
	int64_t top;          /* -1: all */
	int64_t memory_bytes; /* of a node; 0: of the host */
	enum stat_sizes sizes;
	bool files;           /* time: the files of each interval */
	bool sql, strict, foreign;
	struct table_style style;
	const char *svg, *png, *gnuplot;
	const char *darshan; /* the file of a log instead of a table */
	const char *files_of[STAT_FORMATS]; /* of .formats */
	struct formats formats;
	const char *output; /* of the table; NULL: stdout */
};

/* false: the program ends with the exit status *ret_status. */
bool stat_options_parse(int argc, char **argv, struct stat_options *options, int *ret_status);
/* Whether --by has this name. */
bool stat_has_by(const struct stat_options *options, const char *name);
void stat_options_finish(struct stat_options *options);

#endif
