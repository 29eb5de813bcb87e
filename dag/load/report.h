/* SPDX-License-Identifier: MIT */
#ifndef DAG_LOAD_REPORT_H
#define DAG_LOAD_REPORT_H

/* What a replay did, and what it could not do: a line for each kind. */

#include <stdio.h>

#include "dag/load/prepare.h"
#include "dag/load/walk.h"

void load_report_prepared(const struct prepare_counts *counts, FILE *out);
void load_report_print(const struct plan *plan, const struct walk_counts *counts, FILE *out);

#endif
