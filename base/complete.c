/* SPDX-License-Identifier: MIT */
#include "base/complete.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/complete_script.h"
#include "base/output.h"

/* The line, as far as it is read. */
static struct {
	bool is_bash;
	char **words; /* before the one to be completed */
	int n;
	const struct option *pending; /* the option whose value comes next; NULL: none */
	int command;		      /* the first word of another program's command line; -1: there is none */
	bool no_options;	      /* after -- */
	char *current;
	const char *value; /* in current, what candidates are compared with */
	size_t skip;	   /* bytes of a candidate that the shell has already, and does not replace */
	char *help;	   /* of the program */
} line = { .command = -1 };

/* ---- words as the shell has them ---- */

/* bash leaves quotes and backslashes in words. */
static void unquote(char *word)
{
	char quote = '\0', *out = word;

	for (; *word; word++) {
		if (*word == quote)
			quote = '\0';
		else if (!quote && (*word == '\'' || *word == '"'))
			quote = *word;
		else if (*word == '\\' && quote != '\'' && word[1])
			*out++ = *++word;
		else
			*out++ = *word;
	}
	*out = '\0';
}

/* bash ends words at '=' and ':'; *words gets whole ones.  Returns their number. */
static int join_words(char **words, int n)
{
	int out = 0;
	bool joins = false;

	for (int i = 0; i < n; i++) {
		bool is_break = strcmp(words[i], "=") == 0 || strcmp(words[i], ":") == 0;
		char *both = NULL;

		if (out && (is_break || joins) && asprintf(&both, "%s%s", words[out - 1], words[i]) >= 0)
			words[out - 1] = both;
		else
			words[out++] = words[i];
		joins = is_break;
	}
	return out;
}

/* ---- reading the line ---- */

static const struct option *find_option(const struct cli *cli, const char *word)
{
	size_t len = strcspn(word, "=");

	for (const struct option *o = cli->options; o->name; o++)
		if (word[1] == '-' ? strlen(o->name) == len - 2 && strncmp(o->name, word + 2, len - 2) == 0
				   : o->val == word[1] && word[2] == '\0')
			return o;
	return NULL;
}

static bool is_option(const char *word)
{
	return !line.no_options && word[0] == '-' && word[1];
}

static void read_word(const struct cli *cli, int i)
{
	const char *word = line.words[i];

	if (line.pending) {
		line.pending = NULL;
	} else if (!line.no_options && strcmp(word, "--") == 0) {
		line.no_options = true;
	} else if (is_option(word)) {
		line.pending = find_option(cli, word);
		if (line.pending && (line.pending->has_arg != required_argument || strchr(word, '=')))
			line.pending = NULL;
	} else if (cli->completions->others == COMPLETE_COMMAND) {
		line.command = i;
	}
}

/* Calls take() for words that are neither options nor their values. */
static const char *find_word(const struct cli *cli, int wanted)
{
	line.pending = NULL;
	line.no_options = false;
	for (int i = 0; i < line.n; i++) {
		bool is_value = line.pending != NULL, was_after = line.no_options;

		read_word(cli, i);
		if (!is_value && (was_after || (!is_option(line.words[i]) && strcmp(line.words[i], "--") != 0)) && wanted-- == 0)
			return line.words[i];
	}
	return NULL;
}

static const struct cli *the_cli;

const char *complete_word(int i)
{
	return find_word(the_cli, i);
}

const char *complete_option(const char *name)
{
	const char *found = NULL;
	size_t len = strlen(name);

	for (int i = 0; i < line.n; i++)
		if (strncmp(line.words[i], "--", 2) == 0 && strncmp(line.words[i] + 2, name, len) == 0) {
			const char *end = line.words[i] + 2 + len;

			found = *end == '=' ? end + 1 : *end == '\0' && i + 1 < line.n ? line.words[i + 1] : found;
		}
	return found;
}

/* ---- candidates ---- */

static void put(const char *text, size_t len)
{
	fwrite(text, 1, len, stdout);
	putchar('\0');
}

void complete_add(const char *word, size_t len, const char *help)
{
	size_t front = (size_t)(line.value - line.current), known = strlen(line.value);
	cleanup_free char *all = NULL;

	if (memchr(word, '\0', len) || (line.is_bash && (len < known || memcmp(word, line.value, known) != 0)))
		return;
	if (asprintf(&all, "%.*s%.*s", (int)front, line.current, (int)len, word) < 0)
		return;
	put(all + (line.skip < front + len ? line.skip : 0), front + len - (line.skip < front + len ? line.skip : 0));
	put(help ? help : "", help ? strcspn(help, "\n") : 0);
}

void complete_add_all(const char *const *words)
{
	for (; *words; words++)
		complete_add(*words, strlen(*words), NULL);
}

static const char *next_line(const char *at)
{
	at += strcspn(at, "\n");
	return at + (*at == '\n');
}

void complete_add_listed(const struct cli *cli, const char *heading)
{
	const char *at = line.help;

	(void)cli;
	while (at && *at && strncmp(at, heading, strlen(heading)) != 0)
		at = next_line(at);
	for (at = at && *at ? next_line(at) : ""; *at && *at != '\n'; at = next_line(at)) {
		const char *word = at + strspn(at, " ");
		size_t len = strcspn(word, " \n");

		if (word - at == 2)
			complete_add(word, len, word + len + strspn(word + len, " "));
	}
}

