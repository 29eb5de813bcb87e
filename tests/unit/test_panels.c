/* SPDX-License-Identifier: MIT */

/* panels.h, page.h: what is shown fits, says what is known, and no name can do anything to a terminal. */

#include "test.h"

#include <errno.h>
#include <locale.h>
#include <math.h>
#include <time.h>
#include <wchar.h>

#include "dag/live/latencies.h"
#include "dag/live/page.h"
#include "dag/live/panels.h"
#include "dag/live/state.h"

#define SECOND 1000000000LL

static const char *const hostile[] = { "plain", "", "\x1b[31m\x1b]0;x\x07", "new\nline\r\t", "\xff\xfe", "\xc2\x85\xe2\x80\xae\xe2\x80\xa8",
	"\xf0\x9f\x98\x80\xf0\x9f\x98\x80\xf0\x9f\x98\x80\xf0\x9f\x98\x80\xf0\x9f\x98\x80", "e\xcc\x81" "a\xcc\x88", "\\x41%s%n", "\x7f\x01",
	"\xe6\xbc\xa2\xe5\xad\x97/\xe6\xbc\xa2\xe5\xad\x97", "a/very/long/path/that/goes/on/and/on/and/on/and/on/and/on/and/on/and/on/and/on/and/on/to/the-end" };
#define N_HOSTILE (int32_t)(sizeof(hostile) / sizeof(hostile[0]))

/* A run with a thing of each kind for each hostile name. */
static struct live_process processes[N_HOSTILE];
static struct live_kind kinds[N_HOSTILE];
static struct live_file files[N_HOSTILE];
static struct live_error errors[N_HOSTILE];
static struct live_wait waits[N_HOSTILE];
static struct live_phase phase_rows[N_HOSTILE];
static struct live_open open_files[N_HOSTILE];
static struct live_operation operations[N_HOSTILE];
static const struct live_one one_process = { .process = 3, .open = open_files, .operations = operations, .n_open = N_HOSTILE, .n_operations = N_HOSTILE,
	.all_open = 1234567 };
static struct live_phases phases = { .phases = phase_rows, .n = N_HOSTILE, .to_come = -1, .end_ns = -1 };

static struct live_state make_state(void)
{
	for (int32_t i = 0; i < N_HOSTILE; i++) {
		const char *name = hostile[i];

		processes[i] = (struct live_process){ .id = i + 1, .pid = 1000 + i, .parent = i, .end_ns = i % 3 ? -1 : SECOND, .exit_code = i % 3 ? -1 : i,
			.exit_signal = -1, .cpu_ns = i * SECOND, .rss_bytes = i ? i * 1000000 : -1, .cpu = i % 2 ? i / 10.0 : NAN,
			.read_rate = i * 1e6, .write_rate = NAN, .program = name, .command = name, .cwd = name };
		kinds[i] = (struct live_kind){ .name = name, .count = i, .total = 10 * i, .bytes = i % 2 ? -1 : i * 1000000000LL, .failed = i % 4,
			.rate = i * 1000.0, .p50_ns = i ? i * 1000.0 : NAN, .p99_ns = i ? i * 1e6 : NAN };
		files[i] = (struct live_file){ .path = i ? name : NULL, .operations = i, .read_rate = 1e9 * i, .write_rate = NAN };
		errors[i] = (struct live_error){ .time_ns = i * SECOND, .pid = i, .program = name, .what = name, .path = i ? name : NULL,
			.error = i % 2 ? EACCES : 0, .exit_code = i, .exit_signal = i % 5 ? -1 : 9 };
		waits[i] = (struct live_wait){ .pid = i, .tid = i, .for_ns = i * SECOND, .kind = (enum live_wait_kind)(i % 4), .program = name, .what = name,
			.path = i ? name : NULL };
		open_files[i] = (struct live_open){ .handle = i, .read = i % 2 ? i * 1000 : -1, .written = i * 1000000000000LL, .at = i % 3 ? -1 : i,
			.path = i ? name : NULL };
		operations[i] = (struct live_operation){ .start_ns = i * SECOND, .latency_ns = i % 4 ? i * 1000 : -1, .bytes = i % 2 ? -1 : i,
			.offset = i % 3 ? -1 : i * 1000000, .result = i % 5 ? i : i % 2 ? INT64_MIN : -i, .name = name, .path = i ? name : NULL };
		phase_rows[i] = (struct live_phase){ .name = name, .jobs = 2 * i, .running = i, .processes = 5 * i };
	}
	return (struct live_state){ .trace = hostile[11], .command = hostile[2], .exit_status = -1, .start_ns = SECOND, .end_ns = 75 * SECOND,
		.interval_s = 2, .has_files = true, .has_single = true, .has_bytes = true, .operations = 12345, .lost = 0, .rate = 617, .read_rate = 4.5e6,
		.write_rate = NAN, .n_running = 8, .n_all = 1234, .processes = processes, .kinds = kinds, .files = files,
		.errors = errors, .n_processes = N_HOSTILE, .n_kinds = N_HOSTILE, .n_files = N_HOSTILE, .n_errors = N_HOSTILE, .waits = waits, .n_waits = N_HOSTILE,
		.has_waits = true };
}

