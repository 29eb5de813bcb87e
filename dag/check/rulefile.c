/* SPDX-License-Identifier: MIT */
#include "dag/check/rulefile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "base/vector.h"
#include "dag/check/rulefile_internal.h"
#include "dag/container/path_names.h"

#define FILE_BYTES_MAX (16 << 20)

/* ---- reading ---- */

struct reading {
	struct rulefile *rulefile;
	enum rulefile_kind kind;
	int32_t file, line;
	bool is_defining;        /* between define and endef */
	int32_t rule;            /* the recipe lines that follow are its; -1: none's */
};

static bool begins_with(const char *text, const char *word)
{
	size_t len = strlen(word);

	return strncmp(text, word, len) == 0 && (text[len] == '\0' || strchr(" \t(", text[len]));
}

static bool is_directive(const char *text)
{
	static const char *const words[] = { "ifeq", "ifneq", "ifdef", "ifndef", "else", "endif", "include", "-include", "sinclude",
		"export", "unexport", "vpath", "undefine", "load", "-load" };

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (begins_with(text, words[i]))
			return true;
	return false;
}

/* Where one of these characters stands outside of $(...) and is not escaped; NULL. */
static char *find_outside(char *text, const char *characters, char escape)
{
	int depth = 0;

	for (; *text; text++) {
		if (*text == escape && text[1] && (escape == '\\' || !strchr("({", text[1]))) {
			text++;
			continue;
		}
		if (depth == 0 && strchr(characters, *text))
			return text;
		if (strchr("({", *text))
			depth++;
		else if (strchr(")}", *text) && depth > 0)
			depth--;
	}
	return NULL;
}

static char *trim(char *text)
{
	size_t len;

	text += strspn(text, " \t");
	for (len = strlen(text); len && strchr(" \t\r", text[len - 1]); len--)
		;
	text[len] = '\0';
	return text;
}

/* needs, targets: as they stand there. */
static int add_rule(struct reading *r, const char *targets, const char *needs, bool has_recipe)
{
	cleanup_free char *t = rulefile_expand(r->rulefile, targets, strlen(targets), r->kind);
	cleanup_free char *n = rulefile_expand(r->rulefile, needs, strlen(needs), r->kind);
	struct rulefile_rule rule = { r->file, r->line, t ? rulefile_words(t) : NULL, n ? rulefile_words(n) : NULL, has_recipe };

	if (rule.targets && rule.needs && vector_push(r->rulefile->rules, r->rulefile->n_rules, rule) == 0) {
		r->rule = r->rulefile->n_rules - 1;
		return 0;
	}
	free(rule.targets);
	free(rule.needs);
	return -ENOMEM;
}

/* ---- make ---- */

/* equals: the '=' of NAME = VALUE, also := += ?= != */
static int assign(struct reading *r, char *text, char *equals)
{
	bool add = equals > text && equals[-1] == '+';
	char *value = trim(equals + 1);

	while (equals > text && strchr(":+?!", equals[-1]))
		equals--;
	*equals = '\0';
	text = trim(text);
	while (begins_with(text, "override") || begins_with(text, "private"))
		text = trim(text + 8);
	return *text ? rulefile_set(r->rulefile, text, strlen(text), value, add) : 0;
}

static int read_make_rule(struct reading *r, char *text, char *colon)
{
	char *needs = colon + 1 + strspn(colon + 1, ":"), *recipe = find_outside(needs, ";", '\\');

	if (recipe)
		*recipe = '\0';
	if (colon > text && colon[-1] == '&')
		colon--;
	*colon = '\0';
	if (find_outside(needs, "=", '\\')) /* a variable of that target */
		return 0;
	return add_rule(r, text, needs, recipe);
}

static int read_make_line(struct reading *r, char *text)
{
	char *at;

	if (*text == '\t') {
		if (r->rule >= 0)
			r->rulefile->rules[r->rule].has_recipe = true;
		return 0;
	}
	if ((at = find_outside(text, "#", '\\')))
		*at = '\0';
	text = trim(text);
	if (!*text)
		return 0;
	if (r->is_defining || begins_with(text, "define")) {
		r->is_defining = !begins_with(text, "endef");
		return 0;
	}
	r->rule = is_directive(text) ? r->rule : -1;
	at = is_directive(text) ? NULL : find_outside(text, ":=", '\\');
	if (!at)
		return 0;
	if (*at == ':' && at[1 + strspn(at + 1, ":")] == '=')
		at += 1 + strspn(at + 1, ":");
	return *at == '=' ? assign(r, text, at) : read_make_rule(r, text, at);
}

/* ---- ninja, CSV ---- */

/* Behind the ':' stands the name of a rule, then what is needed. */
static int read_ninja_line(struct reading *r, char *text)
{
	char *at = *text == ' ' ? NULL : find_outside(text, "=:", '$');

	if (!at || *text == '#')
		return 0;
	if (*at == '=')
		return assign(r, text, at);
	if (!begins_with(text, "build"))
		return 0;
	*at = '\0';
	at = trim(at + 1);
	return add_rule(r, text + strlen("build"), at + strcspn(at, " "), true);
}

static int read_csv_line(struct reading *r, const char *text)
{
	bool quoted = *text == '"';
	char *target = calloc(1, strlen(text) + 2), *at = target, *none = calloc(1, 1);
	struct rulefile_rule rule = { r->file, r->line, target, none, true };

	for (text += quoted; target && *text && (quoted || *text != ','); text++) {
		if (quoted && *text == '"' && *++text != '"')
			break;
		*at++ = *text;
	}
	if (target && none && vector_push(r->rulefile->rules, r->rulefile->n_rules, rule) == 0)
		return 0;
	free(target);
	free(none);
	return -ENOMEM;
}

