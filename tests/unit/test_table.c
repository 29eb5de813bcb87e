/* SPDX-License-Identifier: MIT */

/* table.h: what is printed is what was put in, in each format. */

#include "test.h"

#include <errno.h>
#include <math.h>

#include "dag/output/table.h"

#define SECOND 1000000000LL

static struct table *two_rows(void)
{
	struct table *t = table_create();

	assert_non_null(t);
	table_columns(t, "name size_bytes part_share start_ns");
	table_string(t, "a,\"b\"");
	table_int(t, 1500000);
	table_real(t, 0.25);
	table_int(t, 3 * SECOND);
	table_text(t, "tab\there\nand \xff", 14);
	table_row(t);
	return t;
}

static const char *print(struct table *t, enum table_format format, bool raw)
{
	static char text[65536];
	FILE *out = fmemopen(text, sizeof(text), "w");
	const struct table_style style = { .format = format, .raw = raw, .begin_ns = 2 * SECOND,
		.program = "test", .name = "x", .complete = true };

	assert_non_null(out);
	memset(text, 0, sizeof(text));
	assert_int_equal(table_print(t, &style, out), 0);
	fclose(out);
	return text;
}

/* As a terminal of that width shows it. */
static const char *print_narrow(struct table *t, int width)
{
	static char text[4096];
	FILE *out = fmemopen(text, sizeof(text), "w");
	const struct table_style style = { .format = TABLE_TEXT, .width = width, .program = "test", .name = "x", .complete = true };

	assert_non_null(out);
	memset(text, 0, sizeof(text));
	assert_int_equal(table_print(t, &style, out), 0);
	fclose(out);
	return text;
}

static void expect(struct table *t, enum table_format format, bool raw, const char *wanted)
{
	assert_string_equal(print(t, format, raw), wanted);
	table_destroy(t);
}

static void csv_is_rfc_4180(void **state)
{
	(void)state;
	expect(two_rows(), TABLE_CSV, false, "name,size_bytes,part_share,start_ns\r\n"
		"\"a,\"\"b\"\"\",1500000,0.25,3000000000\r\n\"tab\there\nand \xff\",,,\r\n");
}

static void tsv_has_one_line_a_row(void **state)
{
	(void)state;
	expect(two_rows(), TABLE_TSV, false, "name\tsize_bytes\tpart_share\tstart_ns\n"
		"a,\"b\"\t1500000\t0.25\t3000000000\ntab\\there\\nand \xff\t\t\t\n");
}

static void json_is_utf8_and_null(void **state)
{
	struct table *t = two_rows();

	(void)state;
	table_note(t, "a \"note\"");
	expect(t, TABLE_JSON, false, "{\"schema\":\"test/1\",\"table\":\"x\",\"complete\":true,"
		"\"begin_ns\":2000000000,\n\"rows\":[\n"
		"{\"name\":\"a,\\\"b\\\"\",\"size_bytes\":1500000,\"part_share\":0.25,"
		"\"start_ns\":3000000000},\n"
		"{\"name\":\"tab\\there\\nand \xef\xbf\xbd\",\"size_bytes\":null,\"part_share\":null,"
		"\"start_ns\":null}],\n\"notes\":[\n\"a \\\"note\\\"\"]}\n");
}

static void text_has_units_and_points_since_the_begin(void **state)
{
	const char *text;
	struct table *t = two_rows();

	(void)state;
	text = print(t, TABLE_TEXT, false);
	assert_non_null(strstr(text, "name"));
	assert_non_null(strstr(text, "part %"));
	assert_non_null(strstr(text, "1.50 MB"));
	assert_non_null(strstr(text, "25.0"));
	assert_non_null(strstr(text, "1.000000 s"));
	assert_non_null(strstr(text, " -"));
	assert_null(strstr(text, "size_bytes"));
	table_destroy(t);
}

static void raw_tables_have_plain_numbers(void **state)
{
	const char *text;
	struct table *t = two_rows();

	(void)state;
	text = print(t, TABLE_TEXT, true);
	assert_non_null(strstr(text, "size_bytes"));
	assert_non_null(strstr(text, "1500000"));
	assert_non_null(strstr(text, "3000000000"));
	table_destroy(t);
}

static void rounding_goes_to_the_next_unit(void **state)
{
	struct table *t = table_create();
	const char *text;

	(void)state;
	table_columns(t, "a_bytes b_ns");
	table_int(t, 999), table_int(t, 1);
	table_int(t, 999999), table_int(t, 999999999);
	table_int(t, 1000), table_int(t, 60 * SECOND);
	text = print(t, TABLE_TEXT, false);
	assert_non_null(strstr(text, "999 B"));
	assert_non_null(strstr(text, "1.00 MB"));
	assert_non_null(strstr(text, "1.00 kB"));
	assert_non_null(strstr(text, "1 ns"));
	assert_non_null(strstr(text, "1.00 s"));
	assert_non_null(strstr(text, "60.0 s"));
	assert_null(strstr(text, "1000"));
	table_destroy(t);
}

