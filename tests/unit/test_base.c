/* SPDX-License-Identifier: MIT */

/* base/: locals that clean themselves, the one clock, the one line of a program's complaint. */

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <sys/mman.h>

#include "base/cleanup.h"
#include "base/cli.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/helper.h"
#include "base/idle.h"
#include "base/output.h"
#include "base/priority.h"
#include "base/trace_file.h"
#include "base/utf8.h"
#include "test.h"

/* ---- cleanup ---- */

static void descriptor_is_closed_at_the_end_of_its_block(void **state)
{
	int number;

	(void)state;
	{
		cleanup_fd int fd = open("/dev/null", O_RDONLY);

		number = fd;
		assert_true(fcntl(number, F_GETFD) >= 0);
	}
	assert_int_equal(fcntl(number, F_GETFD), -1);
}

static void closing_keeps_errno(void **state)
{
	(void)state;
	{
		cleanup_fd int fd = 1 << 20; /* close() will say EBADF */

		(void)fd;
		errno = ENOSPC;
	}
	assert_int_equal(errno, ENOSPC);
}

static void stolen_descriptor_stays_open(void **state)
{
	int taken;

	(void)state;
	{
		cleanup_fd int fd = open("/dev/null", O_RDONLY);

		taken = steal_fd(&fd);
		assert_int_equal(fd, -1);
	}
	assert_true(fcntl(taken, F_GETFD) >= 0);
	close(taken);
}

static void stolen_pointer_is_not_freed(void **state)
{
	char *kept;

	(void)state;
	{
		cleanup_free char *text = strdup("text");

		kept = steal_ptr(&text);
		assert_null(text);
	}
	assert_string_equal(kept, "text");
	free(kept);
}

static void nothing_to_clean_is_fine(void **state)
{
	cleanup_free char *text = NULL;
	cleanup_fd int fd = -1;
	cleanup_file FILE *file = NULL;

	(void)state;
	(void)text;
	(void)fd;
	(void)file;
}

/* ---- clock ---- */

static void clock_does_not_go_back(void **state)
{
	int64_t last = clock_now_ns();

	(void)state;
	for (int i = 0; i < 1000; i++) {
		int64_t now = clock_now_ns();

		assert_true(now >= last);
		last = now;
	}
}

static void offset_leads_from_the_clock_to_the_epoch(void **state)
{
	int64_t difference = clock_now_ns() + clock_epoch_offset_ns() -
		clock_read_ns(CLOCK_REALTIME);

	(void)state;
	assert_in_range(difference + 1000000000, 0, 2000000000);
}

static void suspended_time_is_not_negative(void **state)
{
	(void)state;
	assert_true(clock_suspended_ns() > -1000000000);
}

/* ---- err ---- */

static const char *printed(int (*say)(void))
{
	static char text[256];
	int file = memfd_create("err", 0), saved = dup(2);
	ssize_t n;

	dup2(file, 2);
	assert_int_equal(say(), 7);
	dup2(saved, 2);
	n = pread(file, text, sizeof(text) - 1, 0);
	text[n] = '\0';
	close(file);
	close(saved);
	return text;
}

static int say_status(void)
{
	return err_status(7, "cannot open '%s': %s", "x", "why");
}

static int say_print(void)
{
	err_print("%d of %d", 1, 2);
	return 7;
}

static void complaint_is_a_line_with_the_program_in_front(void **state)
{
	(void)state;
	assert_string_equal(printed(say_status), "test_base: cannot open 'x': why\n");
	assert_string_equal(printed(say_print), "test_base: 1 of 2\n");
}

static void words_are_quoted_as_a_shell_needs_them(void **state)
{
	static char *const argv[] = { (char *)"cc", (char *)"-DX=1", (char *)"", (char *)"a b",
		(char *)"it's", (char *)"$HOME", NULL };
	static char *const none[] = { NULL };
	cleanup_free char *text = cli_join(argv), *nothing = cli_join(none);

	(void)state;
	assert_string_equal(text, "cc -DX=1 '' 'a b' 'it'\\''s' '$HOME'");
	assert_string_equal(nothing, "");
}

