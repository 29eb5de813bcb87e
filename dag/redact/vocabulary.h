/* SPDX-License-Identifier: MIT */
#ifndef DAG_REDACT_VOCABULARY_H
#define DAG_REDACT_VOCABULARY_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Names that say nothing of a user, and that the meaning of a trace depends on: directories and files of the system that graphs and tables
 * leave out, things without a path, the programs that views know, and variables of batch systems.  With up to three digits behind them, too.
 */
bool vocabulary_has(const char *name, size_t len);

#endif
