/* SPDX-License-Identifier: MIT */
#ifndef DAG_CHANGE_OPTIONS_H
#define DAG_CHANGE_OPTIONS_H

/* The command line of wfdag changes. */

#include <stdbool.h>

#include "base/cli.h"
#include "base/formats.h"
#include "dag/output/table.h"
#include "dag/trace/compose.h"

enum { CHANGES_CSV, CHANGES_TSV, CHANGES_JSON, CHANGES_IN_TOTO, CHANGES_FORMATS };

struct changes_options {
	struct words traces;
	struct choice choice;
	struct formats formats;
	const char *files[CHANGES_FORMATS + 1];
	enum table_format format; /* of the list */
	const char *output;	  /* of the list; NULL: stdout */
	const char *statement;	  /* its file; NULL: none */
	const char *builder, *columns, *sort;
	int64_t top; /* -1: all */
	bool list;   /* is printed */
	bool all, temporary, raw, wide, strict, foreign;
};

/* false: there is nothing more to do, and *ret_status is the exit status. */
bool changes_options_parse(int argc, char **argv, struct changes_options *options, int *ret_status);
void changes_options_finish(struct changes_options *options);

#endif