static void expect_program(const char *word, const char *wanted)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	cli_put_program(word, out);
	fclose(out);
	assert_string_equal(text, wanted);
	free(text);
}

static void programs_are_quoted_where_the_word_means_something_else(void **state)
{
	(void)state;
	expect_program("cc", "cc");
	expect_program("a=b", "'a=b'");
	expect_program("done", "'done'");
	expect_program("-x", "'-x'");
	expect_program("@x", "'@x'");
	expect_program("it's", "'it'\\''s'");
	expect_program("", "''");
}

static void text_is_utf8_without_control_characters(void **state)
{
	(void)state;
	assert_true(utf8_is_text("", ""));
	assert_true(utf8_is_text("caf\xc3\xa9", ""));
	assert_false(utf8_is_text("caf\xe9", UTF8_CONTROLS));
	assert_false(utf8_is_text("a\tb", "\n"));
	assert_true(utf8_is_text("a\tb", "\t"));
	assert_false(utf8_is_text("\x7f", "\t"));
	assert_true(utf8_is_text(UTF8_CONTROLS, UTF8_CONTROLS));
	assert_int_equal(strlen(UTF8_CONTROLS), 32);
}

static void words_end_with_null(void **state)
{
	struct words words = { 0 };

	(void)state;
	for (int i = 0; i < 100; i++)
		assert_int_equal(words_add(&words, "x"), 0);
	assert_int_equal(words.n, 100);
	assert_null(words.word[100]);
	words_free(&words);
	assert_null(words.word);
}

/* ---- outputs ---- */

static int count_open(void)
{
	int n = 0;

	for (int fd = 0; fd < 256; fd++)
		n += fcntl(fd, F_GETFD) >= 0;
	return n;
}

static void stream_that_cannot_be_made_leaves_nothing_open(void **state)
{
	int fd = open("/dev/null", O_RDONLY), before = count_open();

	(void)state;
	assert_null(output_stream(fd));
	assert_int_equal(errno, EINVAL);
	assert_int_equal(count_open(), before);
	close(fd);
}

static void stream_that_is_closed_leaves_its_descriptor_open(void **state)
{
	int fd = open("/dev/null", O_WRONLY), before = count_open();
	FILE *out = output_stream(fd);

	(void)state;
	assert_non_null(out);
	assert_int_equal(count_open(), before + 1);
	assert_int_equal(fclose(out), 0);
	assert_true(fcntl(fd, F_GETFD) >= 0);
	assert_int_equal(count_open(), before);
	close(fd);
}