static bool has(const struct page *page, const char *text)
{
	for (int i = 0; i < page->n; i++)
		if (page->lines[i].len && strstr(page->lines[i].text, text))
			return true;
	return false;
}

/* The columns that a terminal gives the line; each character is one that it shows. */
static int columns_shown(const struct page_line *line)
{
	mbstate_t state = { 0 };
	int columns = 0;
	wchar_t code;

	for (size_t at = 0, n; at < line->len; at += n) {
		n = mbrtowc(&code, line->text + at, line->len - at, &state);
		assert_true(n > 0 && n <= 8);
		assert_true(wcwidth(code) >= 0 && code >= ' ' && code != 0x7f && code != 0x202e && code != 0x2028);
		columns += wcwidth(code);
	}
	return columns;
}

static int check_page(const struct page *page)
{
	assert_false(page->failed);
	assert_true(page->n <= page->height);
	for (int i = 0; i < page->n; i++) {
		assert_true(columns_shown(&page->lines[i]) <= page->width);
		assert_int_equal(columns_shown(&page->lines[i]), page->lines[i].columns);
	}
	return page->n;
}

static void each_line_fits_each_terminal(void **unused TEST_UNUSED)
{
	struct live_state state = make_state();
	struct page page = { 0 };
	int looked = 0;

	for (int width = 1; width < 240; width += width < 60 ? 20 : 7)
		for (int height = 1; height < 80; height += 7)
			for (int panel = 0; panel < PANEL_MAX; panel++) {
				struct view view = { .panel = (enum panel)panel, .chosen = 3, .shows_one = panel == 1 && height % 2, .helps = panel == 2 && height % 2,
					.one = width % 2 ? &one_process : NULL };

				page_begin(&page, width, height);
				panels_screen(&page, &state, panel == 3 ? NULL : &phases, &view);
				looked += check_page(&page);
			}
	page_finish(&page);
	print_message("%d lines looked at\n", looked);
	assert_true(looked > 10000);
}

static void one_process_has_its_files_and_operations(void **unused TEST_UNUSED)
{
	static struct live_open open[] = { { .read = 500, .written = 3000, .at = 1500, .path = "/data/one" }, { .read = -1, .written = -1, .at = -1, .path = "/two" } };
	static struct live_operation done[] = { { .start_ns = 9 * SECOND, .latency_ns = 1500, .bytes = 4096, .offset = 8192, .name = "read", .path = "/data/one" },
		{ .start_ns = 8 * SECOND, .latency_ns = -1, .bytes = -1, .offset = -1, .result = -ENOENT, .name = "lookup", .path = "/three" } };
	const struct live_one one = { .process = 3, .open = open, .operations = done, .n_open = 2, .n_operations = 2, .all_open = 250 };
	struct live_state state = make_state();
	struct view view = { .chosen = 3, .shows_one = true };
	struct page page = { 0 };

	page_begin(&page, 80, 24);
	panels_screen(&page, &state, &phases, &view);
	assert_true(has(&page, "being looked up"));
	view.one = &one;
	for (int height = 15; height <= 50; height += 35) {
		page_begin(&page, height == 15 ? 60 : 100, height);
		panels_screen(&page, &state, &phases, &view);
		assert_true(has(&page, "1002, running"));
		assert_true(has(&page, "OPEN FILE   (250)"));
		assert_true(has(&page, "    500 B   3.00 kB   1.50 kB /data/one"));
		assert_true(has(&page, "        -         -         - /two"));
		assert_true(has(&page, height == 15 ? "   0:08 read        1.50 us   4.10 kB /data/one" : "   0:08 read        1.50 us   4.10 kB   8.19 kB /data/one"));
	}
	assert_true(has(&page, "   0:07 lookup            -    ENOENT           /three"));
	state.has_single = false;
	page_begin(&page, 100, 50);
	panels_screen(&page, &state, &phases, &view);
	assert_true(has(&page, "not known") && !has(&page, "ENOENT "));
	view.chosen = 4;
	page_begin(&page, 100, 50);
	panels_screen(&page, &state, &phases, &view);
	assert_true(has(&page, "being looked up"));
	page_finish(&page);
}

