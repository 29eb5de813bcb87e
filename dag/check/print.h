/* SPDX-License-Identifier: MIT */
#ifndef DAG_CHECK_PRINT_H
#define DAG_CHECK_PRINT_H

/* What was found, as a table: each finding with the process, what it did and when, and the line that mends it. */

#include <stdio.h>

#include "dag/output/table.h"

struct check;
struct check_trace;

enum check_mend { CHECK_MEND_MAKE, CHECK_MEND_NINJA, CHECK_MEND_CSV };

/* 0 or -errno. */
int check_print(const struct check *check, const struct check_trace *trace, enum check_mend mend,
	const struct table_style *style, FILE *out);

/* A name as a makefile has it: blanks, '#', ':', '%' and '$' are escaped.  To be freed; NULL: out of
 * memory. */
char *check_escape(const char *name);

#endif
