/* SPDX-License-Identifier: MIT */
#include "dag/check/depfile.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"

/* Words of the line that is being read, one behind the other, each with its NUL. */
struct line {
	const char *at, *end, *word; /* where the word began; NULL: there was none in this line */
	char *words;
	size_t used;    /* by all words */
	size_t targets; /* by those in front of the colon */
	bool has_colon, is_rule;
};

static bool at_newline(const char *at, const char *end)
{
	return at < end && (*at == '\n' || (*at == '\r' && at + 1 < end && at[1] == '\n'));
}

/* Blanks, and ends of lines that are none. */
static void skip_blanks(struct line *l)
{
	while (l->at < l->end) {
		if (*l->at == ' ' || *l->at == '\t' ||
			(*l->at == '\r' && !at_newline(l->at, l->end)))
			l->at++;
		else if (*l->at == '\\' && at_newline(l->at + 1, l->end))
			l->at += l->at[1] == '\r' ? 3 : 2;
		else
			break;
	}
}

/* The first one ends the targets, unless it is that of a drive: names of other systems have one. */
static bool is_colon(const struct line *l)
{
	const char *next = l->at + 1;
	bool is_drive =
		l->word && l->at == l->word + 1 && next < l->end && (*next == '/' || *next == '\\');

	return *l->at == ':' && !l->has_colon && !is_drive;
}

static bool ends_word(const struct line *l)
{
	return *l->at == ' ' || *l->at == '\t' || *l->at == '\n' || at_newline(l->at, l->end) ||
	       is_colon(l) || (*l->at == '\\' && at_newline(l->at + 1, l->end));
}

static void read_word(struct line *l)
{
	for (l->word = l->at; l->at < l->end && !ends_word(l); l->at++) {
		const char *next = l->at + 1;

		if (next < l->end && ((*l->at == '\\' && strchr(" \t#:", *next) && *next) ||
					     (*l->at == '$' && *next == '$')))
			l->at++;
		l->words[l->used++] = *l->at;
	}
	l->words[l->used++] = '\0';
}

static void skip_line(struct line *l)
{
	for (; l->at < l->end && *l->at != '\n'; l->at++)
		if (*l->at == '\\' && l->at + 1 < l->end)
			l->at++;
}

static void read_line(struct line *l)
{
	l->used = l->targets = 0;
	l->has_colon = false;
	l->word = NULL;
	l->is_rule = *l->at != '\t';
	if (!l->is_rule)
		skip_line(l);
	for (skip_blanks(l); l->at < l->end && !at_newline(l->at, l->end); skip_blanks(l)) {
		if (*l->at == '#' || *l->at == ';') {
			skip_line(l);
		} else if (*l->at == '=' ||
			   (l->at + 1 < l->end && *l->at != ':' && l->at[1] == '=')) {
			l->is_rule = false;
			skip_line(l);
		} else if (is_colon(l)) {
			l->has_colon = true;
			l->targets = l->used;
			while (l->at < l->end && *l->at == ':')
				l->at++;
		} else {
			read_word(l);
		}
	}
	l->at += l->at < l->end && *l->at == '\r';
	l->at += l->at < l->end;
}

static int emit(const struct line *l, depfile_edge *edge, void *arg)
{
	const char *end = l->words + l->used, *first = l->words + l->targets;
	int r = 0;

	for (const char *t = l->words; t < first && r == 0; t += strlen(t) + 1) {
		if (first == end)
			r = edge(arg, t, "");
		for (const char *p = first; p < end && r == 0; p += strlen(p) + 1)
			r = edge(arg, t, p);
	}
	return r;
}

int depfile_parse(const char *text, size_t len, depfile_edge *edge, void *arg)
{
	cleanup_free char *words = malloc(2 * len + 2);
	struct line l = { .at = text, .end = text + len, .words = words };
	int r = words ? 0 : -ENOMEM;

	while (r == 0 && l.at < l.end) {
		read_line(&l);
		if (l.has_colon && l.is_rule)
			r = emit(&l, edge, arg);
	}
	return r;
}

int depfile_is_name(const char *path)
{
	static const char *const ends[] = { ".d", ".dep", ".deps", ".P", ".Po", ".Plo", ".Tpo",
		".pp", "/.depend", "/depend" };
	size_t len = strlen(path);

	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++)
		if (len > strlen(ends[i]) && strcmp(path + len - strlen(ends[i]), ends[i]) == 0)
			return 1;
	return 0;
}
