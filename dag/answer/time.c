/* SPDX-License-Identifier: MIT */

/* What the time of the critical path was spent with. */

#include <stdlib.h>
#include <string.h>

#include "dag/answer/answer_internal.h"
#include "dag/trace/compose.h"
#include "dag/trace/traces.h"

/* What a process waits for its children with is on the path as what these did. */
static const char *const words[SPENT_MAX] = { [SPENT_RUNNING] = "running", [SPENT_QUEUE] = "processor queue", [SPENT_FILE] = "files",
	[SPENT_PIPE] = "pipes", [SPENT_SOCKET] = "sockets", [SPENT_LOCK] = "locks", [SPENT_CHILD] = "children", [SPENT_SLEEP] = "sleep",
	[SPENT_EVENT] = "events", [SPENT_MEMORY] = "memory", [SPENT_STOPPED] = "stopped", [SPENT_OTHER] = "other waits" };

struct spending {
	struct answer *answer;
	int64_t *on_path_ns; /* of each process */
	double parts_ns[SPENT_MAX];
};

int64_t *answer_time_on_path(const struct answer *a)
{
	int64_t *ns = calloc((size_t)a->workflow->graph->n_processes + 1, sizeof(*ns));

	for (int32_t i = 0; ns && i < a->critical->n_steps; i++)
		ns[a->critical->steps[i].process] += a->critical->steps[i].end_ns - a->critical->steps[i].begin_ns;
	return ns;
}

/* A process has spent its time on the path as all of its life, but for waiting for children: then those are on the path. */
static void add_times(struct spending *s)
{
	const struct workflow *w = s->answer->workflow;

	for (int32_t i = 0; i < w->graph->n_processes; i++) {
		const struct spent *spent = workflow_task(w, i)->spent;
		double all = spent ? (double)(spent_sum(spent) - spent->ns[SPENT_CHILD]) : 0;

		for (int part = 0; part < SPENT_MAX && all > 0; part++)
			if (part != SPENT_CHILD)
				s->parts_ns[part] += (double)s->on_path_ns[i] * (double)spent->ns[part] / all;
		if (all > 0)
			s->on_path_ns[i] = 0;
	}
}

/* In a trace of a mount: what a process did not use or ask of files, it waited for something. */
static int add_calls(void *arg, const struct query *row)
{
	struct spending *s = arg;
	const struct graph *g = s->answer->workflow->graph;
	int32_t i = graph_find_process(g, query_int(row, 0));

	if (i != GRAPH_NONE) {
		double file = query_real(row, 1), path = (double)s->on_path_ns[i];

		file = file < path ? file : path;
		s->parts_ns[SPENT_FILE] += file;
		s->on_path_ns[i] -= (int64_t)file;
	}
	return 0;
}

static void add_cpu(struct spending *s)
{
	const struct workflow *w = s->answer->workflow;

	for (int32_t i = 0; i < w->graph->n_processes; i++) {
		const struct task *task = workflow_task(w, i);
		int64_t cpu = task->cpu_ns < 0 ? 0 : task->cpu_ns, queue = task->cpu_delay_ns < 0 ? 0 : task->cpu_delay_ns;
		int64_t left = s->on_path_ns[i];

		cpu = cpu < left ? cpu : left;
		queue = queue < left - cpu ? queue : left - cpu;
		s->parts_ns[SPENT_RUNNING] += (double)cpu;
		s->parts_ns[SPENT_QUEUE] += (double)queue;
		s->parts_ns[SPENT_OTHER] += (double)(left - cpu - queue);
	}
}

#define PARTS_SHOWN 4

/* Whole numbers with the sum 100: of those that were cut off, the ones that lost most get one more. */
static void to_percent(const double *parts_ns, double all_ns, int ret_percent[static SPENT_MAX])
{
	double lost[SPENT_MAX];
	int sum = 0;

	for (int i = 0; i < SPENT_MAX; i++) {
		lost[i] = 100 * parts_ns[i] / all_ns;
		ret_percent[i] = (int)lost[i];
		lost[i] -= ret_percent[i];
		sum += ret_percent[i];
	}
	for (; sum < 100; sum++) {
		int most = 0;

		for (int i = 1; i < SPENT_MAX; i++)
			most = lost[i] > lost[most] ? i : most;
		ret_percent[most]++;
		lost[most] = 0;
	}
}

/* The largest ones, and what they leave of 100. */
static void write_parts(const int *percent, char *line, size_t size)
{
	bool done[SPENT_MAX] = { false };
	int rest = 100;

	*line = '\0';
	for (int k = 0; k < PARTS_SHOWN; k++) {
		int most = -1;
		size_t len = strlen(line);

		for (int i = 0; i < SPENT_MAX; i++)
			if (!done[i] && percent[i] > 0 && (most < 0 || percent[i] > percent[most]))
				most = i;
		if (most < 0)
			break;
		snprintf(line + len, size - len, "%s%s %d %%", k ? ", " : "", words[most], percent[most]);
		done[most] = true;
		rest -= percent[most];
	}
	if (rest > 0)
		snprintf(line + strlen(line), size - strlen(line), ", rest %d %%", rest);
}

#define WIDTH 58 /* what a line of 80 columns has room for behind the label */

static const char *last_comma(const char *line, size_t width)
{
	const char *found = NULL;

	for (const char *comma = strchr(line, ','); comma && comma < line + width; comma = strchr(comma + 1, ','))
		found = comma;
	return found;
}

static void say_list(const struct answer *a, const char *label, const char *line)
{
	const char *end;

	for (; !a->plain && strlen(line) > WIDTH && (end = last_comma(line, WIDTH)); label = NULL, line = end + 2)
		answer_say(a, label, "%.*s", (int)(end + 1 - line), line);
	answer_say(a, label, "%s", line);
}

static void say_parts(const struct answer *a, const double *parts_ns)
{
	int percent[SPENT_MAX];
	double all_ns = 0;
	char line[256];

	for (int i = 0; i < SPENT_MAX; i++)
		all_ns += parts_ns[i];
	if (all_ns <= 0)
		return;
	to_percent(parts_ns, all_ns, percent);
	write_parts(percent, line, sizeof(line));
	say_list(a, "critical path", line);
}

int answer_time(struct answer *a)
{
	const struct choice all = { 0 };
	struct spending s = { .answer = a, .on_path_ns = answer_time_on_path(a) };
	int r = s.on_path_ns ? 0 : failure_memory(a->failure);

	if (r == 0)
		add_times(&s);
	if (r == 0 && !a->workflow->is_native)
		r = traces_each(a->db, "answer.calls", "process file_ns", &all, add_calls, &s, a->failure);
	if (r == 0) {
		add_cpu(&s);
		say_parts(a, s.parts_ns);
	}
	free(s.on_path_ns);
	return r;
}
