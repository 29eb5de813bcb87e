/* SPDX-License-Identifier: MIT */

/* Two runs in one sentence, and processes in a few words. */

#include "base/output.h"
#include "dag/diff/report.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "dag/diff/figures.h"
#include "dag/diff/names.h"
#include "dag/diff/noise.h"
#include "dag/output/printable.h"

#define UNIT_ROOM 32
#define SAME_PERCENT 1 /* a time that differs by less is the same */
#define MANY_PERCENT 300
#define NAME_MAX_LEN 60
#define NAME_FILES 3

/* ---- what differs ---- */

static const char *separator(int *n)
{
	return (*n)++ ? ", " : "";
}

static void put_count(FILE *out, int32_t count, const char *one, const char *many,
	enum change change, int *n)
{
	if (count)
		fprintf(out, "%s%d %s %s", separator(n), count, count == 1 ? one : many,
			changes[change]);
}

static void put_sizes(FILE *out, const struct found *found)
{
	fprintf(out, "same graph (%d %s, %d %s, %d %s)", found->processes[0],
		found->processes[0] == 1 ? "process" : "processes", found->files[0],
		found->files[0] == 1 ? "file" : "files", found->edges[0],
		found->edges[0] == 1 ? "edge" : "edges");
}

static void put_graph(FILE *out, const struct found *found)
{
	int n = 0;

	for (int change = 0; change < CHANGE_MAX; change++) {
		put_count(out, found->count[FIND_PROCESS][change], "process", "processes", change,
			&n);
		put_count(out, found->count[FIND_FILE][change], "file", "files", change, &n);
		put_count(out, found_edges(found, change), "edge", "edges", change, &n);
	}
	if (n == 0 && found->processes[0] == 0)
		fputs("nothing to compare: there are no processes", out);
	else if (n == 0)
		put_sizes(out, found);
}

/* ---- how long it took ---- */

/* The phase that has most to do with it. */
static const struct measured *find_cause(const struct measurement *m, bool slower)
{
	const struct measured *most = NULL;
	int64_t largest = 0;

	for (int32_t i = 1; i < m->n; i++) {
		const int64_t *time = m->measured[i].of[MEASURE_TIME];
		int64_t change = time[0] == WORKFLOW_UNKNOWN || time[1] == WORKFLOW_UNKNOWN
					 ? 0
					 : time[1] - time[0];

		if (m->measured[i].phase && (slower ? change : -change) > largest) {
			largest = slower ? change : -change;
			most = &m->measured[i];
		}
	}
	return most;
}

/* The summary is one line of UTF-8; a name of the run may be any bytes. */
static void put_name(FILE *out, const char *name)
{
	struct printable printable = { 0 };
	const char *text = printable_text(&printable, name);

	fputs(printable.failed ? "?" : text, out);
	printable_finish(&printable);
}

/* With several runs of each side: is the time of one side beyond that of the other? */
static bool is_within_noise(const struct comparison *c)
{
	const struct figures *const turned[2] = { c->figures[1], c->figures[0] };
	const int n[2] = { c->n_runs[1], c->n_runs[0] };

	return report_has_several(c) && !figures_exceed(c->figures, c->n_runs, FIGURE_TIME, SAME_PERCENT) &&
	       !figures_exceed(turned, n, FIGURE_TIME, SAME_PERCENT);
}

static void put_time(FILE *out, const struct comparison *c)
{
	const struct measurement *m = c->measurement;
	const int64_t *time = m->measured[0].of[MEASURE_TIME];
	double percent = measure_percent(time[0], time[1]);
	const struct measured *cause = find_cause(m, percent > 0);
	char a[UNIT_ROOM], b[UNIT_ROOM], change[UNIT_ROOM];

	if (isnan(percent))
		return;
	units_time((double)time[0], a, sizeof(a));
	units_time((double)time[1], b, sizeof(b));
	if (fabs(percent) < SAME_PERCENT)
		fputs("; as fast", out);
	else if (is_within_noise(c))
		fputs("; as fast, within noise", out);
	else if (percent >= MANY_PERCENT)
		fprintf(out, "; %.1f times as long", percent / 100 + 1);
	else
		fprintf(out, "; %.*f %% %s", fabs(percent) < 10 ? 1 : 0, fabs(percent),
			percent > 0 ? "slower" : "faster");
	fprintf(out, ": %s -> %s", a, b);
	if (!cause || fabs(percent) < SAME_PERCENT || is_within_noise(c))
		return;
	units_time((double)(cause->of[MEASURE_TIME][1] - cause->of[MEASURE_TIME][0]), change,
		sizeof(change));
	fputs(", most in ", out);
	put_name(out, cause->phase);
	fprintf(out, " (%s%s)", percent > 0 ? "+" : "", change);
}

