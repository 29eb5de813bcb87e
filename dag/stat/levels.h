/* SPDX-License-Identifier: MIT */
#ifndef DAG_STAT_LEVELS_H
#define DAG_STAT_LEVELS_H

/*
 * What the tables io, mem, run and util share: values of jobs and processes, group by group.
 *
 * Their queries give one row for each job or process: the keys, "job" or "process", and values.  The query of io gives
 * several rows for each, which are summed up: behind "job" or "process" they have its name, and the time when it began.
 *
 * Without --by and --per a table has both groups of wfprof: for each job type its jobs, and below them the programs of
 * the job type, whose processes count singly.
 *
 * Functions return 0, or a negative errno with run->failure set.
 */

#include "dag/container/groups.h"
#include "dag/stat/stat.h"

#define VALUE_MAX 6
#define LEVELS_ALL "(all)" /* all programs of a job type */

/* What a query found: job types, or programs below them.  The last key is what counts as one, "job" or "process". */
struct level {
	struct groups *groups; /* of VALUE_MAX distributions, or of a struct use */
	int keys, n_values;
	char *names[VALUE_MAX];
	uint64_t unknown;
	uint64_t counts; /* if rows were summed up: the sum of all counts */
	uint64_t units;  /* and the number of jobs or processes */
};

/* How a table is made of two levels, or of one. */
struct levels_table {
	const char *by_job, *by_process; /* queries: of jobs, of processes */
	const char *columns; /* behind the keys */
	int64_t memory;      /* of a node; 0: the table has no column for it */
	int (*read)(struct stat_run *run, const char *query, const struct choice *choice,
		struct level *level);
	/* all: the group is a job type, and rows of its programs follow. */
	void (*put)(struct stat_run *run, const struct level *level, size_t group, bool all,
		int64_t memory);
};

/* Fills run->table.  upper and lower begin as zeroes; the caller finishes them also after an error. */
int levels_fill(struct stat_run *run, const struct levels_table *table, struct level *upper, struct level *lower);
/* Notes what is counted, and whether it is counted more than once. */
void levels_note_counts(struct stat_run *run, const struct level *upper, const struct level *lower);
void level_finish(struct level *level);

/* ---- distributions of values ---- */

#define LEVELS_NUMBERS "of value count min max mean sd sum" /* the columns behind the keys */

int levels_fill_numbers(struct stat_run *run, const struct levels_table *table);
/* For .read: one row for each job or process; several rows for each, which are summed up. */
int level_read(struct stat_run *run, const char *query, const struct choice *choice, struct level *level);
int level_read_parts(struct stat_run *run, const char *query, const struct choice *choice, struct level *level);
/* For .put. */
void level_put(struct stat_run *run, const struct level *level, size_t group, bool all, int64_t memory);

#endif
