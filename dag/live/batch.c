/* SPDX-License-Identifier: MIT */
#include "dag/live/batch.h"

#include <stdio.h>
#include <time.h>

#include "base/cli.h"
#include "base/clock.h"
#include "base/err.h"
#include "dag/live/page.h"
#include "dag/live/panels.h"
#include "dag/live/watcher.h"
#include "dag/live/state.h"

#define WIDTH 400
#define HEIGHT 400
#define ROWS 11 /* of a panel, with the headings */

static void print_time(void)
{
	time_t now = time(NULL);
	struct tm tm;
	char text[40];

	if (localtime_r(&now, &tm) && strftime(text, sizeof(text), "%F %T", &tm))
		printf("==== %s\n", text);
}

static void print_page(const struct page *page)
{
	for (int i = 0; i < page->n; i++) {
		size_t len = page->lines[i].len;

		while (len && page->lines[i].text[len - 1] == ' ')
			len--;
		printf("%.*s\n", (int)len, len ? page->lines[i].text : "");
	}
}

static int print_state(struct page *page, const struct live_state *state, const struct live_phases *phases, bool is_first)
{
	struct view view = { .now_ns = clock_now_ns(), .now_epoch_ns = clock_read_ns(CLOCK_REALTIME) };

	page_begin(page, WIDTH, HEIGHT);
	panels_batch(page, state, phases, &view, ROWS);
	if (page->failed)
		return err_status(EXIT_OWN, "out of memory");
	if (!is_first)
		putchar('\n');
	print_time();
	print_page(page);
	return fflush(stdout) == 0 ? 0 : cli_printed();
}

static bool is_last(const struct live_state *state)
{
	return state->is == LIVE_FINISHED || state->is == LIVE_ABANDONED;
}

static void take_phases(struct watcher *watcher, bool waits, struct live_phases **phases)
{
	struct live_phases *taken = waits ? watcher_wait_phases(watcher) : watcher_take_phases(watcher);

	if (!taken)
		return;
	live_phases_free(*phases);
	*phases = taken;
}

static int fail(struct watcher *watcher)
{
	char text[512];

	return watcher_failure(watcher, text, sizeof(text)) ? err_status(EXIT_OWN, "%s", text) : 0;
}

int batch_run(struct watcher *watcher, int count)
{
	struct live_phases *phases = NULL;
	struct page page = { 0 };
	struct live_state *state;
	bool goes_on = true;
	int status = 0;

	for (int i = 0; goes_on && status == 0 && (count == 0 || i < count); i++) {
		state = watcher_wait(watcher);
		if (!state) {
			status = fail(watcher);
			break;
		}
		goes_on = !is_last(state);
		take_phases(watcher, !goes_on, &phases);
		status = print_state(&page, state, phases, i == 0);
		live_state_free(state);
	}
	live_phases_free(phases);
	page_finish(&page);
	return status ? status : cli_printed();
}
