/* SPDX-License-Identifier: MIT */
#ifndef DAG_REDACT_DICTIONARY_H
#define DAG_REDACT_DICTIONARY_H

/*
 * What stands for the names in texts.  A text consists of names (letters, digits, '_' and bytes above 0x7f) and of what is between them,
 * which stays: so a path has the same names in an argument, in a URL and in an error's text.  A name becomes a word of twelve letters, a
 * number one of twelve digits, and an address of a machine another one.  They follow from the key alone, unless two names
 * would become one or a word is a name of the trace.
 *
 * These stay: names of vocabulary.h, those of one character, numbers below 1000, and what dictionary_keep() was told; and of -Iname the letter, if
 * the rest is a name of a path.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define DICTIONARY_KEY_LEAST 16 /* bytes */

struct dictionary;

/* The caller keeps the key.  NULL: out of memory. */
struct dictionary *dictionary_create(const void *key, size_t key_len);
void dictionary_destroy(struct dictionary *dictionary);

/* All texts, before the first dictionary_put().  0 or -ENOMEM. */
enum dictionary_how { DICTIONARY_OTHER, DICTIONARY_PATH, DICTIONARY_OWNER, DICTIONARY_STAYS };
int dictionary_see(struct dictionary *dictionary, enum dictionary_how how, const char *text, size_t len);
/* Names in these texts stay: system: but for those of owners; extensions: the last part alone, behind a dot. */
int dictionary_keep(struct dictionary *dictionary, const char *text, size_t len, bool system);
int dictionary_keep_extension(struct dictionary *dictionary, const char *path, size_t len);

/* What stands for the text, until the next call. */
int dictionary_put(struct dictionary *dictionary, const char *text, size_t len, const char **ret_text, size_t *ret_len);

/* How far points in time are moved, if they are: whole seconds, of 30 days to ten years ago. */
int64_t dictionary_shift_ns(const struct dictionary *dictionary);

/* Lines of word, tabulator and name, in the order of their use. */
void dictionary_print(const struct dictionary *dictionary, FILE *out);
size_t dictionary_count(const struct dictionary *dictionary);

#endif