/* What the help says of an option: behind two blanks in its line; NULL: nothing there. */
static const char *help_of(const char *name)
{
	cleanup_free char *option = NULL;
	size_t len;

	if (!line.help || asprintf(&option, "--%s", name) < 0)
		return NULL;
	len = strlen(option);
	for (const char *at = line.help; (at = strstr(at, option)); at += len) {
		const char *end = at + strcspn(at, "\n"), *gap = strstr(at, "  ");

		if (at > line.help && at[-1] == ' ' && strchr(" \n=[", at[len]) && gap && gap < end)
			return gap + strspn(gap, " ");
	}
	return NULL;
}

static void add_options(const struct cli *cli)
{
	for (const struct option *o = cli->options; o->name; o++) {
		cleanup_free char *word = NULL;

		if (asprintf(&word, "--%s", o->name) >= 0)
			complete_add(word, strlen(word), help_of(o->name));
	}
}

static const char *const kinds[] = { "words", "files", "directories" };

static void say_kind(const char *kind)
{
	put(kind, strlen(kind));
}

static void add_values(const struct cli *cli, const char *option)
{
	const struct complete_value *value = cli->completions->values;
	const char *comma = strrchr(line.value, ',');

	while (value && value->option && strcmp(value->option, option) != 0)
		value++;
	if (!value || !value->option) {
		say_kind(kinds[0]);
		return;
	}
	if (value->is_list && comma)
		line.value = comma + 1;
	say_kind(kinds[value->kind]);
	if (value->words)
		complete_add_all(value->words);
	if (value->ask)
		value->ask(cli);
}

static void add_words(const struct cli *cli)
{
	const struct completions *c = cli->completions;

	say_kind(kinds[c->others == COMPLETE_COMMAND ? 0 : (int)c->others]);
	if (c->words)
		c->words(cli);
}

static void answer(const struct cli *cli)
{
	const struct option *own = is_option(line.current) ? find_option(cli, line.current) : NULL;
	char *equals = strchr(line.current, '=');

	if (line.command >= 0) {
		printf("command %d%c", line.command, '\0');
	} else if (line.pending) {
		add_values(cli, line.pending->name);
	} else if (own && equals && own->has_arg != no_argument) {
		line.value = equals + 1;
		add_values(cli, own->name);
	} else if (is_option(line.current) || (strcmp(line.current, "-") == 0 && !line.no_options)) {
		say_kind(kinds[0]);
		add_options(cli);
	} else if (cli->completions->others == COMPLETE_COMMAND) {
		printf("command %d%c", line.n, '\0');
	} else {
		add_words(cli);
	}
}

/* The help as text; NULL: out of memory. */
static char *take_help(const struct cli *cli)
{
	FILE *real = stdout;
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return NULL;
	stdout = out;
	cli->print_help();
	stdout = real;
	return output_close_text(out, &text);
}

/* The last of n words is to be completed. */
static void take_line(const struct cli *cli, char **words, int n)
{
	line.words = words;
	line.n = line.is_bash ? join_words(words, n) : n;
	for (int i = 0; i < line.n && line.is_bash; i++)
		if (i + 1 < line.n || !strchr("'\"", *words[i]) || !*words[i])
			unquote(words[i]);
	line.n--;
	line.current = words[line.n];
	line.value = line.current;
	if (line.is_bash)
		for (size_t i = 0; line.current[i]; i++)
			if (line.current[i] == '=' || line.current[i] == ':')
				line.skip = i + 1;
	for (int i = 0; i < line.n && line.command < 0; i++)
		read_word(cli, i);
}

static bool is_asked(const char *word)
{
	return word && strcmp(word, "--complete-words") == 0;
}

const char *complete_verb(int argc, char **argv)
{
	if (argc > 1 && is_asked(argv[1]))
		return argc > 4 ? argv[3] : NULL;
	return argc > 1 ? argv[1] : NULL;
}

void complete_enter_verb(char **argv)
{
	char *verb = argv[3];

	if (!is_asked(argv[1]))
		return;
	argv[3] = argv[2];
	argv[2] = argv[1];
	argv[1] = verb;
}

bool complete_answer(const struct cli *cli, int argc, char **argv, const char *name)
{
	static const struct completions none = { NULL, NULL, COMPLETE_FILES };
	struct cli own = *cli;
	static char empty[] = "";

	if (argc == 3 && strcmp(argv[1], "--complete") == 0 && complete_script(argv[2], name))
		return true;
	if (argc < 3 || strcmp(argv[1], "--complete-words") != 0)
		return false;
	if (!own.completions)
		own.completions = &none;
	the_cli = &own;
	line.is_bash = strcmp(argv[2], "bash") == 0;
	line.help = take_help(cli);
	if (argc == 3)
		take_line(&own, (char *[]){ empty }, 1);
	else
		take_line(&own, argv + 3, argc - 3);
	answer(&own);
	free(line.help);
	line.help = NULL;
	return true;
}
