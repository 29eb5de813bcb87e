/* SPDX-License-Identifier: MIT */
#ifndef DAG_CHECK_USES_H
#define DAG_CHECK_USES_H

/* The second half of check_trace.c: files, and what recipes did with them.  In this order; they return 0 or
 * -errno, with the failure set. */

struct check_trace;
struct failure;
struct query;
struct query_db;

/* Which files there were, under which names. */
int check_uses_files(struct check_trace *trace, struct query_db *db, struct failure *failure);
/* A row of check.accesses: takes down which job writes which declared target; 0 or -ENOMEM. */
extern const char check_access_columns[]; /* of check.accesses, for check_uses_of_jobs() */
int check_uses_of_jobs(struct check_trace *trace, const struct query *query);
/* Uses, missing names, what compilers wrote into dependency files, and where links lead: the latter two are looked
 * up in the file system as it is now. */
int check_uses_load(struct check_trace *trace, struct query_db *db, struct failure *failure);
void check_uses_finish(struct check_trace *trace);

/* Has the rows of a query added; for both halves. */
int check_trace_each(struct check_trace *trace, struct query_db *db, const char *name,
	const char *columns,
	int (*add)(struct check_trace *trace, const struct query *query), struct failure *failure);

#endif
