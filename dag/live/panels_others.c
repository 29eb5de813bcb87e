/* SPDX-License-Identifier: MIT */

/* Phases, files, kinds of operations, what is slow, errors. */

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "dag/live/panels_internal.h"

static void column(struct page *page, enum page_attribute look, int columns, const char *text)
{
	page_column(page, look, columns, true, text);
	page_put(page, look, " ");
}

static void say(struct scene *scene, const char *text)
{
	page_line(scene->page);
	page_put(scene->page, PAGE_DIM, text);
}

/* Where a list begins: moved by keys if this panel has them. */
static int first_of(const struct scene *scene, int n)
{
	struct view *view = scene->view;
	int most = n - (scene->rows - 1);

	if (!scene->is_focus)
		return 0;
	view->first = view->first > most ? most : view->first;
	view->first = view->first < 0 ? 0 : view->first;
	return view->first;
}

/* ---- phases ---- */

static void put_phase(struct page *page, const struct live_phase *phase, bool has_like)
{
	enum page_attribute look = phase->running ? PAGE_GOOD : PAGE_PLAIN;
	figure done, running, processes, to_come;

	page_line(page);
	column(page, look, 9, figure_count((double)(phase->jobs - phase->running), done));
	column(page, look, 9, figure_count((double)phase->running, running));
	column(page, look, 10, figure_count((double)phase->processes, processes));
	if (has_like)
		column(page, look, 8, phase->wanted < 0 ? "-" : figure_count(phase->wanted > phase->jobs ? (double)(phase->wanted - phase->jobs) : 0, to_come));
	page_put(page, look, phase->name);
}

void panel_phases(struct scene *scene)
{
	int first = first_of(scene, scene->phases ? scene->phases->n : 0);
	int64_t age_ns = scene->phases ? scene->view->now_ns - scene->phases->seen_ns : 0;
	bool has_like = scene->phases && scene->phases->to_come >= 0;

	if (!scene->phases) {
		say(scene, "being worked out");
		return;
	}
	page_line(scene->page);
	page_put(scene->page, PAGE_HEAD, has_like ? "JOBS DONE   RUNNING  PROCESSES  TO COME PHASE" : "JOBS DONE   RUNNING  PROCESSES PHASE");
	if (age_ns > 5000000000 && scene->state->is == LIVE_RUNS)
		page_printf(scene->page, PAGE_DIM, "   (of %lld s ago)", (long long)(age_ns / 1000000000));
	for (int i = first; i < scene->phases->n && i - first < scene->rows - 1; i++)
		put_phase(scene->page, &scene->phases->phases[i], has_like);
}

/* ---- files ---- */

static void put_file(struct page *page, const struct live_file *file)
{
	figure read, written, operations;

	page_line(page);
	column(page, PAGE_PLAIN, 10, figure_rate(file->read_rate, read));
	column(page, PAGE_PLAIN, 10, figure_rate(file->write_rate, written));
	column(page, PAGE_PLAIN, 7, figure_count((double)file->operations, operations));
	page_end(page, PAGE_PLAIN, -1, file->path);
}

void panel_files(struct scene *scene)
{
	int n = 0, first = first_of(scene, scene->state->n_files);

	if (!scene->state->has_single) {
		say(scene, scene->state->has_files ? "not known: the trace has no single operations (--no-ops)" : "not known: the trace has no files");
		return;
	}
	page_line(scene->page);
	page_put(scene->page, PAGE_HEAD, "    READ/s    WRITE/s     OPS FILE");
	for (int32_t i = first; i < scene->state->n_files && n < scene->rows - 1; i++) {
		if (!scene_shows(scene, scene->state->files[i].path, NULL))
			continue;
		put_file(scene->page, &scene->state->files[i]);
		n++;
	}
}

/* ---- kinds ---- */

static void put_kind(struct page *page, const struct live_kind *kind)
{
	figure count, rate, p50, p99, bytes, failed, total;

	snprintf(count, sizeof(count), "%lld", (long long)kind->count);
	snprintf(total, sizeof(total), "%lld", (long long)kind->total);
	page_line(page);
	page_column(page, PAGE_PLAIN, 12, false, kind->name);
	column(page, PAGE_PLAIN, 8, figure_count(kind->rate, rate));
	column(page, PAGE_PLAIN, 8, figure_time(kind->p50_ns, p50));
	column(page, PAGE_PLAIN, 8, figure_time(kind->p99_ns, p99));
	column(page, kind->failed ? PAGE_BAD : PAGE_PLAIN, 7, figure_count((double)kind->failed, failed));
	column(page, PAGE_PLAIN, 9, count);
	column(page, PAGE_PLAIN, 10, total);
	column(page, PAGE_PLAIN, 9, figure_bytes((double)kind->bytes, bytes));
}

