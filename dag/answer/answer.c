/* SPDX-License-Identifier: MIT */
#include "dag/answer/answer.h"

#include <errno.h>
#include <stdarg.h>
#include <string.h>

#include "base/err.h"
#include "base/units.h"
#include "base/wrap.h"
#include "dag/answer/answer_internal.h"
#include "dag/output/printable.h"
#include "dag/trace/compose.h"
#include "dag/trace/traces.h"

_Static_assert((ANSWER_OWN & ~ANSWER_BRIEF) == QUERY_FOREIGN, "as query.h has it");

#define LABEL_WIDTH 19 /* of lines without a label: as the longest one */

void answer_say(const struct answer *answer, const char *label, const char *format, ...)
{
	char head[64], next[64], text[1024];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	snprintf(next, sizeof(next), "ftrac: %*s", LABEL_WIDTH, "");
	snprintf(head, sizeof(head), label ? "ftrac: %s: " : "%s", label ? label : next);
	if (answer->plain)
		fprintf(answer->out, "%s\t%s\n", label ? label : "", text);
	else
		wrap_print(answer->out, head, next, text);
}

static bool continues_character(char c)
{
	return ((unsigned char)c & 0xc0) == 0x80;
}

const char *answer_text(const char *text, int most, char ret_text[static ANSWER_TEXT])
{
	struct printable printable = { 0 };
	const char *shown = text ? printable_text(&printable, text) : "-";
	int len = (int)strlen(shown), head = (most - 3) / 2, tail = len - (most - 3 - head);

	if (most >= ANSWER_TEXT)
		most = ANSWER_TEXT - 1;
	if (len <= most) {
		memcpy(ret_text, shown, (size_t)len + 1);
	} else {
		while (head > 0 && continues_character(shown[head]))
			head--;
		while (tail < len && continues_character(shown[tail]))
			tail++;
		snprintf(ret_text, ANSWER_TEXT, "%.*s...%s", head, shown, shown + tail);
	}
	printable_finish(&printable);
	return ret_text;
}

enum head_column { H_WALL, H_PROCESSES, H_CPU, H_RSS, H_COMM, H_FILES, H_READ, H_WRITTEN };
#define HEAD_COLUMNS "wall_ns processes cpu_ns rss_bytes comm files bread bwrite"

bool answer_has_files(const struct answer *a)
{
	return query_fact_text(a->db, "fidelity");
}

static bool is_known(const struct query *row, int column)
{
	return query_type(row, column) != QUERY_NULL;
}

static const char *bytes_of(const struct query *row, int column, char ret_text[static 32])
{
	if (is_known(row, column))
		units_bytes(query_real(row, column), ret_text, 32);
	return is_known(row, column) ? ret_text : "-";
}

static void say_run(const struct answer *a, const struct query *row)
{
	const char *command = query_fact_text(a->db, "command");
	double span_ns = (double)(query_fact(a->db, "end_ns", 0) - query_fact(a->db, "start_ns", 0));
	char text[ANSWER_TEXT], wall[32];

	units_time(command ? query_real(row, H_WALL) : span_ns, wall, sizeof(wall));
	if (!command)
		fprintf(a->out, "ftrac: recorded %s of processes that ran already\n", wall);
	else
		answer_say(a, answer_text(command, 44, text), "exit status %lld, %s", (long long)query_fact(a->db, "exit_status", 0),
			is_known(row, H_WALL) ? wall : "-");
}

static void say_numbers(const struct answer *a, const struct query *row)
{
	long long processes = query_int(row, H_PROCESSES), files = query_int(row, H_FILES);
	long long operations = query_fact(a->db, "ops_recorded", 0);
	char read[32], written[32], peak[32], cpu[32], comm[ANSWER_TEXT], copy[64] = { 0 };
	size_t len = 0;
	const char *name = query_bytes(row, H_COMM, &len);

	memcpy(copy, name ? name : "", len < sizeof(copy) ? len : sizeof(copy) - 1);
	units_time(query_real(row, H_CPU), cpu, sizeof(cpu));
	fprintf(a->out, "ftrac: %lld process%s", processes, processes == 1 ? "" : "es");
	if (is_known(row, H_CPU))
		fprintf(a->out, ", %s of CPU", cpu);
	if (is_known(row, H_RSS))
		fprintf(a->out, ", most memory %s (%s)", bytes_of(row, H_RSS, peak), answer_text(copy, 20, comm));
	fputc('\n', a->out);
	if (!answer_has_files(a))
		return;
	fprintf(a->out, "ftrac: %lld operation%s, %lld file%s opened, %s read, %s written\n", operations, operations == 1 ? "" : "s",
		files, files == 1 ? "" : "s", bytes_of(row, H_READ, read), bytes_of(row, H_WRITTEN, written));
}

