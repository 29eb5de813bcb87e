/* SPDX-License-Identifier: MIT */
#include "dag/live/panels.h"

#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/units.h"
#include "dag/live/panels_internal.h"

/* ---- figures ---- */

const char *figure_count(double number, figure ret_text)
{
	static const char units[] = " kMGT";
	int unit = 0;

	if (isnan(number) || number < 0)
		return "-";
	for (; number >= 9999.5 && unit < 4; unit++)
		number /= 1000;
	if (unit)
		snprintf(ret_text, FIGURE, "%.1f%c", number, units[unit]);
	else
		snprintf(ret_text, FIGURE, number == floor(number) || number >= 99.95 ? "%.0f" : "%.1f", number);
	return ret_text;
}

static const char *with_unit(double number, void (*print)(double, char *, size_t), figure ret_text)
{
	if (isnan(number) || number < 0)
		return "-";
	print(number, ret_text, FIGURE);
	return ret_text;
}

const char *figure_bytes(double bytes, figure ret_text)
{
	return with_unit(round(bytes), units_bytes, ret_text);
}

const char *figure_rate(double bytes_per_s, figure ret_text)
{
	return with_unit(round(bytes_per_s), units_rate, ret_text);
}

const char *figure_time(double ns, figure ret_text)
{
	return with_unit(ns, units_time, ret_text);
}

const char *figure_clock(int64_t ns, figure ret_text)
{
	long long s = ns / 1000000000;

	if (ns < 0)
		return "-";
	if (s >= 3600)
		snprintf(ret_text, FIGURE, "%lld:%02lld:%02lld", s / 3600, s / 60 % 60, s % 60);
	else
		snprintf(ret_text, FIGURE, "%lld:%02lld", s / 60, s % 60);
	return ret_text;
}

const char *figure_end(int64_t exit_code, int64_t exit_signal, figure ret_text)
{
	const char *name = exit_signal > 0 && exit_signal < 65 ? sigabbrev_np((int)exit_signal) : NULL;

	if (name)
		snprintf(ret_text, FIGURE, "SIG%s", name);
	else if (exit_signal > 0)
		snprintf(ret_text, FIGURE, "signal %lld", (long long)exit_signal);
	else if (exit_code >= 0)
		snprintf(ret_text, FIGURE, "%lld", (long long)exit_code);
	else
		return "-";
	return ret_text;
}

bool scene_shows(const struct scene *scene, const char *one, const char *other)
{
	const char *filter = scene->view->filter;

	return !filter || !*filter || (one && strcasestr(one, filter)) || (other && strcasestr(other, filter));
}

/* ---- the head ---- */

static const char *what_it_does(const struct live_state *state, char ret_text[80])
{
	figure end;

	switch (state->is) {
	case LIVE_RUNS:
		return "running";
	case LIVE_COMPLETES:
		return "ended, the trace is being completed";
	case LIVE_ABANDONED:
		return "its recorder was killed";
	default:
		if (state->exit_status < 0)
			return "finished";
		snprintf(ret_text, 80, "finished, status %s", figure_end(state->exit_status, -1, end));
		return ret_text;
	}
}

static enum page_attribute look_of(const struct live_state *state)
{
	return state->is == LIVE_ABANDONED || (state->is == LIVE_FINISHED && state->exit_status > 0) ? PAGE_BAD : PAGE_GOOD;
}

/* The clock of the machine that recorded may differ: then the time stands still until the end. */
static int64_t elapsed_ns(const struct live_state *state, const struct view *view)
{
	int64_t now_ns = state->is == LIVE_RUNS && view->now_epoch_ns > state->end_ns && !view->paused ? view->now_epoch_ns : state->end_ns;

	return now_ns > state->start_ns ? now_ns - state->start_ns : 0;
}

#define OLD_NS INT64_C(5000000000)