static void a_small_terminal_says_so(void **unused TEST_UNUSED)
{
	struct live_state state = make_state();
	struct view view = { 0 };
	struct page page = { 0 };

	page_begin(&page, 59, 24);
	panels_screen(&page, &state, &phases, &view);
	assert_true(has(&page, "too small: 60 x 15 is needed"));
	assert_int_equal(page.n, 1);
	page_begin(&page, 60, 15);
	panels_screen(&page, &state, &phases, &view);
	assert_false(has(&page, "too small"));
	assert_int_equal(page.n, 15);
	page_finish(&page);
}

static void unknown_is_a_dash(void **unused TEST_UNUSED)
{
	struct live_state state = make_state();
	struct view view = { 0 };
	struct page page = { 0 };

	state.has_files = state.has_single = state.has_bytes = false;
	state.rate = state.read_rate = NAN;
	page_begin(&page, 100, 50);
	panels_screen(&page, &state, NULL, &view);
	assert_true(has(&page, "operations -, -/s  read -  written -"));
	assert_true(has(&page, "the trace has no files"));
	assert_true(has(&page, "being worked out"));
	page_finish(&page);
}

static void what_is_slow_is_told_where_it_can_be_seen(void **unused TEST_UNUSED)
{
	struct live_state state = make_state();
	struct view view = { .panel = PANEL_WAITS };
	struct page page = { 0 };

	page_begin(&page, 80, 40);
	panels_screen(&page, &state, &phases, &view);
	assert_true(has(&page, "LASTS"));
	assert_true(has(&page, "0:11"));
	state.n_waits = 0;
	page_begin(&page, 80, 40);
	panels_screen(&page, &state, &phases, &view);
	assert_true(has(&page, "no operation has lasted for a second"));
	state.has_waits = false;
	page_begin(&page, 80, 40);
	panels_screen(&page, &state, &phases, &view);
	assert_true(has(&page, "not known: it is seen on the machine of the run"));
	page_finish(&page);
}

static void the_state_of_the_run_is_told(void **unused TEST_UNUSED)
{
	static const struct {
		enum live_is is;
		int64_t status;
		const char *text;
	} states[] = { { LIVE_RUNS, -1, "running 1:14" }, { LIVE_COMPLETES, -1, "being completed" }, { LIVE_FINISHED, 3, "finished, status 3 1:14" },
		{ LIVE_FINISHED, -1, "finished 1:14" }, { LIVE_ABANDONED, -1, "its recorder was killed" } };
	struct live_state state = make_state();
	struct view view = { 0 };
	struct page page = { 0 };

	for (size_t i = 0; i < sizeof(states) / sizeof(states[0]); i++) {
		state.is = states[i].is;
		state.exit_status = states[i].status;
		page_begin(&page, 80, 24);
		panels_screen(&page, &state, &phases, &view);
		assert_true(has(&page, states[i].text));
	}
	state.is = LIVE_RUNS;
	view.now_ns = 12 * SECOND;
	state.lost = 7;
	page_begin(&page, 80, 24);
	panels_screen(&page, &state, &phases, &view);
	assert_true(has(&page, "seen 12 s ago"));
	assert_true(has(&page, "lost 7"));
	page_finish(&page);
}

