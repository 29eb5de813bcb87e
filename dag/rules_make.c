/* SPDX-License-Identifier: MIT */

/* Rules for GNU Make 4.3 and newer (grouped targets): https://www.gnu.org/software/make/manual/ */

#include "dag/rules.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

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

/* Not: ends of lines, patterns, what is for order only, members of archives, homes, and what a blank behind
 * it would change. */
bool rules_make_says(const char *name)
{
	size_t len = strlen(name);

	return len && !strpbrk(name, "\n%|") && name[0] != '~' && !strchr(" \t\\)", name[len - 1]);
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
		rules_write(rules, names[i], NULL, escape_name, out);
	}
}

/* One line: make runs each by a shell of its own, and takes blanks away from those that are run together. */
static int write_rule(const struct rules *rules, const struct rule *rule, FILE *out)
{
	char *command = rules_one_line(rule->command);

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
	free(command);
	return 0;
}

static const char *escape_word(const char *at)
{
	return *at == '\'' ? "'\\''" : *at == '$' ? "$$" : *at == '#' ? "\\#" : NULL;
}

/* When the file is read: a job for that would be one more than there was. */
static void write_directories(const struct rules *rules, FILE *out)
{
	if (rules->n_directories == 0)
		return;
	fputs("\nmade := $(shell mkdir -p --", out);
	for (int32_t i = 0; i < rules->n_directories; i++) {
		if (strchr(rules->directories[i], '\n'))
			continue;
		fputs(" '", out);
		rules_write(rules, rules->directories[i], NULL, escape_word, out);
		fputc('\'', out);
	}
	fputs(")\n", out);
}

int rules_write_make(const struct rules *rules, FILE *out)
{
	int r = 0;

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
	write_directories(rules, out);
	for (int32_t i = 0; i < rules->n_rules && r == 0; i++)
		r = write_rule(rules, &rules->rules[i], out);
	return r;
}
