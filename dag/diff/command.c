/* SPDX-License-Identifier: MIT */

/* Two commands word by word: whether they differ, and in what. */

#include "dag/diff/find.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/vector.h"
#include "dag/diff/names.h"

#define WORDS_SHOWN 6 /* of what has changed in a command */

struct words_list {
	char **word;
	int n;
};

static void words_list_free(struct words_list *list)
{
	for (int i = 0; i < list->n; i++)
		free(list->word[i]);
	free(list->word);
}

static bool list_words(struct names *names, int run, int32_t process, bool plain,
	struct words_list *list)
{
	struct names_words words;

	*list = (struct words_list){ 0 };
	names_words_begin(&words, names, run, process);
	words.plain = plain;
	while (names_words_next(&words)) {
		if (vector_reserve(list->word, list->n) < 0 ||
			!(list->word[list->n] = strndup(words.word, words.len)))
			return false;
		list->n++;
	}
	return true;
}

/* From the first to the last that differ. */
static void cut_same(struct words_list *a, struct words_list *b, int *ret_from, int *ret_behind)
{
	int from = 0, behind = 0, least = a->n < b->n ? a->n : b->n;

	while (from < least && strcmp(a->word[from], b->word[from]) == 0)
		from++;
	while (behind < least - from &&
		strcmp(a->word[a->n - 1 - behind], b->word[b->n - 1 - behind]) == 0)
		behind++;
	*ret_from = from;
	*ret_behind = behind;
}

static void put_words(FILE *out, const struct words_list *list, int from, int behind)
{
	int to = list->n - behind;

	if (from >= to)
		fputs("(nothing)", out);
	for (int i = from; i < to && i < from + WORDS_SHOWN; i++)
		fprintf(out, "%s%s", i > from ? " " : "", list->word[i]);
	if (to > from + WORDS_SHOWN)
		fputs(" ...", out);
}

char *find_words(struct names *names, int32_t a, int32_t b)
{
	struct words_list list[2] = { { 0 } };
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	int from, behind;
	bool ok = out && list_words(names, 0, a, false, &list[0]) &&
		  list_words(names, 1, b, false, &list[1]);

	if (ok) {
		cut_same(&list[0], &list[1], &from, &behind);
		put_words(out, &list[0], from, behind);
		fputs(" -> ", out);
		put_words(out, &list[1], from, behind);
	}
	ok &= out && !ferror(out);
	ok &= out && fclose(out) == 0;
	words_list_free(&list[0]);
	words_list_free(&list[1]);
	if (!ok) {
		free(text);
		text = NULL;
	}
	return text;
}

static const char *base_of(const char *path)
{
	const char *slash = path ? strrchr(path, '/') : NULL;

	return slash ? slash + 1 : path;
}

/* Are two words the names of one file that both processes use? */
static bool are_one_file(const struct match *m, int32_t a, const char *x, const char *y)
{
	const struct side *side = m->side[0];

	for (int32_t i = side->first[a]; i < side->first[a + 1]; i++) {
		int32_t to = side->links[i].to, other = m->pair[0][to];
		const char *path[2];

		if (side_is_process(side, to) || other == GRAPH_NONE)
			continue;
		path[0] = workflow_data(side->workflow, side_file(side, to))->path;
		path[1] = workflow_data(m->side[1]->workflow, side_file(m->side[1], other))->path;
		if (path[0] && path[1] && strcmp(base_of(path[0]), base_of(x)) == 0 &&
			strcmp(base_of(path[1]), base_of(y)) == 0)
			return true;
	}
	return false;
}

/* The same program, called by another path to it? */
static bool are_one_program(const struct match *m, const int32_t process[2], const char *x, const char *y)
{
	const char *exe[2];

	for (int run = 0; run < 2; run++)
		exe[run] = workflow_task(m->side[run]->workflow, process[run])->exe;
	return exe[0] && exe[1] && strcmp(exe[0], exe[1]) == 0 && strcmp(base_of(x), base_of(y)) == 0;
}

static int have_changed(const struct match *m, struct names *names, const int32_t process[2],
	bool plain, bool *ret_changed)
{
	struct words_list list[2] = { { 0 } };
	bool ok = list_words(names, 0, process[0], plain, &list[0]) &&
		  list_words(names, 1, process[1], plain, &list[1]);

	*ret_changed = list[0].n != list[1].n;
	for (int i = 0; ok && i < list[0].n && !*ret_changed; i++)
		*ret_changed = strcmp(list[0].word[i], list[1].word[i]) != 0 &&
			       !are_one_file(m, process[0], list[0].word[i], list[1].word[i]) &&
			       (i || !are_one_program(m, process, list[0].word[0], list[1].word[0]));
	words_list_free(&list[0]);
	words_list_free(&list[1]);
	return ok ? 0 : -ENOMEM;
}

int find_is_changed(const struct match *m, struct names *names, int32_t a, int32_t b,
	bool *ret_changed)
{
	const int32_t process[2] = { a, b };
	int r = 0;

	*ret_changed = m->side[0]->label[a] != m->side[1]->label[b];
	if (*ret_changed)
		r = have_changed(m, names, process, false, ret_changed);
	if (r == 0 && *ret_changed)
		r = have_changed(m, names, process, true, ret_changed);
	return r;
}
