/* SPDX-License-Identifier: MIT */
#ifndef DAG_TRACE_TRACE_WORDS_H
#define DAG_TRACE_TRACE_WORDS_H

/*
 * Completions (base/complete.h) out of traces: of the first trace that the command line names, else of trace.db in the current
 * directory.  Only a complete trace is read, because that is quick; without one nothing is added, in silence.
 */

#include "base/complete.h"

struct query_db;

complete_ask trace_words_phases, trace_words_jobs, trace_words_processes;

/* Names of operations. */
complete_ask trace_words_operations;

/* A trace without rows, for what a table has without them; NULL: there is none.  The caller closes it. */
struct query_db *trace_words_empty(void);

/* What --by and --group-by have: names of dimensions. */
extern const char *const trace_words_dimensions[];

#endif
