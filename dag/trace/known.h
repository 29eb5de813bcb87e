/* SPDX-License-Identifier: MIT */
#ifndef DAG_TRACE_KNOWN_H
#define DAG_TRACE_KNOWN_H

/*
 * Whether the trace has the names that options choose by: a name with a typing error would choose nothing, without a word.
 * 0; FAILURE_USAGE, with the names that there are, or of many the most similar ones; other -errno.
 */

struct choice;
struct failure;
struct query_db;

/* Of --job and --phase. */
int known_check(struct query_db *db, const struct choice *choice, struct failure *failure);
/* Of another option that takes the name of a phase; NULL is fine. */
int known_check_phase(struct query_db *db, const struct choice *choice, const char *phase, struct failure *failure);

#endif