static struct table *numbers(void)
{
	struct table *t = table_create();

	table_columns(t, "name n");
	table_string(t, "b"), table_int(t, 2);
	table_string(t, "a"), table_null(t);
	table_string(t, "c"), table_real(t, 2.5);
	table_string(t, "d"), table_int(t, 2);
	return t;
}

static void numbers_are_sorted_from_the_largest_on(void **state)
{
	struct table *t = numbers();

	(void)state;
	assert_int_equal(table_sort(t, "n"), 0);
	expect(t, TABLE_CSV, false, "name,n\r\nc,2.5\r\nb,2\r\nd,2\r\na,\r\n");
}

static void minus_sorts_the_other_way_round_and_unknown_stays_last(void **state)
{
	struct table *t = numbers();

	(void)state;
	assert_int_equal(table_sort(t, "-n"), 0);
	expect(t, TABLE_CSV, false, "name,n\r\nb,2\r\nd,2\r\nc,2.5\r\na,\r\n");
}

static void texts_are_sorted_from_a_on(void **state)
{
	struct table *t = numbers();

	(void)state;
	assert_int_equal(table_sort(t, "name"), 0);
	table_top(t, 2);
	expect(t, TABLE_CSV, false, "name,n\r\na,\r\nb,2\r\n");
}

static void column_that_is_not_there_is_an_error(void **state)
{
	struct table *t = numbers();

	(void)state;
	assert_int_equal(table_sort(t, "nope"), -EINVAL);
	table_destroy(t);
}

static void total_stays_last(void **state)
{
	struct table *t = numbers();

	(void)state;
	table_string(t, "Total"), table_int(t, 100);
	table_total(t);
	assert_int_equal(table_sort(t, "n"), 0);
	table_top(t, 1);
	expect(t, TABLE_CSV, false, "name,n\r\nc,2.5\r\nTotal,100\r\n");
}

static void stream_prints_the_same(void **state)
{
	static char text[4096];
	FILE *out = fmemopen(text, sizeof(text), "w");
	const struct table_style style = { .format = TABLE_CSV };
	struct table *t = table_create();

	(void)state;
	table_columns(t, "name n");
	table_stream(t, &style, out);
	for (int i = 0; i < 3; i++) {
		table_string(t, "row");
		table_int(t, i);
	}
	assert_int_equal(table_print(t, &style, out), 0);
	fclose(out);
	assert_string_equal(text, "name,n\r\nrow,0\r\nrow,1\r\nrow,2\r\n");
	table_destroy(t);
}

#define MANY 25000
#define LONG_AT 17

static char *print_many(struct table *t)
{
	const struct table_style style = { .format = TABLE_TEXT };
	char *text = NULL, path[400];
	size_t len;
	FILE *out = open_memstream(&text, &len);

	table_columns(t, "path n kind");
	table_stream(t, &style, out);
	memset(path, 'x', sizeof(path) - 1);
	path[sizeof(path) - 1] = '\0';
	for (int i = 0; i < MANY; i++) {
		table_string(t, i == LONG_AT ? path : i % 2 ? "/a/path" : "\033[1m");
		table_int(t, i);
		table_string(t, i < MANY / 2 ? NULL : "kind");
	}
	table_note(t, "a note");
	assert_int_equal(table_print(t, &style, out), 0);
	fclose(out);
	return text;
}

static void long_table_has_its_rows_in_columns_that_no_single_text_widens(void **state)
{
	struct table *t = table_create();
	char *text = print_many(t), *save = NULL, *line = strtok_r(text, "\n", &save);
	int row = 0, wide = 0;

	(void)state;
	assert_string_equal(line, "path        n  kind");
	for (line = strtok_r(NULL, "\n", &save); line && row < MANY; line = strtok_r(NULL, "\n", &save), row++) {
		char path[512], kind[16];
		int n;

		assert_int_equal(sscanf(line, "%511s %d %15s", path, &n, kind), 3);
		assert_int_equal(n, row);
		assert_string_equal(kind, row < MANY / 2 ? "-" : "kind");
		assert_string_equal(row == LONG_AT ? "" : path, row == LONG_AT ? "" : row % 2 ? "/a/path" : "\\x1b[1m");
		assert_true(strlen(line) < 30 || (row == LONG_AT && strlen(path) == 399));
		wide += strlen(line) >= 30;
	}
	assert_int_equal(row, MANY);
	assert_int_equal(wide, 1);
	assert_string_equal(line, "a note");
	free(text);
	table_destroy(t);
}

static void nan_is_not_known(void **state)
{
	struct table *t = table_create();

	(void)state;
	table_columns(t, "x");
	table_real(t, NAN);
	expect(t, TABLE_CSV, false, "x\r\n\r\n");
}

