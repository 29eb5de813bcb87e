/* SPDX-License-Identifier: MIT */
#ifndef DAG_WFDAG_COLUMNS_H
#define DAG_WFDAG_COLUMNS_H

struct analysis;

/* Calls complete_add() for each column of an analysis. */
void dag_add_columns(const struct analysis *analysis);

#endif
