/* SPDX-License-Identifier: MIT */
#ifndef BASE_COMPLETE_H
#define BASE_COMPLETE_H

/*
 * Completions of a command line, for bash, zsh and fish.
 *
 *   PROGRAM --complete SHELL                prints a script; the shell reads it once
 *   PROGRAM --complete-words SHELL WORD...  what the script calls: prints what the last word may become
 *
 * The script has no words of its own: all come from the table of getopt_long(), from the help, and from the table of values
 * below.  The output is a kind, then pairs of a candidate and its help, each ended by NUL:
 *
 *   words           the candidates
 *   files           files, too
 *   directories     directories, too
 *   command N       from the word N on, from 0, the line is the command line of another program
 *
 * Prints nothing else, and no errors.  One thread; the state of a line is kept for as long as the program runs.
 */

#include <stdbool.h>
#include <stddef.h>

#include "base/cli.h"

/* Calls complete_add() for each candidate. */
typedef void complete_ask(const struct cli *cli);

/* What values an option has. */
struct complete_value {
	const char *option; /* its long name; NULL ends the table */
	enum { COMPLETE_WORDS, COMPLETE_FILE, COMPLETE_DIRECTORY } kind; /* with words and ask, too */
	bool is_list;			/* several, separated by commas */
	const char *const *words;	/* ended by NULL; NULL: none */
	complete_ask *ask;		/* NULL: nothing */
};

/* Options without a line here have values that cannot be guessed. */
struct completions {
	const struct complete_value *values;
	complete_ask *words; /* words that are no options; NULL: none */
	enum { COMPLETE_NO_FILES, COMPLETE_FILES, COMPLETE_DIRECTORIES, COMPLETE_COMMAND } others; /* with these words, too */
};

/* If the command line asks for completions, answers and returns true.  name: of the program alone, as shells know it. */
bool complete_answer(const struct cli *cli, int argc, char **argv, const char *name);

/*
 * Of a program with verbs: the word that would be the verb, also of a line to be completed; NULL: there is none.  enter_verb
 * makes "PROGRAM --complete-words SHELL VERB WORD..." to "PROGRAM VERB --complete-words SHELL WORD...", and changes nothing else.
 */
const char *complete_verb(int argc, char **argv);
void complete_enter_verb(char **argv);

/* ---- for those that are asked ---- */

/* help: one line; NULL: none. */
void complete_add(const char *word, size_t len, const char *help);
/* All words of a list that NULL ends. */
void complete_add_all(const char *const *words);
/* What stands below a heading of the help, up to an empty line: "  WORD  HELP". */
void complete_add_listed(const struct cli *cli, const char *heading);

/* The i-th word of the line that is no option and no value of one, in front of the word to be completed; NULL: there is none. */
const char *complete_word(int i);
/* The value of the last option of this name in front of that word; NULL: it is not given. */
const char *complete_option(const char *name);

#endif
