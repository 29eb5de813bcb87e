/* SPDX-License-Identifier: MIT */
#ifndef DAG_CHECK_PRINT_H
#define DAG_CHECK_PRINT_H

/* What was found, as a table: each finding with the process, what it did and when, and the line that mends it. */

#include <stdio.h>

#include "dag/check/mend.h"
#include "dag/output/table.h"

struct check;
struct check_trace;

/* 0 or -errno. */
int check_print(const struct check *check, const struct check_trace *trace, enum check_mend mend,
	const struct table_style *style, FILE *out);

#endif
