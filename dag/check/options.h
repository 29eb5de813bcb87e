/* SPDX-License-Identifier: MIT */
#ifndef DAG_CHECK_OPTIONS_H
#define DAG_CHECK_OPTIONS_H

/* The command line of wfdag check. */

#include <stdbool.h>

#include "base/cli.h"
#include "dag/output/table.h"

enum check_format { CHECK_SARIF = TABLE_MARKDOWN + 1, CHECK_GITHUB };

struct check_cli {
	struct words traces;
	const char *declared, *ninja, *root;
	unsigned kinds, fail_on; /* bits: 1 << enum check_kind */
	int format; /* enum table_format, or one of these */
	const char *output; /* NULL: stdout */
	bool all, strict, foreign;
};

/* false: there is nothing more to do, and *ret_status is the exit status. */
bool check_options_parse(int argc, char **argv, struct check_cli *options, int *ret_status);
void check_options_finish(struct check_cli *options);

#endif
