/* SPDX-License-Identifier: MIT */
#ifndef DAG_TRACE_CHOICE_H
#define DAG_TRACE_CHOICE_H

/*
 * The part of an option parser that all programs of dag/ share: options that choose a part of a run (--include,
 * --exclude, --job, --process, --phase, --from, --to), and values of several kinds.  As in other option parsers, a
 * function prints its error and returns 0 or an exit status.
 */

#include <stdint.h>

#include "dag/trace/compose.h"

enum choice_option {
	CHOICE_EXCLUDE = 512, /* the programs' own options have smaller numbers */
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

/* Takes one of these options with its value, which must live as long as the choice.  -1: it is another option. */
int choice_apply(struct choice *choice, int option, const char *value);
/* Checks the options together, after the last. */
int choice_check(const struct choice *choice);
/* Does a glob match the path of a file?  A glob without '/' is compared with the base name. */
bool choice_fits_path(const char *glob, const char *path);
/* Do --include and --exclude leave this path in? */
bool choice_takes_path(const struct choice *choice, const char *path);
/* Is any of these options given? */
bool choice_is_any(const struct choice *choice);
/* Leaves out files of the system (/usr, /etc, /dev and others). */
int choice_hide_system(struct choice *choice);
/* Leaves out what tools keep for themselves in directories of a known name: caches, and the state of workflow managers, MPI and R. */
int choice_hide_private(struct choice *choice);
void choice_finish(struct choice *choice);

/* Values of other options.  what: the option, for the message. */
int choice_parse_seconds(const char *what, const char *text, int64_t *ret_ns);
int choice_parse_count(const char *what, const char *text, int64_t *ret);
/* The index of one of these names, which are ended by NULL. */
int choice_parse_name(const char *what, const char *text, const char *const *names, int *ret);
/* "one, two or three", in out; out. */
const char *choice_list_names(const char *const *names, char *out, size_t size);

#endif