static void head_title(struct page *page, const struct live_state *state, const struct view *view)
{
	char does[80], text[160], age[40] = "";
	int64_t age_ns = view->now_ns - state->seen_ns;
	figure clock;

	if (age_ns > OLD_NS && (state->is == LIVE_RUNS || state->is == LIVE_COMPLETES))
		snprintf(age, sizeof(age), ", seen %lld s ago", (long long)(age_ns / 1000000000));
	snprintf(text, sizeof(text), "%s%s %s%s", view->paused ? "PAUSED: " : "", what_it_does(state, does),
		figure_clock(elapsed_ns(state, view), clock), age);
	page_line(page);
	page_put(page, PAGE_HEAD, "ftrac top  ");
	page_end(page, PAGE_PLAIN, page->width - 12 - page_columns_of(page, text), state->trace);
	page_put(page, PAGE_PLAIN, " ");
	page_put(page, look_of(state), text);
}

static void head_processes(struct page *page, const struct live_state *state, const struct live_phases *phases, const struct view *view)
{
	int64_t jobs = 0, running = 0, left_ns = phases ? phases->end_ns - view->now_epoch_ns : 0;
	figure one, other, left;

	for (int32_t i = 0; phases && i < phases->n; i++) {
		jobs += phases->phases[i].jobs;
		running += phases->phases[i].running;
	}
	page_line(page);
	page_printf(page, PAGE_PLAIN, "processes %s running of %s", figure_count((double)state->n_running, one),
		figure_count((double)state->n_all, other));
	if (phases)
		page_printf(page, PAGE_PLAIN, "  jobs %s running of %s", figure_count((double)running, one), figure_count((double)jobs, other));
	if (!phases || state->is != LIVE_RUNS)
		return;
	if (phases->to_come >= 0)
		page_printf(page, PAGE_PLAIN, "  %s to come", figure_count((double)phases->to_come, one));
	if (phases->end_ns >= 0)
		page_printf(page, PAGE_PLAIN, "  ends in %s", figure_clock(left_ns > 0 ? left_ns : 0, left));
}

static void head_operations(struct page *page, const struct live_state *state)
{
	bool is_wide = page->width >= 80;
	figure all, rate, read, written, lost;

	page_line(page);
	page_printf(page, PAGE_PLAIN, is_wide ? "operations %s, %s/s  read %s  written %s" : "ops %s, %s/s  r %s  w %s",
		state->has_files ? figure_count((double)state->operations, all) : "-", figure_count(state->rate, rate),
		figure_rate(state->read_rate, read), figure_rate(state->write_rate, written));
	page_put(page, PAGE_PLAIN, "  ");
	page_printf(page, state->lost > 0 ? PAGE_BAD : PAGE_PLAIN, "lost %s", figure_count((double)state->lost, lost));
	if (state->stopped) {
		page_put(page, PAGE_BAD, "  recording stopped: ");
		page_put(page, PAGE_BAD, state->stopped);
	}
}

static void head(struct page *page, const struct live_state *state, const struct live_phases *phases, const struct view *view)
{
	head_title(page, state, view);
	page_line(page);
	page_put(page, PAGE_DIM, state->command ? state->command : "(no command: a mount)");
	head_processes(page, state, phases, view);
	head_operations(page, state);
}

/* ---- all of a terminal ---- */

static void (*const panels[PANEL_MAX])(struct scene *) = { panel_processes, panel_phases, panel_files, panel_kinds, panel_waits, panel_errors };
static const char *const titles[PANEL_MAX] = { "Processes", "Phases", "Files", "Operations", "Slow", "Errors" };

/* The title of the panel that has the keys names all of them. */
static void tabs(struct page *page, enum panel shown)
{
	page_line(page);
	for (int i = 0; i < PANEL_MAX; i++) {
		page_put(page, i == (int)shown ? PAGE_CHOSEN : PAGE_TITLE, i == (int)shown ? "[" : " ");
		page_put(page, i == (int)shown ? PAGE_CHOSEN : PAGE_TITLE, titles[i]);
		page_put(page, i == (int)shown ? PAGE_CHOSEN : PAGE_TITLE, i == (int)shown ? "]" : " ");
	}
	page_fill(page, PAGE_TITLE, page->width);
}

static void title(struct page *page, enum panel panel)
{
	page_line(page);
	page_put(page, PAGE_TITLE, " ");
	page_put(page, PAGE_TITLE, titles[panel]);
	page_fill(page, PAGE_TITLE, page->width);
}

static void fill(struct page *page, int line)
{
	while (page->n < line && page_line(page))
		;
}

