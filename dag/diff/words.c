/* SPDX-License-Identifier: MIT */

/* The words of commands. */

#include "dag/diff/names_internal.h"

#include <string.h>

#include "dag/container/hash.h"
#include "db/drivers.h"

static const struct driver *find_driver(const char *word, size_t len)
{
	const char *slash = memrchr(word, '/', len);
	const char *base = slash ? slash + 1 : word;

	return driver_find(base, len - (size_t)(base - word));
}

static bool is_number(const char *text, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (!strchr("0123456789.", text[i]))
			return false;
	return len > 0;
}

/* Does the option say how many?  *ret_value: the next word does. */
static bool says_how_many(const struct driver *driver, const char *word, size_t len,
	bool *ret_value)
{
	*ret_value = len == 2;
	if (len >= 2 && word[0] == '-' && strchr(driver->letters, word[1]) && word[1])
		return len == 2 || is_number(word + 2, len - 2);
	for (int i = 0; driver->options[i]; i++) {
		size_t n = strlen(driver->options[i]);

		*ret_value = len == n;
		if (len >= n && memcmp(word, driver->options[i], n) == 0 &&
			(len == n || word[n] == '='))
			return true;
	}
	return false;
}

static bool is_part_of_command(struct names_words *words, const char *word, size_t len)
{
	const struct driver *driver = find_driver(word, len);
	bool skip = words->skip;

	words->skip = false;
	if (skip && is_number(word, len))
		return false;
	if (words->driver && says_how_many(words->driver, word, len, &words->skip))
		return false;
	words->skip = false;
	if (driver)
		words->driver = driver;
	else if (len && strchr(";&|", word[len - 1]))
		words->driver = NULL;
	return true;
}

/* The next piece of a command without its quotes, up to a blank, inside of quotes, too; but not to one in the
 * name of the directory of the run. */
static size_t take_word(struct names_words *words, char *out)
{
	const struct one *one = &words->names->one[words->run];
	size_t len = 0;

	words->joined = words->inside;
	for (; *words->at; words->at++) {
		char c = *words->at;
		size_t root = c == '/' ? names_root_length(one, words->at, SIZE_MAX) : 0;

		if (root) {
			memcpy(out + len, words->at, root);
			len += root;
			words->at += root - 1;
		} else if (c == '\'') {
			words->quoted = !words->quoted;
		} else if (!words->quoted && c == '\\' && words->at[1]) {
			out[len++] = *++words->at;
		} else if (strchr(" \t\n", c)) {
			words->inside = words->quoted;
			words->at++;
			return len;
		} else {
			out[len++] = c;
		}
	}
	return len;
}

void names_words_begin(struct names_words *words, struct names *names, int run, int32_t process)
{
	const struct task *task = workflow_task(names->one[run].workflow, process);
	const char *command = task->command ? task->command : task->program;

	*words = (struct names_words){ names, run, process, .at = command ? command : "" };
}

/* "cd DIR || exit; " at the begin of a script, as rules_put_move() writes it: the working directory of the script is
 * not part of the command. */
static void skip_move(struct names_words *words)
{
	static const char begin[] = "'cd ", end[] = " || exit; ";
	const char *found;

	if (words->quoted || strncmp(words->at, begin, strlen(begin)) != 0)
		return;
	found = strstr(words->at, end);
	if (!found)
		return;
	words->at = found + strlen(end);
	words->quoted = true;
}

bool names_words_next(struct names_words *words)
{
	struct part part = { words->names, words->run, words->process, false, false, false,
		!words->plain };

	while (*words->at) {
		size_t len;

		skip_move(words);
		len = take_word(words, words->names->word);
		if (!is_part_of_command(words, words->names->word, len))
			continue;
		words->word = words->names->text;
		words->len = names_put_text(&part, words->names->word, len, words->names->text);
		return true;
	}
	return false;
}

uint64_t names_command(struct names *names, int run, int32_t process)
{
	struct names_words words;
	uint64_t label = HASH_BEGIN;

	names_words_begin(&words, names, run, process);
	while (names_words_next(&words))
		label = hash_pair(label, names_label_of(words.word, words.len) + words.joined);
	return label;
}
