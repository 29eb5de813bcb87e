/* SPDX-License-Identifier: MIT */
#ifndef DAG_STAT_LEVELS_H
#define DAG_STAT_LEVELS_H

/*
 * Tables of what jobs and processes are in numbers, group by group: io, mem, run, util.
 *
 * Their queries give one row for each job or process: the keys, "job" or "process", and values.  That of io gives rows to
 * be summed up: behind the keys also which job or process, and when it began.
 *
 * Without --by and --per a table has both groups of wfprof: job types, what belongs to a job taken together, and below
 * each its programs, each process by itself.
 *
 * Errors are printed; results are exit statuses.
 */

#include "dag/container/groups.h"
#include "dag/stat/stat.h"

#define VALUE_MAX 6
#define LEVELS_ALL "(all)" /* the programs of a job type together */

/*
 * What a query found: job types, or programs below them.  The last key says what was counted, a job or a
 * process.
 */
struct level {
	struct groups *groups; /* of VALUE_MAX distributions, or of a struct use */
	int keys, n_values;
	char *names[VALUE_MAX];
	uint64_t unknown;
	uint64_t counts, units; /* where parts are summed up: what rows count in all, and of how many */
};

/* How a table is made of two levels, or of one. */
struct levels_table {
	const char *by_job,
		*by_process; /* queries: of what belongs to a job together, of each process */
	const char *columns; /* behind the keys */
	int64_t memory;      /* 0: it is not about memory */
	int (*read)(struct stat_run *run, const char *query, const struct choice *choice,
		struct level *level);
	/* all: of a job type, where there are rows of its programs, too. */
	void (*put)(struct stat_run *run, const struct level *level, size_t group, bool all,
		int64_t memory);
};

/* Fills run->table; upper and lower, zeroed before, are to be finished. */
int levels_fill(struct stat_run *run, const struct levels_table *table, struct level *upper, struct level *lower);
void levels_note_counts(struct stat_run *run, const struct level *upper, const struct level *lower);
void level_finish(struct level *level);

/* ---- distributions of values ---- */

#define LEVELS_NUMBERS "of value count min max mean sd sum" /* the columns behind the keys */

int levels_fill_numbers(struct stat_run *run, const struct levels_table *table);
/* For .read: each row is one job or process; or rows are parts of it, to be summed up. */
int level_read(struct stat_run *run, const char *query, const struct choice *choice, struct level *level);
int level_read_parts(struct stat_run *run, const char *query, const struct choice *choice, struct level *level);
/* For .put. */
void level_put(struct stat_run *run, const struct level *level, size_t group, bool all, int64_t memory);

#endif