static void show(struct scene *scene, enum panel panel, int until)
{
	scene->rows = until - scene->page->n;
	panels[panel](scene);
	fill(scene->page, until);
}

#define LEAST_ROWS 4 /* of a panel below the first one, with its title */
#define LEAST_FOCUS 9

/* The lines that a panel would fill, with title and headings. */
static int lines_of(const struct scene *scene, enum panel panel)
{
	const struct live_state *state = scene->state;
	const int rows[PANEL_MAX] = { state->n_processes, scene->phases ? scene->phases->n : 0, state->n_files, state->n_kinds,
		state->n_waits, state->n_errors };

	return rows[panel] + 2;
}

/* The panel that has the keys gets half of the lines, if it can fill them; the others share the rest, in their order, if there is room. */
static void show_panels(struct scene *scene, int until)
{
	int others = PANEL_MAX - 1, rows = until - scene->page->n, below = 0, focus, each;

	while (others && rows - others * LEAST_ROWS < LEAST_FOCUS)
		others--;
	focus = others ? lines_of(scene, scene->view->panel) : rows;
	focus = focus < LEAST_FOCUS ? LEAST_FOCUS : focus > (rows + 1) / 2 ? (rows + 1) / 2 : focus;
	each = others ? (rows - focus) / others : 0;
	each = each < LEAST_ROWS ? LEAST_ROWS : each;
	tabs(scene->page, scene->view->panel);
	scene->is_focus = true;
	show(scene, scene->view->panel, until - others * each);
	scene->is_focus = false;
	for (int i = 0; i < PANEL_MAX && below < others; i++) {
		if (i == (int)scene->view->panel)
			continue;
		below++;
		title(scene->page, i);
		show(scene, i, until - (others - below) * each);
	}
}

static void show_help(struct page *page)
{
	static const char *const lines[] = { "Tab, Shift-Tab     next panel, the one before", "arrows, PgUp, PgDn choose a process, move",
		"Home, End          first, last", "P M T              sort processes by CPU, memory, time",
		"R W N              by bytes read, written per second, by PID", "I                  reverse the order",
		"/ F4               filter: what has this text; Esc: all", "Enter              one process; again: all",
		"Space              pause, go on", "q F10              quit; the run goes on" };

	page_line(page);
	page_put(page, PAGE_TITLE, " Keys");
	page_fill(page, PAGE_TITLE, page->width);
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]) && page->n < page->height - 1; i++) {
		page_line(page);
		page_put(page, PAGE_PLAIN, lines[i]);
	}
}

static void keys(struct page *page, const struct view *view)
{
	fill(page, page->height - 1);
	page_line(page);
	page_put(page, view->said ? PAGE_BAD : PAGE_TITLE,
		view->said ? view->said : "?:help Tab:panel /:filter P,M,T:sort Enter:one Space:pause q:quit");
	page_fill(page, view->said ? PAGE_BAD : PAGE_TITLE, page->width);
}

void panels_screen(struct page *page, const struct live_state *state, const struct live_phases *phases, struct view *view)
{
	struct scene scene = { .page = page, .state = state, .phases = phases, .view = view };

	if (page->width < PANELS_LEAST_WIDTH || page->height < PANELS_LEAST_HEIGHT) {
		page_line(page);
		page_printf(page, PAGE_BAD, "too small: %d x %d is needed", PANELS_LEAST_WIDTH, PANELS_LEAST_HEIGHT);
		return;
	}
	head(page, state, phases, view);
	if (view->helps)
		show_help(page);
	else if (view->shows_one)
		panel_one(&scene);
	else
		show_panels(&scene, page->height - 1);
	keys(page, view);
}

#define KINDS_MOST 80 /* all of them */

void panels_batch(struct page *page, const struct live_state *state, const struct live_phases *phases, struct view *view, int rows)
{
	struct scene scene = { .page = page, .state = state, .phases = phases, .view = view };

	head(page, state, phases, view);
	for (int i = 0; i < PANEL_MAX; i++) {
		page_line(page);
		page_line(page);
		page_put(page, PAGE_TITLE, titles[i]);
		scene.rows = i == PANEL_KINDS ? KINDS_MOST : rows;
		panels[i](&scene);
	}
}
