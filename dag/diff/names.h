/* SPDX-License-Identifier: MIT */
#ifndef DAG_DIFF_NAMES_H
#define DAG_DIFF_NAMES_H

/*
 * What things are called in two runs of one workflow, so that the same are called the same.
 *
 * Paths and words of commands are taken from the directory of the run on, whatever it is called and whether it was
 * seen through a mount.  A generated name (mkstemp's, a process id, a point in time, a UUID) becomes "*": one
 * that looks like that, is not the name of a file that was there before the run, and does not occur in the
 * other run, too.  A name that only resembles one must also have been deleted in the end, or lie below a directory
 * tmp.
 * How many jobs a driver runs at once (make -j8) is not part of its command, nor is the move to a working directory
 * with which a generated recipe begins ("cd DIR || exit; ").
 *
 * -ENOMEM is the only error.  One thread.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct workflow;

struct names_run {
	const struct workflow *workflow; /* whose .chosen are already set */
	const char *root;                /* the directory of the run; NULL: not known */
	const char *mountpoint, *source; /* NULL: it was seen at its own place */
};

struct names;

/* The texts of runs must live as long. */
int names_create(const struct names_run runs[2], struct names **ret_names);
void names_destroy(struct names *names);

/* A file's path from the root on, as it is; absolute where it lies elsewhere. */
const char *names_path(const struct names *names, int run, int32_t file);
uint64_t names_path_label(const struct names *names, int run, int32_t file); /* 0: not known */
/* Label of its role.  creator: the process that made it, or GRAPH_NONE.  loosely: what merely may be generated
 * counts as generated.  *ret_wild: the path has a generated name. */
uint64_t names_role(struct names *names, int run, int32_t file, int32_t creator, bool loosely,
	bool *ret_wild);

/* The words of a command that count, one after the other; each lives until the next.  Words with blanks in them,
 * as after sh -c, are taken apart; joined: the word continues the one before. */
struct names_words {
	struct names *names;
	int run;
	int32_t process;
	const char *at;
	bool quoted, skip, inside;
	bool plain; /* may be set after names_words_begin(): numbers are what they are */
	const struct driver *driver;
	const char *word;
	size_t len;
	bool joined;
};
void names_words_begin(struct names_words *words, struct names *names, int run, int32_t process);
bool names_words_next(struct names_words *words);
/* Label of all of them; if the command is not known, of the program. */
uint64_t names_command(struct names *names, int run, int32_t process);

#endif
