/* SPDX-License-Identifier: MIT */

/* Rules for GNU Make 4.3 and newer (grouped targets): https://www.gnu.org/software/make/manual/ */

#include "dag/rules.h"

#include <errno.h>
#include <string.h>

static const char *escape_name(char byte, char next)
{
	static const struct {
		char byte;
		const char *text;
	} special[] = { { ' ', "\\ " }, { '\t', "\\\t" }, { ':', "\\:" }, { '#', "\\#" }, { '$', "$$" },
		{ '%', "\\%" }, { '*', "\\*" }, { '?', "\\?" }, { '[', "\\[" }, { '~', "\\~" }, { ';', "\\;" },
		{ '=', "$(equals)" }, { '&', "$(and)" }, { '|', "$(bar)" } };

	(void)next;
	for (size_t i = 0; i < sizeof(special) / sizeof(special[0]); i++)
		if (special[i].byte == byte)
			return special[i].text;
	return NULL;
}

/* A recipe's lines begin with a tab. */
static const char *escape_recipe(char byte, char next)
{
	(void)next;
	return byte == '$' ? "$$" : byte == '\n' ? "\n\t" : NULL;
}

static int write_names(const struct rules *rules, const char *const *names, int32_t n, const char *between,
	FILE *out, const char **ret_name)
{
	for (int32_t i = 0; i < n; i++) {
		if (strchr(names[i], '\n')) {
			*ret_name = names[i];
			return -EILSEQ;
		}
		fputs(i ? between : "", out);
		rules_write(rules, names[i], NULL, escape_name, out);
	}
	return 0;
}

static int write_rule(const struct rules *rules, const struct rule *rule, FILE *out, const char **ret_name)
{
	int r;

	fputc('\n', out);
	r = write_names(rules, rule->makes, rule->n_makes, " ", out, ret_name);
	fputs(rule->n_makes > 1 ? " &:" : ":", out);
	fputs(rule->n_needs ? " " : "", out);
	if (r == 0)
		r = write_names(rules, rule->needs, rule->n_needs, " ", out, ret_name);
	fputs("\n\t", out);
	rules_write(rules, rule->command, "$(CURDIR)", escape_recipe, out);
	fputc('\n', out);
	return r;
}

int rules_write_make(const struct rules *rules, FILE *out, const char **ret_name)
{
	int r = 0;

	fputs("# Made by wfdag generate; needs GNU Make 4.3.\n"
	      "SHELL := /bin/sh\n.SHELLFLAGS := -c\nMAKEFLAGS += --no-builtin-rules\n.SUFFIXES:\n.ONESHELL:\n"
	      ".DELETE_ON_ERROR:\n.PHONY: all\nequals := =\nand := &\nbar := |\n\nall:",
		out);
	for (int32_t i = 0; i < rules->n_rules && r == 0; i++) {
		fputs(" \\\n  ", out);
		r = write_names(rules, rules->rules[i].makes, rules->rules[i].n_makes, " \\\n  ", out,
			ret_name);
	}
	fputc('\n', out);
	if (rules->n_directories) {
		fputs("\nmade := $(shell mkdir -p --", out);
		for (int32_t i = 0; i < rules->n_directories; i++) {
			fputs(" '", out);
			for (const char *at = rules->directories[i]; *at; at++)
				fputs(*at == '\'' ? "'\\''" : *at == '$' ? "$$" : *at == '#' ? "\\#"
										: (char[]){ *at, 0 },
					out);
			fputc('\'', out);
		}
		fputs(")\n", out);
	}
	for (int32_t i = 0; i < rules->n_rules && r == 0; i++)
		r = write_rule(rules, &rules->rules[i], out, ret_name);
	return r;
}
