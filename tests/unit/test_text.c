/* SPDX-License-Identifier: MIT */

/* text.h: bytes from outside become what the database can hold, and nothing is made up. */

#include <fcntl.h>

#include "db/text.h"
#include "test.h"

#define BYTES(literal) (literal), sizeof(literal) - 1

/* ---- UTF-8 ---- */

static void letters_of_all_lengths_are_utf8(void **state)
{
	(void)state;
	assert_true(text_is_utf8(BYTES("")));
	assert_true(text_is_utf8(BYTES("plain")));
	assert_true(text_is_utf8(BYTES("\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80")));
}

static void broken_sequences_are_not_utf8(void **state)
{
	(void)state;
	assert_false(text_is_utf8(BYTES("\xff")));
	assert_false(text_is_utf8(BYTES("caf\xe9")));
	assert_false(text_is_utf8(BYTES("\xe2\x82")));     /* cut off */
	assert_false(text_is_utf8(BYTES("\xc0\xaf")));     /* longer than needed */
	assert_false(text_is_utf8(BYTES("\xed\xa0\x80"))); /* half of a surrogate pair */
	assert_false(text_is_utf8(BYTES("\xf5\x80\x80\x80")));
}

static void value_is_text_blob_or_null(void **state)
{
	(void)state;
	assert_int_equal(text_value(BYTES("a")).type, VALUE_TEXT);
	assert_int_equal(text_value(BYTES("")).type, VALUE_TEXT);
	assert_int_equal(text_value(BYTES("\xff")).type, VALUE_BLOB);
	assert_int_equal(text_value(BYTES("\xff")).number, 1);
	assert_int_equal(text_value(NULL, 0).type, VALUE_NULL);
}

/* ---- arguments ---- */

static void expect_json(const char *args, size_t len, const char *json, bool exact)
{
	bool is_exact;
	char *text = text_json_array(args, len, &is_exact);

	assert_non_null(text);
	assert_string_equal(text, json);
	assert_int_equal(is_exact, exact);
	free(text);
}

static void arguments_become_an_array(void **state)
{
	(void)state;
	expect_json(BYTES("a\0b c\0\0"), "[\"a\",\"b c\",\"\"]", true);
	expect_json(BYTES(""), "[]", true);
	expect_json(BYTES("\0"), "[\"\"]", true);
}

static void arguments_are_escaped(void **state)
{
	(void)state;
	expect_json(BYTES("\"\\\n\x01\0"), "[\"\\\"\\\\\\n\\u0001\"]", true);
}

static void what_is_no_character_is_replaced_byte_by_byte(void **state)
{
	(void)state;
	expect_json(BYTES("a\xff\xc3\xa9\xe2\x82z\0"),
		"[\"a\xef\xbf\xbd\xc3\xa9\xef\xbf\xbd\xef\xbf\xbdz\"]", false);
}

static void only_the_argument_that_is_not_utf8_is_replaced(void **state)
{
	(void)state;
	expect_json(BYTES("\xff\0\xc3\xa9\0"), "[\"\xef\xbf\xbd\",\"\xc3\xa9\"]", false);
}

static void arguments_without_the_last_nul_are_not_exact(void **state)
{
	(void)state;
	expect_json(BYTES("a\0b"), "[\"a\",\"b\"]", false);
}

/* ---- parts ---- */

static void expect_part(const char *text, size_t len, int part, const char *expected)
{
	size_t n;
	const char *bytes = text_part(text, len, part, &n);

	if (!expected) {
		assert_null(bytes);
		assert_int_equal(n, 0);
		return;
	}
	assert_non_null(bytes);
	assert_int_equal(n, strlen(expected));
	assert_memory_equal(bytes, expected, n);
}

#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define N(n) n "\0\0\0"
#else
#define N(n) "\0\0\0" n
#endif
#define UNKNOWN "\xff\xff\xff\xff"

static void parts_are_found_by_their_number(void **state)
{
	(void)state;
	expect_part(BYTES(N("\2") "ab" N("\0") N("\1") "c"), 0, "ab");
	expect_part(BYTES(N("\2") "ab" N("\0") N("\1") "c"), 1, "");
	expect_part(BYTES(N("\2") "ab" N("\0") N("\1") "c"), 2, "c");
}