static struct table *four_columns(void)
{
	struct table *t = table_create();

	assert_non_null(t);
	table_columns(t, "id size_bytes file exit_signal");
	table_int(t, 7);
	table_int(t, 2000);
	table_string(t, "/a/long/path/of/a/file/that/is/here.txt");
	table_int(t, 9);
	table_row(t);
	return t;
}

static void narrow_tables_cut_texts_in_their_middle(void **state)
{
	struct table *t = four_columns();

	(void)state;
	assert_string_equal(print_narrow(t, 50), "id     size  file                      exit signal\n"
		" 7  2.00 kB  /a/long/pa...is/here.txt      SIGKILL\n");
	table_destroy(t);
}

static void narrow_tables_show_what_matters_and_name_the_rest(void **state)
{
	struct table *t = four_columns();

	(void)state;
	table_narrow(t, "file exit_signal");
	assert_string_equal(print_narrow(t, 40), "id  file                     exit signal\n"
		" 7  /a/long/pa...s/here.txt      SIGKILL\n"
		"\nNot shown, for want of width (--wide):\nsize\n");
	assert_string_equal(print_narrow(t, 30), "id  file\n"
		" 7  /a/long/pat.../is/here.txt\n"
		"\nNot shown, for want of width\n(--wide): size, exit signal\n");
	table_destroy(t);
}

static void chosen_columns_are_shown_whatever_matters(void **state)
{
	struct table *t = four_columns();
	const char *unknown;
	int len;

	(void)state;
	table_narrow(t, "file");
	assert_int_equal(table_select(t, "size,exit_signal", &unknown, &len), 0);
	assert_string_equal(print_narrow(t, 30), "   size  exit signal\n2.00 kB      SIGKILL\n");
	table_destroy(t);
}

static void narrow_bars_have_another_scale(void **state)
{
	struct table *t = table_create();

	(void)state;
	table_columns(t, "value bar");
	table_int(t, 1);
	table_string(t, "########################################");
	table_int(t, 2);
	table_string(t, "##########");
	assert_string_equal(print_narrow(t, 27), "value  bar\n    1  ####################\n    2  #####\n");
	table_destroy(t);
}

static void notes_break_at_words(void **state)
{
	struct table *t = two_rows();

	(void)state;
	table_note(t, "%s", "12345 78901234567890.  next");
	assert_non_null(strstr(print_narrow(t, 21), "\n12345 78901234567890.\nnext\n"));
	table_destroy(t);
}

static void empty_tables_leave_no_column_out(void **state)
{
	struct table *t = table_create();

	(void)state;
	table_columns(t, "a_long_name another_long_name");
	assert_string_equal(print_narrow(t, 15), "(nothing)\n");
	table_destroy(t);
}

static void numbers_that_have_names_are_shown_by_them(void **state)
{
	struct table *t = table_create();

	(void)state;
	table_columns(t, "errno result complete processes_without_cpu files_ro");
	table_int(t, 111);
	table_int(t, -2);
	table_int(t, 1);
	table_int(t, 1);
	table_int(t, 3);
	table_int(t, 4095);
	table_int(t, 4096);
	table_int(t, 0);
	table_int(t, 2);
	table_row(t);
	expect(t, TABLE_TEXT, false, "       errno  result  complete  CPU time unknown for  only read\n"
		"ECONNREFUSED  ENOENT       yes             1 process          3\n"
		"        4095    4096        no           2 processes          -\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(csv_is_rfc_4180),
		cmocka_unit_test(tsv_has_one_line_a_row),
		cmocka_unit_test(json_is_utf8_and_null),
		cmocka_unit_test(text_has_units_and_points_since_the_begin),
		cmocka_unit_test(raw_tables_have_plain_numbers),
		cmocka_unit_test(rounding_goes_to_the_next_unit),
		cmocka_unit_test(numbers_are_sorted_from_the_largest_on),
		cmocka_unit_test(minus_sorts_the_other_way_round_and_unknown_stays_last),
		cmocka_unit_test(texts_are_sorted_from_a_on),
		cmocka_unit_test(column_that_is_not_there_is_an_error),
		cmocka_unit_test(total_stays_last),
		cmocka_unit_test(stream_prints_the_same),
		cmocka_unit_test(long_table_has_its_rows_in_columns_that_no_single_text_widens),
		cmocka_unit_test(nan_is_not_known),
		cmocka_unit_test(narrow_tables_cut_texts_in_their_middle),
		cmocka_unit_test(narrow_tables_show_what_matters_and_name_the_rest),
		cmocka_unit_test(chosen_columns_are_shown_whatever_matters),
		cmocka_unit_test(narrow_bars_have_another_scale),
		cmocka_unit_test(notes_break_at_words),
		cmocka_unit_test(empty_tables_leave_no_column_out),
		cmocka_unit_test(numbers_that_have_names_are_shown_by_them),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
