/* SPDX-License-Identifier: MIT */
#ifndef BASE_CLI_H
#define BASE_CLI_H

#include <stdbool.h>
#include <stdio.h>

/* What the command lines of all programs have in common.  Errors are printed as by err.h. */

/* What a tool begins with: names are in the locale's encoding, numbers as they are everywhere; a file that grows
 * beyond a limit is an error, EFBIG, not the end of it. */
void cli_begin(void);

/* A growing list of words, ended by NULL; the words themselves are not copied. */
struct words {
	const char **word;
	int n;
};

/* 0, or the exit status. */
int words_add(struct words *words, const char *word);
void words_free(struct words *words);

/* After getopt_long() gave '?' or ':', with opterr 0 and ':' in front of its letters: says what is
 * wrong, and that PROGRAM --help says more.  EXIT_USAGE. */
int cli_complain(const char *program, char **argv, int option);

/* A program whose options are all there is to its command line, and words behind them. */
struct option;
struct cli {
	const char *name, *version;
	const struct option *options; /* with "help", 'h', and "version", 'V'; a letter is a short option, too */
	void (*print_help)(void);
	/* 0, an exit status after a complaint, or -1: there is no such option. */
	int (*apply)(void *options, int option, const char *value);
	/* The words behind the options; what is checked in the end. */
	int (*finish)(void *options, char **words);
};

/* false: there is nothing more to do, and *ret_status is the exit status. */
bool cli_parse(const struct cli *cli, int argc, char **argv, void *options, int *ret_status);

/* A word, quoted for a POSIX shell where that is needed. */
void cli_put_quoted(const char *word, FILE *out);
/* The first word of a command.  It is quoted also if a shell would read it as an assignment or a reserved word, or
 * if it begins with '-', '+' or '@': sh -c reads the first two as options, make the last as a flag. */
void cli_put_program(const char *word, FILE *out);
/* Words as one line, quoted for a POSIX shell where that is needed; to be freed.  NULL: out of
 * memory. */
char *cli_join(char *const *argv);

/* What a shell says of a wait status: the exit status, 128 + the signal. */
int cli_exit_status(int wait_status);

/* How long to wait for what a command leaves behind: seconds, or "inf" (-1 ms).  0 or -EINVAL. */
#define CLI_WAIT_MS 10000 /* unless something else is said */
int cli_parse_wait(const char *text, int *ret_ms);

#endif
