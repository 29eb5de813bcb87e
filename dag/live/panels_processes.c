/* SPDX-License-Identifier: MIT */

/* The processes. */

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dag/live/panels_internal.h"

/* ---- order ---- */

static double key_of(const struct live_process *p, enum panel_sort sort)
{
	double key = sort == SORT_CPU ? p->cpu : sort == SORT_MEMORY ? (double)p->rss_bytes : sort == SORT_TIME ? (double)p->cpu_ns
		: sort == SORT_READ ? p->read_rate : sort == SORT_WRITE ? p->write_rate : -(double)p->pid;

	return isnan(key) ? -INFINITY : key;
}

struct order {
	const struct live_state *state;
	const struct view *view;
};

/* Those that run come first; the newest of those that have ended. */
static int compare(const void *one, const void *other, void *arg)
{
	const struct order *order = arg;
	const struct live_process *a = &order->state->processes[*(const int32_t *)one], *b = &order->state->processes[*(const int32_t *)other];
	double x = key_of(a, order->view->sort), y = key_of(b, order->view->sort);
	int r = (x < y) - (x > y);

	if ((a->end_ns < 0) != (b->end_ns < 0))
		return a->end_ns < 0 ? -1 : 1;
	if (r)
		return order->view->reverse ? -r : r;
	return a->end_ns != b->end_ns ? (a->end_ns < b->end_ns) - (a->end_ns > b->end_ns) : (a->id > b->id) - (a->id < b->id);
}

int32_t *panels_order(const struct live_state *state, const struct view *view, int32_t *ret_n)
{
	struct scene scene = { .state = state, .view = (struct view *)view };
	int32_t *order = calloc((size_t)state->n_processes + 1, sizeof(*order));

	*ret_n = 0;
	for (int32_t i = 0; order && i < state->n_processes; i++)
		if (scene_shows(&scene, state->processes[i].program, state->processes[i].command))
			order[(*ret_n)++] = i;
	if (order)
		qsort_r(order, (size_t)*ret_n, sizeof(*order), compare, &(struct order){ state, view });
	return order;
}

/* ---- a row ---- */

static void column(struct page *page, enum page_attribute look, int columns, const char *text)
{
	page_column(page, look, columns, true, text);
	page_put(page, look, " ");
}

static bool has_state(const struct page *page)
{
	return page->width >= 70;
}

static bool has_time(const struct page *page)
{
	return page->width >= 80;
}

static bool has_program(const struct page *page)
{
	return page->width >= 110;
}

static void headings(struct page *page, const struct view *view)
{
	static const char *const names[SORT_MAX] = { "CPU%", "MEM", "TIME", "READ/s", "WRITE/s", "PID" };
	static const int wide[SORT_MAX] = { 6, 8, 8, 10, 10, 7 };
	static const enum panel_sort order[] = { SORT_PID, SORT_CPU, SORT_MEMORY, SORT_READ, SORT_WRITE, SORT_TIME };

	page_line(page);
	for (size_t i = 0; i < sizeof(order) / sizeof(order[0]); i++) {
		if (order[i] == SORT_TIME && !has_time(page))
			continue;
		column(page, order[i] == view->sort ? PAGE_CHOSEN : PAGE_HEAD, wide[order[i]], names[order[i]]);
		if (i == 0 && has_state(page))
			page_column(page, PAGE_HEAD, 8, false, "STATE");
	}
	if (has_program(page))
		page_column(page, PAGE_HEAD, 16, false, "PROGRAM");
	page_put(page, PAGE_HEAD, "COMMAND");
}

/* From the name of its program on: there is no room for the directory. */
static const char *without_directory(const char *command)
{
	size_t len = strcspn(command, " '");
	const char *slash = memrchr(command, '/', len);

	return slash && slash + 1 < command + len ? slash + 1 : command;
}

static void put_command(struct page *page, enum page_attribute look, const struct live_process *p)
{
	if (has_program(page))
		page_column(page, look, 15, false, p->program), page_put(page, look, " ");
	if (!p->command)
		page_put(page, look, p->program);
	else
		page_put(page, look, has_program(page) ? p->command : without_directory(p->command));
}

static void put_process(struct page *page, const struct live_process *p, bool is_chosen)
{
	enum page_attribute look = is_chosen ? PAGE_CHOSEN : p->end_ns < 0 ? PAGE_PLAIN
		: p->exit_code > 0 || p->exit_signal > 0 ? PAGE_BAD : PAGE_DIM;
	figure pid, state, cpu, memory, read, written, time;

	snprintf(pid, sizeof(pid), "%lld", (long long)p->pid);
	snprintf(cpu, sizeof(cpu), "%.1f", 100 * p->cpu);
	page_line(page);
	column(page, look, 7, p->pid > 0 ? pid : "-");
	if (has_state(page))
		page_column(page, look, 8, false, p->end_ns < 0 ? "running" : figure_end(p->exit_code, p->exit_signal, state));
	column(page, look, 6, isnan(p->cpu) ? "-" : cpu);
	column(page, look, 8, figure_bytes((double)p->rss_bytes, memory));
	column(page, look, 10, figure_rate(p->read_rate, read));
	column(page, look, 10, figure_rate(p->write_rate, written));
	if (has_time(page))
		column(page, look, 8, figure_time((double)p->cpu_ns, time));
	put_command(page, look, p);
	if (is_chosen)
		page_fill(page, look, page->width);
}

/* Moves the part that is shown so that it has the chosen process. */
static void follow_chosen(const struct scene *scene, const int32_t *order, int32_t n)
{
	struct view *view = scene->view;
	int rows = scene->rows - 1;

	for (int32_t i = 0; i < n && view->chosen; i++)
		if (scene->state->processes[order[i]].id == view->chosen)
			view->first = i < view->first ? i : i >= view->first + rows ? i - rows + 1 : view->first;
	view->first = view->first > n - rows ? n - rows : view->first;
	view->first = view->first < 0 ? 0 : view->first;
}

void panel_processes(struct scene *scene)
{
	int32_t n, first = 0, *order = panels_order(scene->state, scene->view, &n);

	if (!order) {
		scene->page->failed = true;
		return;
	}
	if (scene->is_focus) {
		follow_chosen(scene, order, n);
		first = scene->view->first;
	}
	headings(scene->page, scene->view);
	for (int32_t i = first; i < n && i - first < scene->rows - 1; i++) {
		const struct live_process *p = &scene->state->processes[order[i]];

		put_process(scene->page, p, scene->is_focus && p->id == scene->view->chosen);
	}
	free(order);
}
