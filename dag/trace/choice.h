/* SPDX-License-Identifier: MIT */
#ifndef DAG_TRACE_CHOICE_H
#define DAG_TRACE_CHOICE_H

/*
 * Options by which the programs of dag/ choose a part of a run, the same in all of them: --include,
 * --exclude, --job, --process, --phase, --from, --to.  Errors are printed; results are exit statuses.
 */

#include <stdint.h>

#include "dag/trace/compose.h"

enum choice_option {
	CHOICE_EXCLUDE = 512, /* out of the way of the options that a program has of its own */
	CHOICE_FROM,
	CHOICE_INCLUDE,
	CHOICE_JOB,
	CHOICE_PHASE,
	CHOICE_PROCESS,
	CHOICE_TO,
	CHOICE_OPTION_MAX
};

/* For the table of getopt_long(). */
#define CHOICE_OPTIONS                                                  \
	{ "exclude", required_argument, NULL, CHOICE_EXCLUDE },         \
		{ "from", required_argument, NULL, CHOICE_FROM },       \
		{ "include", required_argument, NULL, CHOICE_INCLUDE }, \
		{ "job", required_argument, NULL, CHOICE_JOB },         \
		{ "phase", required_argument, NULL, CHOICE_PHASE },     \
		{ "process", required_argument, NULL, CHOICE_PROCESS }, \
	{                                                               \
		"to", required_argument, NULL, CHOICE_TO                \
	}

extern const char choice_help[];

/* One of them with its value, which must live as long as the choice; -1: it is none of them. */
int choice_apply(struct choice *choice, int option, const char *value);
/* After the last. */
int choice_check(const struct choice *choice);
/* Does a glob fit the path of a file?  Without a '/' in it, it is meant for the base name. */
bool choice_fits_path(const char *glob, const char *path);
/* Do the globs of a choice take a name of a file? */
bool choice_takes_path(const struct choice *choice, const char *path);
/* Does it choose anything? */
bool choice_is_any(const struct choice *choice);
/* Leaves out files of the system, which a workflow uses without being about them.  An exit status. */
int choice_hide_system(struct choice *choice);
void choice_finish(struct choice *choice);

/* Values of others, too; what: the option, for the message. */
int choice_parse_seconds(const char *what, const char *text, int64_t *ret_ns);
int choice_parse_count(const char *what, const char *text, int64_t *ret);
/* One of these names, which are ended by NULL. */
int choice_parse_name(const char *what, const char *text, const char *const *names, int *ret);

#endif