static void put_header(const char *name, const char *magic, uint32_t id)
{
	unsigned char header[100] = { [68] = id >> 24, [69] = id >> 16 & 255, [70] = id >> 8 & 255, [71] = id & 255 };
	int fd = open(name, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	memcpy(header, magic, 16);
	assert_int_equal(write(fd, header, sizeof(header)), sizeof(header));
	close(fd);
}

/* How an attempt to write a file of that content ends. */
static int try_output(const char *magic, uint32_t id)
{
	char name[] = "/tmp/ftrac-output-XXXXXX";
	struct output output;
	int r;

	close(mkstemp(name));
	put_header(name, magic, id);
	r = output_open(name, &output);
	if (r == 0)
		r = output_close(&output, -ECANCELED);
	unlink(name);
	return r;
}

static void trace_is_never_replaced(void **state)
{
	(void)state;
	assert_int_equal(try_output("SQLite format 3", TRACE_FILE_ID), OUTPUT_IS_TRACE);
	assert_int_equal(try_output("SQLite format 3", 1), -ECANCELED);
	assert_int_equal(try_output("SQLite format 4", TRACE_FILE_ID), -ECANCELED);
}

/* ---- priority ---- */

static void *wait_and_hurry(void *arg)
{
	struct priority *priority = arg;

	priority_init(priority);
	priority_wait(priority, true);
	assert_int_equal(sched_getscheduler(0), atomic_load(&priority->may_wait) ? SCHED_IDLE : SCHED_OTHER);
	priority_wait(priority, false);
	assert_int_equal(sched_getscheduler(0), SCHED_OTHER);
	priority_wait(priority, true);
	priority_hurry(priority, pthread_self());
	assert_int_equal(sched_getscheduler(0), SCHED_OTHER);
	priority_wait(priority, true);
	assert_int_equal(sched_getscheduler(0), SCHED_OTHER);
	return NULL;
}

static void thread_that_was_told_to_hurry_does_not_wait_again(void **state)
{
	struct priority priority = { 0 };
	pthread_t thread;
	(void)state;

	assert_int_equal(pthread_create(&thread, NULL, wait_and_hurry, &priority), 0);
	pthread_join(thread, NULL);
}

/* ---- idle processors ---- */

#define SECOND INT64_C(1000000000)

/* As if we had asked a second ago, and so much time had been spare since then. */
static bool was_free(int64_t spare_ns)
{
	struct idle idle;

	idle_init(&idle, true);
	idle.since_ns -= SECOND;
	idle.spare_ns -= spare_ns;
	return idle_is_free(&idle);
}

static void processor_is_free_if_half_of_one_was_spare(void **state)
{
	(void)state;
	assert_true(was_free(1000 * SECOND));
	assert_false(was_free(-1000 * SECOND));
}

static void answer_about_processors_stays_for_a_moment(void **state)
{
	struct idle idle;

	(void)state;
	idle_init(&idle, false);
	idle.since_ns += 1000 * SECOND;
	assert_false(idle_is_free(&idle));
	idle.is_free = true;
	assert_true(idle_is_free(&idle));
}

/* ---- the environment of helpers ---- */

/* As libfuse does it while the variables are hidden: setenv() may then move the array that an earlier setenv() has made. */
static void hidden_environment_comes_back(void **state)
{
	char name[32], *used[64], **all;

	(void)state;
	setenv("OF_THE_USER", "kept", 1);
	all = helper_hide_environment();
	assert_non_null(all);
	assert_null(getenv("OF_THE_USER"));
	for (int i = 0; i < 100; i++) {
		snprintf(name, sizeof(name), "OF_A_LIBRARY_%d", i);
		setenv(name, "1", 1);
	}
	/* What has been freed is used again. */
	for (int i = 0; i < 64; i++)
		assert_non_null(used[i] = memset(malloc((size_t)16 << (i % 10)), 0xff, (size_t)16 << (i % 10)));
	helper_show_environment(all);
	assert_string_equal(getenv("OF_THE_USER"), "kept");
	assert_null(getenv("OF_A_LIBRARY_0"));
	for (int i = 0; i < 64; i++)
		free(used[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(descriptor_is_closed_at_the_end_of_its_block),
		cmocka_unit_test(closing_keeps_errno),
		cmocka_unit_test(stolen_descriptor_stays_open),
		cmocka_unit_test(stolen_pointer_is_not_freed),
		cmocka_unit_test(nothing_to_clean_is_fine),
		cmocka_unit_test(clock_does_not_go_back),
		cmocka_unit_test(offset_leads_from_the_clock_to_the_epoch),
		cmocka_unit_test(suspended_time_is_not_negative),
		cmocka_unit_test(complaint_is_a_line_with_the_program_in_front),
		cmocka_unit_test(words_are_quoted_as_a_shell_needs_them),
		cmocka_unit_test(programs_are_quoted_where_the_word_means_something_else),
		cmocka_unit_test(text_is_utf8_without_control_characters),
		cmocka_unit_test(words_end_with_null),
		cmocka_unit_test(stream_that_cannot_be_made_leaves_nothing_open),
		cmocka_unit_test(stream_that_is_closed_leaves_its_descriptor_open),
		cmocka_unit_test(trace_is_never_replaced),
		cmocka_unit_test(thread_that_was_told_to_hurry_does_not_wait_again),
		cmocka_unit_test(processor_is_free_if_half_of_one_was_spare),
		cmocka_unit_test(answer_about_processors_stays_for_a_moment),
		cmocka_unit_test(hidden_environment_comes_back),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
