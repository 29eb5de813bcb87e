/* SPDX-License-Identifier: MIT */
#ifndef DAG_CHECK_RULEFILE_H
#define DAG_CHECK_RULEFILE_H

/*
 * In which line of a makefile, build.ninja or CSV file a rule stands.  Files are read as they are now, as text: rules and variables
 * that are set there are understood, functions are not.  A rule whose targets come out of a function may be any target's; it is found
 * if no other rule has the target.
 *
 * Begins as zeroes.  One struct is for the files that one make reads: they share variables.  -ENOMEM is the only error.
 */

#include <stdbool.h>
#include <stdint.h>

enum rulefile_kind { RULEFILE_MAKE, RULEFILE_NINJA, RULEFILE_CSV };

struct rulefile_rule {
	int32_t file, line;
	char *targets, *needs; /* words, each ended by 0, and an empty one */
	bool has_recipe;
};

struct rulefile_variable {
	char *name, *value;
};

struct rulefile {
	struct rulefile_rule *rules;
	int32_t n_rules;
	struct rulefile_variable *variables;
	int32_t n_variables;
};

/* Adds the rules of a file, which the caller has a number for.  A file that cannot be read has none. */
int rulefile_read(struct rulefile *rulefile, const char *path, enum rulefile_kind kind, int32_t file);
/* The same for the text of a file, which is changed by that. */
int rulefile_parse(struct rulefile *rulefile, char *text, enum rulefile_kind kind, int32_t file);
void rulefile_finish(struct rulefile *rulefile);

/* The rule of that target, by absolute paths; of several, the one that has the prerequisite need (NULL: any), then the one with a
 * recipe.  *ret NULL: there is none. */
int rulefile_find(const struct rulefile *rulefile, const char *directory, const char *target, const char *need,
	const struct rulefile_rule **ret);

#endif
