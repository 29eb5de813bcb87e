/* SPDX-License-Identifier: MIT */

/* Texts of rule files: variables, and words with escapes. */

#include "dag/check/rulefile_internal.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/output.h"
#include "base/vector.h"

#define DEPTH_MAX 16
#define STEPS_MAX (1 << 20) /* of one text: variables that double each other end here */

struct expanding {
	const struct rulefile *rulefile;
	enum rulefile_kind kind;
	FILE *out;
	size_t steps; /* that are left */
};

/* ---- variables ---- */

static const struct rulefile_variable *find_variable(const struct rulefile *f, const char *name, size_t len)
{
	for (int32_t i = 0; i < f->n_variables; i++)
		if (strlen(f->variables[i].name) == len && memcmp(f->variables[i].name, name, len) == 0)
			return &f->variables[i];
	return NULL;
}

int rulefile_set(struct rulefile *f, const char *name, size_t len, const char *value, bool add)
{
	struct rulefile_variable *old = (struct rulefile_variable *)find_variable(f, name, len);
	struct rulefile_variable new = { NULL, NULL };

	if (asprintf(&new.value, "%s%s%s", old && add ? old->value : "", old && add ? " " : "", value) < 0)
		return -ENOMEM;
	if (old) {
		free(old->value);
		old->value = new.value;
		return 0;
	}
	new.name = strndup(name, len);
	if (new.name && vector_push(f->variables, f->n_variables, new) == 0)
		return 0;
	free(new.name);
	free(new.value);
	return -ENOMEM;
}

/* ---- expansion ---- */

static void expand(struct expanding *e, const char *text, size_t len, int depth);

static void put(struct expanding *e, char c)
{
	if (e->steps && e->steps--)
		fputc(c, e->out);
}

/* $(NAME:.c=.o): each word of the value with the other end. */
static void put_replaced(struct expanding *e, const char *value, const char *from, size_t n_from, const char *to, size_t n_to)
{
	while (*value) {
		size_t blank = strspn(value, " \t"), len;

		value += blank;
		len = strcspn(value, " \t");
		if (blank)
			put(e, ' ');
		if (len >= n_from && memcmp(value + len - n_from, from, n_from) == 0) {
			for (size_t i = 0; i < len - n_from; i++)
				put(e, value[i]);
			for (size_t i = 0; i < n_to; i++)
				put(e, to[i]);
		} else {
			for (size_t i = 0; i < len; i++)
				put(e, value[i]);
		}
		value += len;
	}
}

/* To be freed; NULL: out of memory. */
static char *expand_apart(struct expanding *e, const char *text, int depth)
{
	FILE *whole = e->out;
	char *expanded = NULL;
	size_t size;

	e->out = open_memstream(&expanded, &size);
	if (e->out) {
		expand(e, text, strlen(text), depth);
		expanded = output_close_text(e->out, &expanded);
	}
	e->out = whole;
	return expanded;
}

/* What stands between the parentheses; functions and what is not set here are unknown. */
static void put_reference(struct expanding *e, const char *name, size_t len, int depth)
{
	const char *colon = memchr(name, ':', len), *equals = colon ? memchr(colon, '=', (size_t)(name + len - colon)) : NULL;
	const struct rulefile_variable *v = depth < DEPTH_MAX
						   ? find_variable(e->rulefile, name, equals ? (size_t)(colon - name) : len)
						   : NULL;
	cleanup_free char *value = v && equals ? expand_apart(e, v->value, depth + 1) : NULL;

	if (!v || (equals && !value))
		put(e, RULEFILE_UNKNOWN);
	else if (!equals)
		expand(e, v->value, strlen(v->value), depth + 1);
	else
		put_replaced(e, value, colon + 1 + (colon[1] == '%'), (size_t)(equals - colon - 1 - (colon[1] == '%')),
			equals + 1 + (equals[1] == '%'), (size_t)(name + len - equals - 1 - (equals[1] == '%')));
}

/* The length of "(...)" or "{...}", also with others inside. */
static size_t bracket_length(const char *text, size_t len)
{
	char open = *text, close = open == '(' ? ')' : '}';
	int depth = 0;

	for (size_t i = 0; i < len; i++) {
		depth += (text[i] == open) - (text[i] == close);
		if (depth == 0)
			return i + 1;
	}
	return len;
}

static bool is_of_name(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
}

/* Behind a '$': how many bytes belong to it. */
static size_t put_dollar(struct expanding *e, const char *text, size_t len, int depth)
{
	bool ninja = e->kind == RULEFILE_NINJA;
	size_t n = 1;

	if (len == 0)
		return 0;
	if (*text == '{' || (*text == '(' && !ninja)) {
		n = bracket_length(text, len);
		put_reference(e, text + 1, n < 2 ? 0 : n - 2, depth);
		return n;
	}
	if (*text == '$') {
		put(e, '$');
	} else if (ninja && !is_of_name(*text)) {
		put(e, '\\');
		put(e, *text);
	} else {
		while (ninja && n < len && is_of_name(text[n]))
			n++;
		put_reference(e, text, n, depth);
	}
	return n;
}

static void expand(struct expanding *e, const char *text, size_t len, int depth)
{
	for (size_t i = 0; i < len && e->steps; i++) {
		e->steps--;
		if (text[i] == '$') {
			i += put_dollar(e, text + i + 1, len - i - 1, depth);
			continue;
		}
		if (e->kind == RULEFILE_NINJA && strchr("\\%", text[i]))
			put(e, '\\');
		put(e, text[i]);
	}
}

char *rulefile_expand(const struct rulefile *rulefile, const char *text, size_t len, enum rulefile_kind kind)
{
	char *expanded = NULL;
	size_t size;
	struct expanding e = { rulefile, kind, open_memstream(&expanded, &size), STEPS_MAX };

	if (!e.out)
		return NULL;
	expand(&e, text, len, 0);
	return output_close_text(e.out, &expanded);
}

/* ---- words ---- */

char *rulefile_words(const char *text)
{
	char *words = malloc(strlen(text) + 2), *at = words;

	for (; words && *text; text++) {
		if (strchr(" \t\n", *text)) {
			if (at > words && at[-1])
				*at++ = '\0';
		} else if (*text == '\\' && text[1] && strchr(" \t#:%\\", text[1])) {
			*at++ = *++text;
		} else {
			*at++ = *text == '%' ? RULEFILE_STEM : *text;
		}
	}
	if (words) {
		if (at > words && at[-1])
			*at++ = '\0';
		*at = '\0';
	}
	return words;
}
