/* SPDX-License-Identifier: MIT */

/* Rules for Ninja 1.7 and newer: https://ninja-build.org/manual.html */

#include "dag/rules.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const char *escape_name(char byte, char next)
{
	(void)next;
	return byte == '$' ? "$$" : byte == ' ' ? "$ " : byte == ':' ? "$:" : byte == '|' ? "$|" : NULL;
}

static const char *escape_value(char byte, char next)
{
	(void)next;
	return byte == '$' ? "$$" : NULL;
}

static int write_names(const struct rules *rules, const char *const *names, int32_t n, FILE *out,
	const char **ret_name)
{
	for (int32_t i = 0; i < n; i++) {
		if (strpbrk(names[i], "\n|")) {
			*ret_name = names[i];
			return -EILSEQ;
		}
		fputs(i ? " $\n    " : "", out);
		rules_write(rules, names[i], NULL, escape_name, out);
	}
	return 0;
}

static int write_rule(const struct rules *rules, const struct rule *rule, FILE *out, const char **ret_name)
{
	char *command = rules_one_line(rule->command);
	int r = command ? 0 : -ENOMEM;

	fputs("\nbuild ", out);
	if (r == 0)
		r = write_names(rules, rule->makes, rule->n_makes, out, ret_name);
	fputs(": job ", out);
	if (r == 0)
		r = write_names(rules, rule->needs, rule->n_needs, out, ret_name);
	fputs("\n  text = ", out);
	if (r == 0)
		rules_write(rules, command, "${root}", escape_value, out);
	fputc('\n', out);
	free(command);
	return r;
}

static bool says_root(const struct rules *rules)
{
	for (int32_t i = 0; i < rules->n_rules; i++)
		if (rules->root[0] && strstr(rules->rules[i].command, rules->root))
			return true;
	return false;
}

int rules_write_ninja(const struct rules *rules, FILE *out, const char **ret_name)
{
	int r = 0;

	fputs("# Made by wfdag generate.\nninja_required_version = 1.7\n", out);
	if (says_root(rules)) {
		fputs("# Commands say this directory: if they are run elsewhere, say where.\nroot = ", out);
		rules_write(rules, rules->root, NULL, escape_value, out);
		fputc('\n', out);
	}
	fputs("\nrule job\n  command = $text\n", out);
	for (int32_t i = 0; i < rules->n_rules && r == 0; i++)
		r = write_rule(rules, &rules->rules[i], out, ret_name);
	return r;
}