static void what_is_to_come_is_told_by_an_earlier_run(void **unused TEST_UNUSED)
{
	struct live_state state = make_state();
	struct view view = { .panel = PANEL_PHASES, .now_epoch_ns = 76 * SECOND };
	struct live_phase rows[] = { { .name = "one", .jobs = 3, .running = 1, .wanted = 10 }, { .name = "two", .wanted = 5 },
		{ .name = "more", .jobs = 9, .wanted = 8 }, { .name = "new", .jobs = 1, .wanted = -1 } };
	struct live_phases like = { .phases = rows, .n = 4, .to_come = 12, .end_ns = 141 * SECOND };
	struct page page = { 0 };

	page_begin(&page, 80, 24);
	panels_screen(&page, &state, &like, &view);
	assert_true(has(&page, "12 to come  ends in 1:05"));
	assert_true(has(&page, "TO COME PHASE"));
	assert_true(has(&page, "7 one") && has(&page, "5 two") && has(&page, "0 more") && has(&page, "- new"));
	view.now_epoch_ns = 150 * SECOND;
	page_begin(&page, 80, 24);
	panels_screen(&page, &state, &like, &view);
	assert_true(has(&page, "ends in 0:00"));
	state.is = LIVE_FINISHED;
	page_begin(&page, 80, 24);
	panels_screen(&page, &state, &like, &view);
	assert_false(has(&page, "ends in"));
	page_begin(&page, 80, 24);
	panels_screen(&page, &state, &phases, &view);
	assert_false(has(&page, "TO COME"));
	page_finish(&page);
}

static void processes_that_run_come_first(void **unused TEST_UNUSED)
{
	struct live_state state = make_state();

	for (int sort = 0; sort < SORT_MAX; sort++)
		for (int reverse = 0; reverse < 2; reverse++) {
			struct view view = { .sort = (enum panel_sort)sort, .reverse = reverse };
			int32_t n, *order = panels_order(&state, &view, &n);
			bool ended = false;

			assert_int_equal(n, N_HOSTILE);
			for (int32_t i = 0; i < n; i++) {
				assert_true(!ended || processes[order[i]].end_ns >= 0);
				ended = processes[order[i]].end_ns >= 0;
			}
			if (sort == SORT_MEMORY)
				assert_int_equal(order[0], reverse ? 1 : N_HOSTILE - 1);
			free(order);
		}
}

static void a_filter_leaves_what_has_the_text(void **unused TEST_UNUSED)
{
	struct live_state state = make_state();
	struct view view = { .filter = "PLAIN" };
	int32_t n, *order = panels_order(&state, &view, &n);

	assert_int_equal(n, 1);
	assert_string_equal(processes[order[0]].command, "plain");
	free(order);
}

static void quantiles_are_right_within_a_sixteenth(void **unused TEST_UNUSED)
{
	int looked = 0;

	for (int64_t ns = 0; ns < INT64_MAX / 2; ns += ns / 7 + 1, looked++) {
		struct latencies latencies = { 0 };
		double found;

		latencies_add(&latencies, ns);
		found = latencies_quantile(&latencies, 0.5);
		assert_true(fabs(found - (double)ns) <= (double)ns / 16 + 1e-9);
	}
	print_message("%d latencies looked at\n", looked);
	assert_true(looked > 100);
	assert_true(isnan(latencies_quantile(&(struct latencies){ 0 }, 0.5)));
}

static void quantiles_are_of_their_part(void **unused TEST_UNUSED)
{
	struct latencies latencies = { 0 };

	for (int i = 1; i <= 100; i++)
		latencies_add(&latencies, i * 1000);
	assert_true(fabs(latencies_quantile(&latencies, 0.5) - 50000) <= 50000.0 / 16);
	assert_true(fabs(latencies_quantile(&latencies, 0.99) - 99000) <= 99000.0 / 16);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_line_fits_each_terminal),
		cmocka_unit_test(one_process_has_its_files_and_operations), cmocka_unit_test(a_small_terminal_says_so),
		cmocka_unit_test(unknown_is_a_dash),
		cmocka_unit_test(what_is_slow_is_told_where_it_can_be_seen),
		cmocka_unit_test(the_state_of_the_run_is_told),
		cmocka_unit_test(what_is_to_come_is_told_by_an_earlier_run),
		cmocka_unit_test(processes_that_run_come_first),
		cmocka_unit_test(a_filter_leaves_what_has_the_text),
		cmocka_unit_test(quantiles_are_right_within_a_sixteenth),
		cmocka_unit_test(quantiles_are_of_their_part),
	};

	if (!setlocale(LC_CTYPE, "C.UTF-8"))
		return 77;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