/* ---- lines ---- */

static int read_line(struct reading *r, char *text)
{
	switch (r->kind) {
	case RULEFILE_MAKE: return read_make_line(r, text);
	case RULEFILE_NINJA: return read_ninja_line(r, text);
	default: return read_csv_line(r, text);
	}
}

/* Is the end of the line escaped? */
static bool goes_on(const char *begin, const char *end, enum rulefile_kind kind)
{
	char escape = kind == RULEFILE_NINJA ? '$' : '\\';
	size_t n = 0;

	while (kind != RULEFILE_CSV && end > begin + n && end[-1 - (ptrdiff_t)n] == escape)
		n++;
	return n % 2;
}

/* text is one line for each that the file means: those that go on are joined, at the number of the first. */
static int read_lines(struct reading *r, char *text)
{
	int error = 0;

	for (int32_t line = 1; *text && error == 0;) {
		char *begin = text, *end = text + strcspn(text, "\n");

		r->line = line++;
		while (*end && goes_on(begin, end, r->kind)) {
			end[-1] = *end = ' ';
			end += strcspn(end, "\n");
			line++;
		}
		text = *end ? end + 1 : end;
		*end = '\0';
		error = read_line(r, begin);
	}
	return error;
}

int rulefile_parse(struct rulefile *rulefile, char *text, enum rulefile_kind kind, int32_t file)
{
	struct reading reading = { rulefile, kind, file, 0, false, -1 };

	return read_lines(&reading, text);
}

int rulefile_read(struct rulefile *rulefile, const char *path, enum rulefile_kind kind, int32_t file)
{
	cleanup_fd int fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	cleanup_file FILE *f = NULL;
	cleanup_free char *text = NULL;
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || st.st_size > FILE_BYTES_MAX || !(f = fdopen(fd, "r")))
		return 0;
	steal_fd(&fd);
	text = malloc((size_t)st.st_size + 1);
	if (!text)
		return -ENOMEM;
	text[fread(text, 1, (size_t)st.st_size, f)] = '\0';
	return rulefile_parse(rulefile, text, kind, file);
}

void rulefile_finish(struct rulefile *f)
{
	for (int32_t i = 0; i < f->n_rules; i++) {
		free(f->rules[i].targets);
		free(f->rules[i].needs);
	}
	for (int32_t i = 0; i < f->n_variables; i++) {
		free(f->variables[i].name);
		free(f->variables[i].value);
	}
	free(f->rules);
	free(f->variables);
	*f = (struct rulefile){ 0 };
}

/* ---- finding ---- */

enum fit { FIT_NOT, FIT_UNKNOWN, FIT_PATTERN, FIT_SAME };

/* A stem is something, what is unknown may be nothing.  The last of either is tried at each place. */
static bool is_like(const char *pattern, const char *text)
{
	const char *again = NULL, *from = NULL;

	while (*text) {
		if (*pattern == RULEFILE_STEM || *pattern == RULEFILE_UNKNOWN) {
			from = text += *pattern == RULEFILE_STEM;
			again = ++pattern;
		} else if (*pattern == *text) {
			pattern++;
			text++;
		} else if (again) {
			text = ++from;
			pattern = again;
		} else {
			return false;
		}
	}
	pattern += strspn(pattern, "\2");
	return !*pattern;
}

/* A pattern without a directory is one of the last part of names. */
static int fit_of(const char *directory, const char *word, const char *path, enum fit *ret_fit)
{
	static const char marks[] = { RULEFILE_STEM, RULEFILE_UNKNOWN, '\0' };
	cleanup_free char *whole = path_names_join(directory, word, strlen(word));
	bool is_pattern = strpbrk(word, marks);

	*ret_fit = FIT_NOT;
	if (!whole)
		return -ENOMEM;
	if (strcmp(whole, path) == 0)
		*ret_fit = FIT_SAME;
	else if (is_pattern && (is_like(whole, path) || (!strchr(word, '/') && is_like(word, path_names_base(path)))))
		*ret_fit = strchr(word, RULEFILE_UNKNOWN) ? FIT_UNKNOWN : FIT_PATTERN;
	return 0;
}

static int best_fit(const char *directory, const char *words, const char *path, enum fit *ret_fit)
{
	int r = 0;

	*ret_fit = FIT_NOT;
	for (; *words && r == 0; words += strlen(words) + 1) {
		enum fit fit;

		r = fit_of(directory, words, path, &fit);
		*ret_fit = fit > *ret_fit ? fit : *ret_fit;
	}
	return r;
}

int rulefile_find(const struct rulefile *f, const char *directory, const char *target, const char *need,
	const struct rulefile_rule **ret)
{
	int best = 0, r = 0;

	*ret = NULL;
	for (int32_t i = 0; i < f->n_rules && r == 0; i++) {
		const struct rulefile_rule *rule = &f->rules[i];
		enum fit fit = FIT_NOT, needs = FIT_NOT;
		int weight;

		r = best_fit(directory, rule->targets, target, &fit);
		if (r < 0 || fit == FIT_NOT)
			continue;
		if (need)
			r = best_fit(directory, rule->needs, need, &needs);
		weight = ((int)needs * (FIT_SAME + 1) + (int)fit) * 2 + rule->has_recipe;
		if (weight > best) {
			best = weight;
			*ret = rule;
		}
	}
	return r;
}
