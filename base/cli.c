/* SPDX-License-Identifier: MIT */
#include "base/cli.h"

#include <errno.h>
#include <getopt.h>
#include <langinfo.h>
#include <locale.h>
#include <math.h>
#include <nss.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "base/cleanup.h"
#include "base/complete.h"
#include "base/err.h"
#include "base/output.h"
#include "base/vector.h"
#include "base/version.h"

#if FTRAC_STATIC
/* The C library would load libraries of the system, which may be of another version than this one, for users that are not in
 * /etc/passwd; and for encodings other than UTF-8, see below. */
__attribute__((constructor)) static void use_no_library(void)
{
	__nss_configure_lookup("passwd", "files");
	__nss_configure_lookup("group", "files");
}
#endif

void cli_begin(void)
{
	setlocale(LC_CTYPE, "");
	if (FTRAC_STATIC && strcmp(nl_langinfo(CODESET), "UTF-8") != 0)
		setlocale(LC_CTYPE, "C");
	signal(SIGXFSZ, SIG_IGN);
}

int words_add(struct words *words, const char *word)
{
	if (vector_fit(words->word, words->room, (size_t)words->n + 2) < 0)
		return err_status(EXIT_OWN, "out of memory");
	words->word[words->n++] = word;
	words->word[words->n] = NULL;
	return 0;
}

int words_add_all(struct words *words, char *const *more)
{
	int status = 0;

	for (; *more && status == 0; more++)
		status = words_add(words, *more);
	return status;
}

void words_free(struct words *words)
{
	free(words->word);
	*words = (struct words){ 0 };
}

int cli_complain(const char *program, char **argv, int option)
{
	const char *word = argv[optind - 1];

	if (strcmp(word, "--complete") == 0)
		return err_status(EXIT_USAGE, "--complete takes bash, zsh or fish, and stands alone");
	if (option == ':')
		return err_status(EXIT_USAGE, "option '%s' needs a value; see '%s --help'", word,
			program);
	if (strncmp(word, "--", 2) == 0 && strchr(word, '=') && optopt)
		return err_status(EXIT_USAGE, "option '%.*s' takes no value; see '%s --help'",
			(int)strcspn(word, "="), word, program);
	if (optopt && optopt < 256)
		return err_status(EXIT_USAGE, "unknown option '-%c'; see '%s --help'", optopt, program);
	return err_status(EXIT_USAGE, "unknown option '%s'; see '%s --help'", word, program);
}

#define LETTERS_MAX 64

/* Builds the short options for getopt_long(). */
static void list_letters(const struct option *options, char out[LETTERS_MAX])
{
	size_t n = 0;

	out[n++] = ':';
	for (; options->name && n + 2 < LETTERS_MAX; options++)
		if (options->val > 0 && options->val < 256) {
			out[n++] = (char)options->val;
			if (options->has_arg == required_argument)
				out[n++] = ':';
		}
	out[n] = '\0';
}

int cli_printed(void)
{
	bool failed = ferror(stdout);

	return fflush(stdout) != 0 || failed ? err_status(EXIT_OWN, "cannot write the output: %s", strerror(errno)) : 0;
}

bool cli_parse(const struct cli *cli, int argc, char **argv, void *options, int *ret_status)
{
	char letters[LETTERS_MAX];
	int option;

	*ret_status = 0;
	if (complete_answer(cli, argc, argv, cli->name)) {
		*ret_status = cli_printed();
		return false;
	}
	opterr = 0;
	list_letters(cli->options, letters);
	while (*ret_status == 0 && (option = getopt_long(argc, argv, letters, cli->options, NULL)) != -1) {
		if (option == 'h') {
			cli->print_help();
			*ret_status = cli_printed();
			return false;
		}
		if (option == 'V') {
			cli->print_version(cli->name);
			*ret_status = cli_printed();
			return false;
		}
		*ret_status = option == '?' || option == ':' ? cli_complain(cli->name, argv, option)
							      : cli->apply(options, option, optarg);
	}
	if (*ret_status == 0)
		*ret_status = cli->finish(options, argv + optind);
	return *ret_status == 0;
}

static void put_in_quotes(const char *word, FILE *out)
{
	fputc('\'', out);
	for (; *word; word++)
		if (*word == '\'')
			fputs("'\\''", out);
		else
			fputc(*word, out);
	fputc('\'', out);
}

void cli_put_quoted(const char *word, FILE *out)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
				    "_@%+=:,./-";

	if (*word && word[strspn(word, plain)] == '\0')
		fputs(word, out);
	else
		put_in_quotes(word, out);
}

void cli_put_program(const char *word, FILE *out)
{
	static const char *const reserved[] = { "case", "coproc", "do", "done", "elif", "else",
		"esac", "fi", "for", "function", "if", "in", "select", "then", "time", "until",
		"while" };
	bool quotes = strchr(word, '=') || (*word && strchr("-+@", *word));

	for (size_t i = 0; i < sizeof(reserved) / sizeof(reserved[0]); i++)
		quotes |= strcmp(word, reserved[i]) == 0;
	(quotes ? put_in_quotes : cli_put_quoted)(word, out);
}

char *cli_join(char *const *argv)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return NULL;
	for (int i = 0; argv[i]; i++) {
		if (i)
			fputc(' ', out);
		cli_put_quoted(argv[i], out);
	}
	return output_close_text(out, &text);
}

int cli_exit_status(int wait_status)
{
	return WIFSIGNALED(wait_status) ? 128 + WTERMSIG(wait_status) : WEXITSTATUS(wait_status);
}

int cli_parse_interval(const char *text, int64_t *ret_ns)
{
	char *end;
	double seconds = strtod(text, &end);

	if (end == text || *end || !(seconds >= 0.1) || seconds > 86400)
		return -EINVAL;
	*ret_ns = (int64_t)(seconds * 1e9 + 0.5);
	return 0;
}

int cli_parse_wait(const char *text, int *ret_ms)
{
	char *end;
	double seconds = strtod(text, &end);

	if (end == text || *end || isnan(seconds) || seconds < 0)
		return -EINVAL;
	*ret_ms = seconds > 1000000 ? -1 : (int)(seconds * 1000);
	return 0;
}
