/* SPDX-License-Identifier: MIT */
#ifndef BASE_CLI_H
#define BASE_CLI_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* Command lines: what all programs share.  Functions that return an exit status have printed the error (err.h). */

/* Call it first in main: texts are in the locale's encoding, numbers in that of the C locale.  A write beyond the limit of
 * file sizes fails with EFBIG; SIGXFSZ does not end the program. */
void cli_begin(void);

/* A growing list of words, ended by NULL.  The caller keeps the words themselves. */
struct words {
	const char **word;
	int n;
	size_t room;
};

/* 0, or the exit status. */
int words_add(struct words *words, const char *word);
int words_add_all(struct words *words, char *const *more); /* more: ended by NULL */
void words_free(struct words *words);

/* For '?' or ':' from getopt_long(), with opterr 0 and ':' in front of its letters: prints which option is wrong, and
 * refers to PROGRAM --help.  Returns EXIT_USAGE. */
int cli_complain(const char *program, char **argv, int option);

/* A command line of options, and words after them. */
struct option;
struct completions;
struct cli {
	const char *name;
	void (*print_version)(const char *name);
	const struct option *options; /* with "help", 'h', and "version", 'V'; a letter is a short option, too */
	void (*print_help)(void);
	/* 0, the exit status after an error, or -1: there is no such option. */
	int (*apply)(void *options, int option, const char *value);
	/* Takes the words after the options, and checks the options together.  0 or the exit status. */
	int (*finish)(void *options, char **words);
	const struct completions *completions; /* base/complete.h; NULL: words are files */
};

/* After the help or the version was printed: 0, or EXIT_OWN and an error if it could not be written.  A text that is longer than the
 * buffer may have failed before its end. */
int cli_printed(void);

/* In the help of all programs. */
#define CLI_COMPLETE_HELP "      --complete SHELL   print completions for bash, zsh or fish\n"

/* true: the program goes on.  false: it ends with *ret_status. */
bool cli_parse(const struct cli *cli, int argc, char **argv, void *options, int *ret_status);

/* Prints a word, quoted for a POSIX shell where necessary. */
void cli_put_quoted(const char *word, FILE *out);
/* Prints the first word of a command.  Quotes it also if a shell would read it as an assignment or a reserved word, or
 * if it begins with '-', '+' or '@': sh -c reads the first two as options, make the last as a flag. */
void cli_put_program(const char *word, FILE *out);
/* Joins words to one line, quoted for a POSIX shell where necessary.  The caller frees it; NULL: out of memory. */
char *cli_join(char *const *argv);

/* A wait status as a shell has it: the exit status, or 128 + the signal. */
int cli_exit_status(int wait_status);

/* Seconds from 0.1 to 86400, in nanoseconds.  0 or -EINVAL. */
int cli_parse_interval(const char *text, int64_t *ret_ns);

/* Parses how long to wait for processes that outlive a command: seconds, or "inf" (-1 ms).  0 or -EINVAL. */
#define CLI_WAIT_MS 10000 /* the default */
int cli_parse_wait(const char *text, int *ret_ms);

#endif
