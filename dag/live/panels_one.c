/* SPDX-License-Identifier: MIT */

/* One process: what it is, its open files, its last operations. */

#include <stdio.h>
#include <string.h>

#include "dag/live/panels_internal.h"

#define LOW 24	/* lines of a terminal that has no room for all */
#define HIGH 40 /* and of one that has */

static const struct live_process *find(const struct live_state *state, int64_t id)
{
	for (int32_t i = 0; i < state->n_processes; i++)
		if (state->processes[i].id == id)
			return &state->processes[i];
	return NULL;
}

static void title(struct page *page, const char *text)
{
	page_line(page);
	page_put(page, PAGE_TITLE, text);
	page_fill(page, PAGE_TITLE, page->width);
}

static void column(struct page *page, enum page_attribute look, int columns, const char *text)
{
	page_column(page, look, columns, true, text);
	page_put(page, look, " ");
}

/* ---- what it is ---- */

static void named(struct page *page, const char *name, const char *text)
{
	page_line(page);
	page_column(page, PAGE_HEAD, 12, false, name);
	page_put(page, PAGE_PLAIN, text);
}

static void figures(struct page *page, const struct live_process *p)
{
	figure state, memory, read, written, time;
	char text[160];

	snprintf(text, sizeof(text), "%lld, %s", (long long)p->pid, p->end_ns < 0 ? "running" : figure_end(p->exit_code, p->exit_signal, state));
	named(page, "PID, state", text);
	snprintf(text, sizeof(text), "CPU %s, memory %s, read %s, written %s", figure_time((double)p->cpu_ns, time),
		figure_bytes((double)p->rss_bytes, memory), figure_rate(p->read_rate, read), figure_rate(p->write_rate, written));
	named(page, "uses", text);
}

/* A long command takes several lines. */
static void whole(struct page *page, const char *name, const char *text, int lines)
{
	size_t room = (size_t)(page->width - 12);

	for (int i = 0; text && i < lines; i++) {
		char part[512];
		size_t n = strlen(text) < room ? strlen(text) : room;

		snprintf(part, sizeof(part), "%.*s", (int)n, text);
		named(page, i ? "" : name, part);
		text += n;
		if (!*text)
			break;
	}
}

static void ancestors(struct page *page, const struct live_state *state, const struct live_process *p, int most)
{
	for (p = find(state, p->parent); p && most > 0; p = find(state, p->parent), most--) {
		char of[400];

		snprintf(of, sizeof(of), "%lld %s", (long long)p->pid, p->command ? p->command : "-");
		named(page, "child of", of);
		if (p->parent == p->id)
			break;
	}
}

/* ---- its files ---- */

static void put_open(struct page *page, const struct live_open *open)
{
	figure read, written, at;

	page_line(page);
	column(page, PAGE_PLAIN, 9, figure_bytes((double)open->read, read));
	column(page, PAGE_PLAIN, 9, figure_bytes((double)open->written, written));
	column(page, PAGE_PLAIN, 9, figure_bytes((double)open->at, at));
	page_end(page, PAGE_PLAIN, -1, open->path);
}

static void open_files(struct page *page, const struct live_one *one, int rows)
{
	page_line(page);
	page_printf(page, PAGE_HEAD, "     READ   WRITTEN        AT OPEN FILE");
	page_printf(page, PAGE_DIM, "   (%lld)", (long long)one->all_open);
	for (int32_t i = 0; i < one->n_open && i < rows - 1; i++)
		put_open(page, &one->open[i]);
}

/* ---- its operations ---- */

static void put_operation(struct page *page, const struct live_state *state, const struct live_operation *o)
{
	const char *error = o->result < 0 ? strerrorname_np((int)(o->result < -4095 ? 0 : -o->result)) : NULL;
	figure when, latency, bytes, offset;

	page_line(page);
	column(page, PAGE_PLAIN, 7, figure_clock(o->start_ns - state->start_ns, when));
	page_column(page, PAGE_PLAIN, 11, false, o->name);
	column(page, PAGE_PLAIN, 8, figure_time((double)o->latency_ns, latency));
	column(page, o->result < 0 ? PAGE_BAD : PAGE_PLAIN, 9, o->result < 0 ? error ? error : "failed" : o->bytes < 0 ? ""
		: figure_bytes((double)o->bytes, bytes));
	if (page->width >= 80)
		column(page, PAGE_PLAIN, 9, o->offset < 0 ? "" : figure_bytes((double)o->offset, offset));
	page_end(page, PAGE_PLAIN, -1, o->path);
}

static void operations(struct page *page, const struct live_state *state, const struct live_one *one)
{
	page_line(page);
	if (!state->has_single) {
		page_put(page, PAGE_DIM, state->has_files ? "operations: not known: the trace has none of them (--no-ops)" : "operations: not known: the trace has no files");
		return;
	}
	page_put(page, PAGE_HEAD, page->width >= 80 ? "   WHEN OPERATION   LATENCY     MOVED        AT OF" : "   WHEN OPERATION   LATENCY     MOVED OF");
	for (int32_t i = 0; i < one->n_operations && page->n < page->height - 1; i++)
		put_operation(page, state, &one->operations[i]);
}

/* ---- all of it ---- */

/* Files get half of the lines that are left, or fewer if there are fewer files. */
static void details(struct scene *scene)
{
	const struct live_one *one = scene->view->one;
	int rows = scene->page->height - 1 - scene->page->n, files;

	if (!one || one->process != scene->view->chosen) {
		page_line(scene->page);
		page_put(scene->page, PAGE_DIM, "files and operations are being looked up");
		return;
	}
	files = rows / 2 < one->n_open + 1 ? rows / 2 : one->n_open + 1;
	open_files(scene->page, one, files);
	operations(scene->page, scene->state, one);
}

void panel_one(struct scene *scene)
{
	const struct live_process *p = find(scene->state, scene->view->chosen);
	struct page *page = scene->page;

	title(page, " One process");
	if (!p) {
		named(page, "", "it has ended, and others have ended since");
		return;
	}
	figures(page, p);
	whole(page, "command", p->command ? p->command : p->program, page->height < LOW ? 1 : 3);
	if (page->height >= LOW) {
		named(page, "program", p->program);
		named(page, "directory", p->cwd);
		ancestors(page, scene->state, p, page->height < HIGH ? 2 : 8);
	}
	details(scene);
}
