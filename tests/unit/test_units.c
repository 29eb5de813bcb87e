/* SPDX-License-Identifier: MIT */

/* Readable numbers: tests/golden/units.tsv says how each is written; the page of wfreport is held to the same
 * (report/test/format.mjs). */

#include "base/units.h"
#include "dag/output/table_internal.h"
#include "test.h"

struct wanted {
	char kind[32], text[64];
	double value;
};

static void print(const struct wanted *w, char *out, size_t size)
{
	struct cell cell = { .type = CELL_REAL, .real = w->value };

	if (strcmp(w->kind, "bytes") == 0) {
		units_bytes(w->value, out, size);
	} else if (strcmp(w->kind, "rate") == 0) {
		units_rate(w->value, out, size);
	} else if (strcmp(w->kind, "time") == 0) {
		units_time(w->value, out, size);
	} else {
		cell.unit = strcmp(w->kind, "share") == 0 ? UNIT_SHARE : UNIT_SECONDS;
		unit_print(&cell, 0, out, size);
	}
}

static bool next(FILE *file, struct wanted *ret)
{
	return fscanf(file, "%31[^\t]\t%lf\t%63[^\n]\n", ret->kind, &ret->value, ret->text) == 3;
}

static void numbers_are_written_as_the_table_says(void **state)
{
	FILE *file = fopen(UNITS_TSV, "r");
	struct wanted wanted;
	char text[64];
	int looked = 0;

	(void)state;
	assert_non_null(file);
	for (; next(file, &wanted); looked++) {
		print(&wanted, text, sizeof(text));
		assert_string_equal(text, wanted.text);
	}
	assert_true(feof(file));
	fclose(file);
	assert_true(looked > 100);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_are_written_as_the_table_says),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