void panel_kinds(struct scene *scene)
{
	const struct live_state *state = scene->state;
	int first = first_of(scene, state->n_kinds);

	if (!state->has_single) {
		say(scene, state->has_files ? "not known: the trace has no single operations (--no-ops)" : "not known: the trace has no files");
		return;
	}
	page_line(scene->page);
	page_put(scene->page, PAGE_HEAD, "OPERATION        /s      p50      p99  FAILED     COUNT  SO FAR     BYTES");
	if (state->is_whole_run)
		page_put(scene->page, PAGE_DIM, "   (of the run so far)");
	else
		page_printf(scene->page, PAGE_DIM, "   (of %.1f s)", state->interval_s);
	for (int32_t i = first; i < state->n_kinds && i - first < scene->rows - 1; i++)
		put_kind(scene->page, &state->kinds[i]);
}

/* ---- what is slow now ---- */

static void put_wait(struct page *page, const struct live_wait *wait)
{
	static const char *const kinds[] = { "", " (pipe)", " (socket)", " (child)" };
	figure pid, lasts;
	char what[40];

	snprintf(pid, sizeof(pid), "%lld", (long long)wait->pid);
	snprintf(what, sizeof(what), "%s%s", wait->what, kinds[wait->kind]);
	page_line(page);
	column(page, wait->kind == LIVE_WAIT_FILE ? PAGE_BAD : PAGE_PLAIN, 8, figure_clock(wait->for_ns, lasts));
	column(page, PAGE_PLAIN, 7, pid);
	page_column(page, PAGE_PLAIN, 13, false, wait->program);
	page_column(page, PAGE_PLAIN, 15, false, what);
	page_end(page, PAGE_PLAIN, -1, wait->path);
}

void panel_waits(struct scene *scene)
{
	int n = 0, first = first_of(scene, scene->state->n_waits);

	if (scene->state->is != LIVE_RUNS) {
		say(scene, "nothing: the run has ended");
		return;
	}
	if (!scene->state->has_waits || !scene->state->n_waits) {
		say(scene, !scene->state->has_waits ? "not known: it is seen on the machine of the run, with the rights of its user or root"
			: "no operation has lasted for a second");
		return;
	}
	page_line(scene->page);
	page_put(scene->page, PAGE_HEAD, "   LASTS     PID PROGRAM      OPERATION      OF");
	for (int32_t i = first; i < scene->state->n_waits && n < scene->rows - 1; i++) {
		if (!scene_shows(scene, scene->state->waits[i].path, scene->state->waits[i].program))
			continue;
		put_wait(scene->page, &scene->state->waits[i]);
		n++;
	}
}

/* ---- errors ---- */

static void put_time(struct page *page, int64_t time_ns)
{
	time_t t = time_ns / 1000000000;
	char text[16] = "-";
	struct tm tm;

	if (localtime_r(&t, &tm))
		strftime(text, sizeof(text), "%H:%M:%S", &tm);
	page_column(page, PAGE_PLAIN, 9, false, text);
}

static void put_error(struct page *page, const struct live_error *error)
{
	const char *name = error->error ? strerrorname_np(error->error) : NULL;
	figure pid, end;
	char what[64];

	snprintf(pid, sizeof(pid), "%lld", (long long)error->pid);
	if (!error->error)
		snprintf(what, sizeof(what), "ended: %s", figure_end(error->exit_code, error->exit_signal, end));
	else
		snprintf(what, sizeof(what), "%s: %s", error->what ? error->what : "-", name ? name : "unknown error");
	page_line(page);
	put_time(page, error->time_ns);
	column(page, PAGE_PLAIN, 7, error->pid > 0 ? pid : "-");
	page_column(page, PAGE_PLAIN, 13, false, error->program);
	page_column(page, PAGE_BAD, 20, false, what);
	if (error->error)
		page_end(page, PAGE_PLAIN, -1, error->path);
	else
		page_put(page, PAGE_PLAIN, error->path);
}

void panel_errors(struct scene *scene)
{
	int n = 0, first = first_of(scene, scene->state->n_errors);

	if (!scene->state->n_errors) {
		say(scene, "none so far (names that were only looked up do not count)");
		return;
	}
	page_line(scene->page);
	page_put(scene->page, PAGE_HEAD, "TIME         PID PROGRAM      WHAT                OF");
	for (int32_t i = first; i < scene->state->n_errors && n < scene->rows - 1; i++) {
		const struct live_error *error = &scene->state->errors[i];

		if (!scene_shows(scene, error->path, error->program))
			continue;
		put_error(scene->page, error);
		n++;
	}
}
