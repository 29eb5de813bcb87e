/* SPDX-License-Identifier: MIT */

/* Rules for Ninja 1.7 and newer: https://ninja-build.org/manual.html */

#include "dag/generate/rules.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/utf8.h"

static const char *escape_name(const char *at)
{
	return *at == '$' ? "$$" : *at == ' ' ? "$ " : *at == ':' ? "$:" : NULL;
}

static const char *escape_value(const char *at)
{
	return *at == '$' ? "$$" : NULL;
}

bool rules_ninja_says(const char *name)
{
	return *name && !strpbrk(name, "\n\r\t|"); /* its log is divided by tabs */
}

static void write_names(const struct rules *rules, const char *const *names, int32_t n, FILE *out)
{
	for (int32_t i = 0; i < n; i++) {
		fputs(i ? " $\n    " : " ", out);
		rules_write(rules, names[i], NULL, escape_name, out);
	}
}

static int write_rule(const struct rules *rules, const struct rule *rule, FILE *out)
{
	cleanup_free char *command = rules_one_line(rule->command);

	if (!command)
		return -ENOMEM;
	fputs("\nbuild", out);
	write_names(rules, rule->makes, rule->n_makes, out);
	fputs(": job", out);
	write_names(rules, rule->needs, rule->n_needs, out);
	fputs("\n  text = ", out);
	rules_write(rules, command, "${root}", escape_value, out);
	fputc('\n', out);
	return 0;
}

/* No command has a root that is no text, after rules_one_line(). */
static bool says_root(const struct rules *rules)
{
	if (!utf8_is_text(rules->root, "\t"))
		return false;
	for (int32_t i = 0; i < rules->n_rules; i++)
		if (rules->root[0] && strstr(rules->rules[i].command, rules->root))
			return true;
	return false;
}

int rules_write_ninja(const struct rules *rules, FILE *out)
{
	int r = 0;

	fputs("# Made by wfdag generate.\nninja_required_version = 1.7\n", out);
	if (says_root(rules)) {
		fputs("# Commands say this directory: if they are run elsewhere, say where.\nroot "
		      "= ",
			out);
		rules_write(rules, rules->root, NULL, escape_value, out);
		fputc('\n', out);
	}
	fputs("\nrule job\n  command = $text\n", out);
	for (int32_t i = 0; i < rules->n_rules && r == 0; i++)
		r = write_rule(rules, &rules->rules[i], out);
	return r;
}