static void put_exit(FILE *out, const struct comparison *c)
{
	const struct found *found = c->found;
	int32_t process = found->n_ends ? found->ends[0] : GRAPH_NONE;
	const struct task *a, *b;

	if (process == GRAPH_NONE)
		return;
	a = workflow_task(c->match->side[0]->workflow, process);
	b = workflow_task(c->match->side[1]->workflow, c->match->pair[0][process]);
	fputs("; ", out);
	put_name(out, a->program ? a->program : "a process");
	fprintf(out, " exited with %lld instead of %lld",
		(long long)found_status(b), (long long)found_status(a));
	if (found->n_ends > 1)
		fprintf(out, ", and %d others with another status", found->n_ends - 1);
}

char *report_summary(const struct comparison *c)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return NULL;
	put_graph(out, c->found);
	put_time(out, c);
	put_exit(out, c);
	if (c->noise && c->noise->taken)
		fprintf(out, "; %d more %s noise: as much differs among runs of one side", c->noise->taken,
			c->noise->taken == 1 ? "difference is" : "differences are");
	return output_close_text(out, &text);
}

/* ---- processes ---- */

/* Is a word, from the root on, the path of a file that the process uses? */
static bool is_file_of(const struct comparison *c, int run, int32_t process, const char *word,
	size_t len)
{
	const struct side *side = c->match->side[run];

	if (len > 2 && memcmp(word, "./", 2) == 0) {
		word += 2;
		len -= 2;
	}
	for (int32_t i = side->first[process]; i < side->first[process + 1]; i++) {
		int32_t to = side->links[i].to;
		const char *path = side_is_process(side, to)
					   ? NULL
					   : names_path(c->names, run, side_file(side, to));

		if (path && strlen(path) == len && memcmp(path, word, len) == 0)
			return true;
	}
	return false;
}

/* out NULL: only how many they are. */
static int put_files(FILE *out, const struct comparison *c, int run, int32_t process)
{
	struct names_words words;
	int n = 0;

	names_words_begin(&words, c->names, run, process);
	while (n < NAME_FILES && names_words_next(&words))
		if (is_file_of(c, run, process, words.word, words.len)) {
			if (out)
				fprintf(out, " %.*s", (int)words.len, words.word);
			n++;
		}
	return n;
}

void report_put_short(FILE *out, const char *command, size_t most)
{
	size_t len = strlen(command), n = len < most ? len : most;

	while (n < len && n && ((unsigned char)command[n] & 0xc0) == 0x80)
		n--;
	for (size_t i = 0; i < n; i++)
		fputc((unsigned char)command[i] < ' ' ? ' ' : command[i], out);
	if (n < len)
		fputs("...", out);
}

/* A command from the name of its program on, if that is in front. */
static const char *without_directory(const char *command, const char *program)
{
	size_t word = strcspn(command, " "), len = strlen(program);

	return word > len && strncmp(command + word - len, program, len) == 0 &&
			       command[word - len - 1] == '/'
		       ? command + word - len
		       : command;
}

char *report_process(const struct comparison *c, int run, int32_t process)
{
	const struct task *task = workflow_task(c->match->side[run]->workflow, process);
	const char *command = task->command ? task->command : task->program;
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return NULL;
	if (!command) {
		fputs("?", out);
	} else if (strlen(command) <= NAME_MAX_LEN || !task->program) {
		report_put_short(out, command, NAME_MAX_LEN);
	} else if (put_files(NULL, c, run, process) == 0) {
		report_put_short(out, without_directory(command, task->program), NAME_MAX_LEN);
	} else {
		fprintf(out, "%s ...", task->program);
		put_files(out, c, run, process);
	}
	return output_close_text(out, &text);
}
