/* SPDX-License-Identifier: MIT */

/* What is built where a library is missing, ncurses or libmicrohttpd: it says in one line which one that is, and what to do. */

#include "test.h"

#include <errno.h>
#include <string.h>

#define LIVE_HAS_SCREEN 0
#include "dag/live/live.c"
#include "serve/without.c"

static void check_line(const struct failure *failure, const char *library)
{
	assert_int_equal(failure->code, -ENOSYS);
	assert_non_null(strstr(failure->text, library));
	assert_null(strchr(failure->text, '\n'));
}

static void without_ncurses_there_is_no_screen(void **unused TEST_UNUSED)
{
	struct failure failure = { 0 };

	assert_false(live_has_screen());
	assert_int_equal(live_show(&(struct live_show){ .path = "trace.db" }, &failure), -ENOSYS);
	check_line(&failure, "ncurses");
}

static void without_libmicrohttpd_there_is_a_file(void **unused TEST_UNUSED)
{
	struct failure failure = { 0 };
	struct serve *serve = (struct serve *)&failure;

	assert_int_equal(serve_open("127.0.0.1:9000", &serve, &failure), -ENOSYS);
	assert_null(serve);
	check_line(&failure, "libmicrohttpd");
	assert_non_null(strstr(failure.text, "'127.0.0.1:9000'"));
	assert_non_null(strstr(failure.text, "--metrics FILE"));
	assert_int_equal(serve_start(NULL, NULL, &failure), -ENOSYS);
	check_line(&failure, "libmicrohttpd");
	assert_null(serve_chosen(NULL));
	serve_close(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(without_ncurses_there_is_no_screen), cmocka_unit_test(without_libmicrohttpd_there_is_a_file) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