static void unknown_part_is_null_and_takes_no_room(void **state)
{
	(void)state;
	expect_part(BYTES(UNKNOWN N("\1") "c"), 0, NULL);
	expect_part(BYTES(UNKNOWN N("\1") "c"), 1, "c");
}

static void part_that_is_cut_off_is_null(void **state)
{
	(void)state;
	expect_part(BYTES(""), 0, NULL);
	expect_part(BYTES("\2\0"), 0, NULL);
	expect_part(BYTES(N("\5") "ab"), 0, NULL);
	expect_part(BYTES(N("\5") "ab"), 1, NULL);
	expect_part(BYTES(N("\1") "a"), 1, NULL);
	expect_part(NULL, 0, 0, NULL);
}

/* ---- flags ---- */

static void expect_flags(uint32_t flags, const char *expected)
{
	char text[256];

	text_open_flags(flags, text, sizeof(text));
	assert_string_equal(text, expected);
}

static void access_mode_comes_first(void **state)
{
	(void)state;
	expect_flags(O_RDONLY, "O_RDONLY");
	expect_flags(O_WRONLY, "O_WRONLY");
	expect_flags(O_CREAT | O_RDWR | O_EXCL, "O_RDWR|O_CREAT|O_EXCL");
	expect_flags(3, "O_ACCMODE");
}

static void flag_of_several_bits_has_one_name(void **state)
{
	(void)state;
	expect_flags(O_SYNC, "O_RDONLY|O_SYNC");
	expect_flags(O_DSYNC, "O_RDONLY|O_DSYNC");
	expect_flags(O_TMPFILE | O_RDWR, "O_RDWR|O_TMPFILE");
}

static void open_by_exec_is_recorded(void **state)
{
	(void)state;
	expect_flags(0100040, "O_RDONLY|O_LARGEFILE|FMODE_EXEC");
}

static void bits_without_a_name_are_hexadecimal(void **state)
{
	(void)state;
	expect_flags(0x40000000, "O_RDONLY|0x40000000");
	expect_flags(O_WRONLY | O_APPEND | 0x40000000, "O_WRONLY|O_APPEND|0x40000000");
}

static void all_flags_fit_where_the_record_puts_them(void **state)
{
	char text[256];

	(void)state;
	text_open_flags(UINT32_MAX, text, sizeof(text));
	assert_non_null(strstr(text, "|FMODE_EXEC|0x"));
}

static void small_buffer_is_not_overrun(void **state)
{
	char text[16];

	(void)state;
	memset(text, 'x', sizeof(text));
	text_open_flags(UINT32_MAX, text, 12);
	assert_true(memchr(text, '\0', 12) != NULL);
	assert_memory_equal(text + 12, "xxxx", 4);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(letters_of_all_lengths_are_utf8),
		cmocka_unit_test(broken_sequences_are_not_utf8),
		cmocka_unit_test(value_is_text_blob_or_null),
		cmocka_unit_test(arguments_become_an_array),
		cmocka_unit_test(arguments_are_escaped),
		cmocka_unit_test(what_is_no_character_is_replaced_byte_by_byte),
		cmocka_unit_test(only_the_argument_that_is_not_utf8_is_replaced),
		cmocka_unit_test(arguments_without_the_last_nul_are_not_exact),
		cmocka_unit_test(parts_are_found_by_their_number),
		cmocka_unit_test(unknown_part_is_null_and_takes_no_room),
		cmocka_unit_test(part_that_is_cut_off_is_null),
		cmocka_unit_test(access_mode_comes_first),
		cmocka_unit_test(flag_of_several_bits_has_one_name),
		cmocka_unit_test(open_by_exec_is_recorded),
		cmocka_unit_test(bits_without_a_name_are_hexadecimal),
		cmocka_unit_test(all_flags_fit_where_the_record_puts_them),
		cmocka_unit_test(small_buffer_is_not_overrun),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
