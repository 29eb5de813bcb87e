/* SPDX-License-Identifier: MIT */

/* What ftrac redact does with each column of a trace, and which words stand for names. */

#include "test.h"

#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

#include "dag/redact/dictionary.h"
#include "db/redact.h"
#include "db/sql.h"

#define COLUMNS "SELECT t.name, c.name, c.type FROM sqlite_schema t, pragma_table_info(t.name) c WHERE t.type = 'table'"
#define KEY "0123456789abcdef"

static sqlite3 *open_schema(void)
{
	sqlite3 *sqlite = NULL;

	assert_int_equal(sqlite3_open(":memory:", &sqlite), SQLITE_OK);
	assert_int_equal(sqlite3_exec(sqlite, sql_schema, NULL, NULL, NULL), SQLITE_OK);
	return sqlite;
}

/* How many columns the schema has, and how many of them nothing is decided for. */
static int count(sqlite3 *sqlite, int *ret_undecided)
{
	sqlite3_stmt *rows = NULL;
	int n = 0;

	*ret_undecided = 0;
	assert_int_equal(sqlite3_prepare_v2(sqlite, COLUMNS, -1, &rows, NULL), SQLITE_OK);
	for (; sqlite3_step(rows) == SQLITE_ROW; n++) {
		const char *table = (const char *)sqlite3_column_text(rows, 0), *column = (const char *)sqlite3_column_text(rows, 1);

		if (redact_decision(table, column, (const char *)sqlite3_column_text(rows, 2)))
			continue;
		print_message("nothing is decided for %s.%s\n", table, column);
		++*ret_undecided;
	}
	sqlite3_finalize(rows);
	return n;
}

/* A column that may have a text and has no decision would not be copied: add it to db/redact.c, and to its query of texts. */
static void each_column_that_may_have_a_text_is_decided(void **state)
{
	sqlite3 *sqlite = open_schema();
	int undecided, n = count(sqlite, &undecided);

	(void)state;
	print_message("%d columns\n", n);
	assert_true(n > 200);
	assert_int_equal(undecided, 0);
	sqlite3_close(sqlite);
}

static void a_new_column_is_not_decided(void **state)
{
	static const char *const types[] = { "TEXT", "BLOB", "", "ANY", NULL };
	sqlite3 *sqlite = open_schema();
	int undecided;

	(void)state;
	for (int i = 0; types[i]; i++) {
		char *sql = sqlite3_mprintf("ALTER TABLE files ADD COLUMN more%d %s", i, types[i]);

		assert_int_equal(sqlite3_exec(sqlite, sql, NULL, NULL, NULL), SQLITE_OK);
		sqlite3_free(sql);
		count(sqlite, &undecided);
		assert_int_equal(undecided, i + 1);
	}
	sqlite3_close(sqlite);
}

static void each_decision_is_of_a_column(void **state)
{
	sqlite3 *sqlite = open_schema();
	const char *table, *column = NULL;
	int n = 0;

	(void)state;
	for (; (table = redact_entry(n, &column)); n++)
		assert_int_equal(sqlite3_table_column_metadata(sqlite, NULL, table, column, NULL, NULL, NULL, NULL, NULL), SQLITE_OK);
	assert_true(n > 30);
	sqlite3_close(sqlite);
}

/* ---- words ---- */

static struct dictionary *begin(const char *key)
{
	struct dictionary *d = dictionary_create(key, strlen(key));

	assert_non_null(d);
	return d;
}

/* To be freed. */
static char *put(struct dictionary *d, const char *text)
{
	const char *out;
	size_t len;

	assert_int_equal(dictionary_put(d, text, strlen(text), &out, &len), 0);
	return strndup(out, len);
}

static void see(struct dictionary *d, enum dictionary_how how, const char *text)
{
	assert_int_equal(dictionary_see(d, how, text, strlen(text)), 0);
}

/* What becomes of the text, with the word for "alpha" written as A, and for "beta" as B. */
static char *shown(struct dictionary *d, const char *text)
{
	char *said = put(d, text), *names[] = { put(d, "alpha"), put(d, "beta") };

	for (int i = 0; i < 2; i++)
		for (char *at; (at = strstr(said, names[i]));) {
			*at = (char)('A' + i);
			memmove(at + 1, at + strlen(names[i]), strlen(at + strlen(names[i])) + 1);
		}
	free(names[0]);
	free(names[1]);
	return said;
}

