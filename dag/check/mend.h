/* SPDX-License-Identifier: MIT */
#ifndef DAG_CHECK_MEND_H
#define DAG_CHECK_MEND_H

/* How files are called in the makefile of a target, and the line there that mends a finding.  Texts are to be freed; NULL: out of
 * memory. */

#include <stdbool.h>
#include <stdint.h>

#include "dag/check/check.h"

enum check_mend { CHECK_MEND_MAKE, CHECK_MEND_NINJA, CHECK_MEND_CSV };

struct mending {
	const struct check *check;
	enum check_mend how;
	bool relative; /* names are relative, also where the makefile has absolute ones */
};

/* The directory in which that target is made. */
const char *mend_directory(const struct mending *mending, int32_t target);
/* The file of that node as the makefile of the target has it. */
char *mend_name(const struct mending *mending, int32_t target, int32_t node);
char *mend_line(const struct mending *mending, const struct check_finding *finding);

/* A name as a makefile has it: blanks, '#', ':', '%' and '$' are escaped. */
char *check_escape(const char *name);

#endif
