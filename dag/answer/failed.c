/* SPDX-License-Identifier: MIT */

/* What failed: the process from which the exit status of the command came, and processes that a signal ended. */

#include <signal.h>
#include <string.h>

#include "dag/answer/answer_internal.h"

static bool has_failed(const struct task *task)
{
	return task->exit_code > 0 || task->exit_signal > 0;
}

static const char *how(const struct task *task, char ret_text[static 40])
{
	const char *name = task->exit_signal > 0 ? sigabbrev_np((int)task->exit_signal) : NULL;

	if (name)
		snprintf(ret_text, 40, "SIG%s", name);
	else if (task->exit_signal > 0)
		snprintf(ret_text, 40, "signal %lld", (long long)task->exit_signal);
	else
		snprintf(ret_text, 40, "exit status %lld", (long long)task->exit_code);
	return ret_text;
}

/* The child of a process that failed last before the process ended; GRAPH_NONE: none did. */
static int32_t failed_child(const struct workflow *w, int32_t process)
{
	const struct graph_process *processes = w->graph->processes;
	int32_t last = GRAPH_NONE;

	for (int32_t i = 0; i < w->graph->n_processes; i++)
		if (processes[i].parent == processes[process].id && has_failed(workflow_task(w, i)) &&
			processes[i].end_ns <= processes[process].end_ns &&
			(last == GRAPH_NONE || processes[i].end_ns > processes[last].end_ns))
			last = i;
	return last;
}

/* The first process of the command, if it failed: down to the one whose failure the others passed on. */
static int32_t find_source(const struct workflow *w)
{
	int32_t process = GRAPH_NONE;

	for (int32_t i = 0; i < w->graph->n_processes && process == GRAPH_NONE; i++)
		if (graph_parent(w->graph, i) == GRAPH_NONE && has_failed(workflow_task(w, i)))
			process = i;
	for (int32_t child = process; child != GRAPH_NONE; child = failed_child(w, child))
		process = child;
	return process;
}

/* A signal that is no alarm: the reader of a pipe had enough, or the process was asked to end. */
static bool is_expected(const struct workflow *w, int32_t process)
{
	const struct task *task = workflow_task(w, process);
	int32_t parent = graph_parent(w->graph, process);

	if (task->exit_signal == SIGPIPE)
		return true;
	if (task->exit_signal == SIGKILL) /* or memory ran out */
		return parent != GRAPH_NONE && !has_failed(workflow_task(w, parent)) &&
		       w->graph->processes[parent].end_ns >= w->graph->processes[process].end_ns;
	return task->exit_signal == SIGTERM || task->exit_signal == SIGINT || task->exit_signal == SIGHUP;
}

static void say(const struct answer *a, const char *label, int32_t process, int32_t more)
{
	const struct task *task = workflow_task(a->workflow, process);
	char text[ANSWER_TEXT], reason[40], others[40] = "";

	if (more > 0)
		snprintf(others, sizeof(others), ", and %d more", more);
	answer_say(a, label, "%s: %s%s", how(task, reason), answer_text(task->command, 40, text), others);
}

int answer_failed(struct answer *a)
{
	const struct workflow *w = a->workflow;
	int32_t source = find_source(w), first = GRAPH_NONE, n = 0;

	if (source != GRAPH_NONE)
		say(a, "failed", source, 0);
	for (int32_t i = 0; i < w->graph->n_processes; i++) {
		if (i == source || workflow_task(w, i)->exit_signal <= 0 || is_expected(w, i))
			continue;
		if (first == GRAPH_NONE || w->graph->processes[i].end_ns < w->graph->processes[first].end_ns)
			first = i;
		n++;
	}
	if (first != GRAPH_NONE)
		say(a, "ended by a signal", first, n - 1);
	return 0;
}