static int say_head(struct answer *a)
{
	const struct choice all = { 0 };
	struct query *row = NULL;
	int r = traces_query(a->db, "answer.head", HEAD_COLUMNS, &all, &row, NULL, a->failure);

	if (r == 0)
		r = traces_next(a->db, row, a->failure);
	if (r > 0) {
		say_run(a, row);
		say_numbers(a, row);
		a->n_processes = query_int(row, H_PROCESSES);
	}
	query_end(row);
	return r < 0 ? r : 0;
}

/* As the command could have named it: relative to its directory if it is below that. */
static const char *near_path(const struct answer *a, const char *path)
{
	const char *cwd = query_fact_text(a->db, "cwd");
	size_t len = cwd ? strlen(cwd) : 0;

	return len > 1 && strncmp(path, cwd, len) == 0 && path[len] == '/' ? path + len + 1 : path;
}

static int say_again(struct answer *a)
{
	const struct choice all = { 0 };
	char path[4096] = "", text[ANSWER_TEXT], saved[32];
	struct query *row = NULL;
	int r = traces_query(a->db, "finding.re-reads", "path saved_bytes reread", &all, &row, NULL, a->failure);

	if (r == 0)
		r = traces_next(a->db, row, a->failure);
	if (r > 0) {
		size_t len = 0;
		const char *bytes = query_bytes(row, 0, &len);

		memcpy(path, bytes ? bytes : "", len < sizeof(path) ? len : sizeof(path) - 1);
		units_bytes(query_real(row, 1), saved, sizeof(saved));
		answer_say(a, "read again", "%s of %s, %.*f times its size", saved, answer_text(near_path(a, path), 28, text),
			query_real(row, 2) < 10, query_real(row, 2));
	}
	query_end(row);
	return r < 0 ? r : 0;
}

static int say_graph(struct answer *a)
{
	int (*const parts[])(struct answer *) = { answer_time, answer_steps, say_again, answer_failed };
	const struct choice all = { 0 };
	const struct workflow_options options = { .choice = &all };
	int r = workflow_load(a->db, &options, &a->workflow, a->failure);

	if (r == 0)
		r = failure_of_memory(a->failure, critical_create(a->workflow, true, &a->critical));
	for (size_t i = 0; r == 0 && i < sizeof(parts) / sizeof(parts[0]); i++)
		r = parts[i](a);
	return r;
}

/* The end of a run should not take long, nor much memory. */
#define PROCESSES_MOST 50000

static int say_all(struct answer *a, unsigned how)
{
	const char *paths[] = { a->path };
	const struct words traces = { paths, 1, 1 };
	int r = traces_open(&traces, how & ~ANSWER_BRIEF, err_print, &a->db, a->failure);

	if (r == 0)
		r = say_head(a);
	if (r == 0 && how & ANSWER_BRIEF && a->n_processes > PROCESSES_MOST)
		answer_say(a, "critical path", "of so many processes 'wfdag summary' works it out");
	else if (r == 0)
		r = say_graph(a);
	if (r == 0)
		r = answer_cover(a);
	if (r == 0)
		answer_end(a);
	return r;
}

int answer_lines(struct query_db *db, struct workflow *workflow, struct critical *critical, struct failure *failure, FILE *out)
{
	int (*const parts[])(struct answer *) = { answer_time, answer_steps, say_again, answer_failed };
	struct answer answer = { .db = db, .workflow = workflow, .critical = critical, .failure = failure, .out = out, .plain = true };
	int r = 0;

	for (size_t i = 0; r == 0 && i < sizeof(parts) / sizeof(parts[0]); i++)
		r = parts[i](&answer);
	return r;
}

int answer_print(const char *db, unsigned how, FILE *out)
{
	struct failure failure = { 0 };
	struct answer answer = { .path = db, .out = out, .failure = &failure };
	int r = say_all(&answer, how);

	if (r < 0)
		failure_status(&failure);
	critical_destroy(answer.critical);
	workflow_destroy(answer.workflow);
	query_close(answer.db);
	return r;
}