static void a_name_is_one_word_wherever_it_is(void **state)
{
	static const char *const texts[][2] = { { "/alpha/beta.c", "/A/B.c" }, { "--alpha=/beta/x", "--A=/B/x" }, { "//beta/alpha?x=1", "//B/A?x=1" },
		{ "sh -c 'cat alpha>beta'", "sh -c 'cat A>B'" }, { "-Ialpha", "-IA" }, { "gcc -Lbeta -c", "gcc -LB -c" }, { "/usr/bin/python3", "/usr/bin/python3" },
		{ "127.0.0.1:80", "127.0.0.1:80" }, { "[::1]:80", "[::1]:80" }, { "/dev/pts/12", "/dev/pts/12" }, { "pipe:[7]", "pipe:[7]" }, { "-", "-" } };
	struct dictionary *d = begin(KEY);
	int n = 0;

	(void)state;
	see(d, DICTIONARY_PATH, "/alpha/beta");
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		see(d, DICTIONARY_OTHER, texts[i][0]);
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++, n++) {
		char *said = shown(d, texts[i][0]);

		assert_string_equal(said, texts[i][1]);
		free(said);
	}
	assert_int_equal(n, 12);
	dictionary_destroy(d);
}

static void words_follow_from_the_key(void **state)
{
	struct dictionary *one = begin(KEY), *same = begin(KEY), *other = begin("fedcba9876543210");
	char *words[] = { put(one, "alpha"), put(same, "alpha"), put(other, "alpha") };

	(void)state;
	assert_string_equal(words[0], words[1]);
	assert_string_not_equal(words[0], words[2]);
	assert_int_equal(strlen(words[0]), 12);
	assert_true(dictionary_shift_ns(one) == dictionary_shift_ns(same) && dictionary_shift_ns(one) != dictionary_shift_ns(other));
	assert_true(dictionary_shift_ns(one) < 0 && dictionary_shift_ns(one) % 1000000000 == 0);
	for (int i = 0; i < 3; i++)
		free(words[i]);
	dictionary_destroy(one);
	dictionary_destroy(same);
	dictionary_destroy(other);
}

/* Also if the words of an earlier one are the names of this trace. */
static void no_two_names_become_one_word(void **state)
{
	struct dictionary *one = begin(KEY), *again = begin(KEY);
	char *first = put(one, "alpha"), *word, *other;

	(void)state;
	see(again, DICTIONARY_PATH, "/alpha");
	see(again, DICTIONARY_PATH, first);
	word = put(again, "alpha");
	other = put(again, first);
	assert_string_not_equal(word, first);
	assert_string_not_equal(other, first);
	assert_string_not_equal(other, word);
	free(first);
	free(word);
	free(other);
	dictionary_destroy(one);
	dictionary_destroy(again);
}

static void numbers_and_addresses_become_others_of_their_kind(void **state)
{
	struct dictionary *d = begin(KEY);
	char *number = put(d, "20231"), *v4 = put(d, "192.168.7.9"), *v6 = put(d, "[2001:db8::7]:80");

	(void)state;
	assert_int_equal(strlen(number), 12);
	assert_int_equal(strspn(number, "0123456789"), 12);
	assert_memory_equal(v4, "10.", 3);
	assert_memory_equal(v6, "[fd00::", 7);
	assert_non_null(strstr(v6, "]:80"));
	free(number);
	free(v4);
	free(v6);
	dictionary_destroy(d);
}

static void an_owner_stays_only_if_asked_for(void **state)
{
	struct dictionary *d = begin(KEY);
	char *word;

	(void)state;
	see(d, DICTIONARY_OWNER, "alpha");
	assert_int_equal(dictionary_keep(d, "/usr/alpha/beta", 15, true), 0);
	word = put(d, "alpha beta");
	assert_string_not_equal(word, "alpha beta");
	assert_string_equal(strchr(word, ' '), " beta");
	free(word);
	assert_int_equal(dictionary_keep(d, "alpha", 5, false), 0);
	word = put(d, "alpha beta");
	assert_string_equal(word, "alpha beta");
	free(word);
	dictionary_destroy(d);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_column_that_may_have_a_text_is_decided),
		cmocka_unit_test(a_new_column_is_not_decided),
		cmocka_unit_test(each_decision_is_of_a_column),
		cmocka_unit_test(a_name_is_one_word_wherever_it_is),
		cmocka_unit_test(words_follow_from_the_key),
		cmocka_unit_test(no_two_names_become_one_word),
		cmocka_unit_test(numbers_and_addresses_become_others_of_their_kind),
		cmocka_unit_test(an_owner_stays_only_if_asked_for),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
