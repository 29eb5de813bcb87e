/* SPDX-License-Identifier: MIT */

/* Rules for GNU Make 4.3 and newer (grouped targets): https://www.gnu.org/software/make/manual/ */

#include "dag/generate/rules.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/cli.h"
#include "base/output.h"

/* Backslashes that stand before what is escaped by one are escaped, too. */
static bool is_before_special(const char *at)
{
	at += strspn(at, "\\");
	return *at && strchr(" \t:#;", *at);
}

/* What is no single character is a variable, since make reads names once more after it has put these in. */
static const char *escape_name(const char *at)
{
	static const struct {
		char byte;
		const char *text;
	} special[] = { { ' ', "\\ " }, { '\t', "$(tab)" }, { ':', "\\:" }, { '#', "\\#" },
		{ '$', "$$" }, { '*', "\\*" }, { '?', "\\?" }, { '[', "\\[" },
		{ ';', "$(semicolon)" }, { '=', "$(equals)" }, { '&', "$(and)" } };

	if (*at == '\\')
		return is_before_special(at) ? "\\\\" : NULL;
	for (size_t i = 0; i < sizeof(special) / sizeof(special[0]); i++)
		if (special[i].byte == *at)
			return special[i].text;
	return NULL;
}

/* Would make take the name for the goal of our rules, a directive, or a special target? */
static bool is_word_of_make(const char *name)
{
	static const char *const words[] = { "all", "define", "else", "endef", "endif", "export",
		"ifdef", "ifeq", "ifndef", "ifneq", "include", "-include", "load", "-load",
		"override", "private", "sinclude", "undefine", "unexport", "vpath" };

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (strcmp(words[i], name) == 0)
			return true;
	return name[0] == '.' && name[1 + strspn(name + 1, "ABCDEFGHIJKLMNOPQRSTUVWXYZ_")] == '\0';
}

/* make passes names with '*', '?' or '[' to glob(), which removes backslashes. */
static const char *escape_pattern(const char *at)
{
	if (*at == '\\')
		return is_before_special(at) ? "\\\\\\\\" : "\\\\";
	return escape_name(at);
}

/* Not: what make takes for ends of lines, patterns, what is for order only, members of archives, homes,
 * libraries (-lm), and what a blank behind it would change. */
bool rules_make_says(const char *name)
{
	size_t len = strlen(name);

	return len && !strpbrk(name, "\n\v\f\r%|") && name[0] != '~' &&
	       strncmp(name, "-l", 2) != 0 && !strchr(" \t\\)", name[len - 1]) &&
	       !is_word_of_make(name);
}

static const char *escape_recipe(const char *at)
{
	return *at == '$' ? "$$" : NULL;
}

static void write_names(const struct rules *rules, const char *const *names, int32_t n,
	const char *between, FILE *out)
{
	for (int32_t i = 0; i < n; i++) {
		fputs(i ? between : "", out);
		rules_write(rules, names[i], NULL,
			strpbrk(names[i], "*?[") ? escape_pattern : escape_name, out);
	}
}

/* One line: make runs each by a shell of its own, and takes blanks away from those that are run together. */
static int write_rule(const struct rules *rules, const struct rule *rule, FILE *out)
{
	cleanup_free char *command = rules_one_line(rule->command);

	if (!command)
		return -ENOMEM;
	fputc('\n', out);
	write_names(rules, rule->makes, rule->n_makes, " ", out);
	fputs(rule->n_makes > 1 ? " &:" : ":", out);
	fputs(rule->n_needs ? " " : "", out);
	write_names(rules, rule->needs, rule->n_needs, " ", out);
	fputs("\n\t", out);
	rules_write(rules, command, "$(CURDIR)", escape_recipe, out);
	fputc('\n', out);
	return 0;
}

static char *make_directories(const struct rules *rules)
{
	char *text = NULL, *line;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return NULL;
	fputs("mkdir -p --", out);
	for (int32_t i = 0; i < rules->n_directories; i++) {
		fputc(' ', out);
		cli_put_quoted(rules->directories[i], out);
	}
	text = output_close_text(out, &text);
	line = text ? rules_one_line(text) : NULL;
	free(text);
	return line;
}

/* make halves the backslashes before '#'. */
static const char *escape_value(const char *at)
{
	if (*at == '\\')
		return at[strspn(at, "\\")] == '#' ? "\\\\" : NULL;
	return *at == '$' ? "$$" : *at == '#' ? "\\#" : NULL;
}

/* make makes the directories when it reads the file: a rule would be a job that the workflow did not have.  The command
 * is in a variable, since make counts the parentheses in the text of a function. */
static int write_directories(const struct rules *rules, FILE *out)
{
	cleanup_free char *command = rules->n_directories ? make_directories(rules) : NULL;

	if (rules->n_directories && !command)
		return -ENOMEM;
	if (command) {
		fputs("\ndirectories := ", out);
		rules_write(rules, command, NULL, escape_value, out);
		fputs("\nmade := $(shell $(directories))\n", out);
	}
	return 0;
}

int rules_write_make(const struct rules *rules, FILE *out)
{
	int r;

	fputs("# Made by wfdag generate; needs GNU Make 4.3.\n"
	      "SHELL := /bin/sh\n.SHELLFLAGS := -c\nMAKEFLAGS += --no-builtin-rules\n.SUFFIXES:\n"
	      ".DELETE_ON_ERROR:\n.PHONY: all\nequals := =\nsemicolon := \\;\nand := &\ntab := "
	      "\\\t\n\nall:",
		out);
	for (int32_t i = 0; i < rules->n_rules; i++) {
		fputs(" \\\n  ", out);
		write_names(rules, rules->rules[i].makes, rules->rules[i].n_makes, " \\\n  ", out);
	}
	fputc('\n', out);
	r = write_directories(rules, out);
	for (int32_t i = 0; i < rules->n_rules && r == 0; i++)
		r = write_rule(rules, &rules->rules[i], out);
	return r;
}
