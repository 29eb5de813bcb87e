/* SPDX-License-Identifier: MIT */
#ifndef DAG_GENERATE_RULES_H
#define DAG_GENERATE_RULES_H

/*
 * Jobs (jobs.h) as rules, as Make, Ninja, Snakemake and Dask have them: what is made of what by which command.
 * Commands are for /bin/sh in the folder in which the rules are run.
 *
 * A rule makes what its job alone wrote and what is there in the end.  Where that is nothing, because
 * others write the same file, or it is gone in the end, or nothing was written at all, it makes a stamp: an
 * empty file in RULES_STAMPS.  It needs the files that its job read and no job wrote, and something of each
 * job that must have ended before.  A job that used no file of the workflow is left out.
 *
 * Not for jobs of which it is not known what was started: the caller looks at that before.
 */

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "dag/jobs/jobs.h"

#define RULES_STAMPS ".ftrac"

struct rule {
	const struct job *job;
	char *stamp;   /* NULL: it makes files */
	char *command; /* may have several lines: see rules_one_line() */
	const char **needs, **makes;
	int32_t n_needs, n_makes;
};

struct rules {
	struct rule *rules; /* in the order of the jobs */
	int32_t n_rules;
	int32_t left_out;         /* jobs */
	const char **directories; /* of what is made, that no rule makes; sorted */
	int32_t n_directories;
	const char *root; /* where the workflow ran: absolute */
	char **texts;
	int32_t n_texts;
};

/*
 * says: has the language a way to say this name?  Of what cannot be said nothing is made and needed: a
 * stamp is in its place.  -ENOMEM.
 */
int rules_create(const struct jobs *jobs, bool (*says)(const char *name), struct rules **ret_rules);
void rules_destroy(struct rules *rules);

/*
 * Writes a text with what each byte has to be there; where it says the root, here is written instead.
 * escape: of the byte at a place; NULL: as it is.
 */
void rules_write(const struct rules *rules, const char *text, const char *here,
	const char *(*escape)(const char *at), FILE *out);

/* Does the job do anything that can be seen?  Jobs that used no file of the workflow do not. */
bool rules_has_effect(const struct job *job);

/* The command that does a job again, and then makes the stamp (NULL: none); to be freed.  NULL: out of memory. */
char *rules_command(const struct job *job, const char *stamp);

/* Writes the begin of a command that runs in cwd: "cd cwd || exit; ". */
void rules_put_move(const char *cwd, FILE *out);

/* A command as one line of UTF-8 without control characters but tabs; to be freed.  NULL: out of memory. */
char *rules_one_line(const char *command);

/* The writers: 0 or -ENOMEM. */
bool rules_make_says(const char *name);
int rules_write_make(const struct rules *rules, FILE *out);
bool rules_ninja_says(const char *name);
int rules_write_ninja(const struct rules *rules, FILE *out);
bool rules_snakemake_says(const char *name);
int rules_write_snakemake(const struct rules *rules, FILE *out);
bool rules_dask_says(const char *name);
int rules_write_dask(const struct rules *rules, FILE *out);

#endif
