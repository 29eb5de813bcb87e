/* SPDX-License-Identifier: MIT */
#include "dag/shape/attributes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"

enum {
	N_KIND,
	N_ID,
	N_PART,
	N_MEMBERS,
	N_LABEL,
	N_PROGRAM,
	N_COMMAND,
	N_EXE,
	N_PID,
	N_JOB,
	N_XFORM,
	N_STEP,
	N_TASK,
	N_PHASE,
	N_HOST,
	N_START,
	N_END,
	N_LIFE,
	N_CPU,
	N_RSS,
	N_EXIT_CODE,
	N_EXIT_SIGNAL,
	N_FAILED,
	N_PATH,
	N_FILE_KIND,
	N_SIZE,
	N_CREATED,
	N_DELETED,
	N_CRITICAL
};

const struct attribute attributes_of_nodes[] = {
	[N_KIND] = { "kind", ATTRIBUTE_TEXT },
	[N_ID] = { "trace_id", ATTRIBUTE_INT },
	[N_PART] = { "part", ATTRIBUTE_INT },
	[N_MEMBERS] = { "members", ATTRIBUTE_INT },
	[N_LABEL] = { "group", ATTRIBUTE_TEXT },
	[N_PROGRAM] = { "program", ATTRIBUTE_TEXT },
	[N_COMMAND] = { "command", ATTRIBUTE_TEXT },
	[N_EXE] = { "exe", ATTRIBUTE_TEXT },
	[N_PID] = { "pid", ATTRIBUTE_INT },
	[N_JOB] = { "job", ATTRIBUTE_TEXT },
	[N_XFORM] = { "xform", ATTRIBUTE_TEXT },
	[N_STEP] = { "step", ATTRIBUTE_TEXT },
	[N_TASK] = { "task", ATTRIBUTE_TEXT },
	[N_PHASE] = { "phase", ATTRIBUTE_TEXT },
	[N_HOST] = { "host", ATTRIBUTE_TEXT },
	[N_START] = { "start_s", ATTRIBUTE_REAL },
	[N_END] = { "end_s", ATTRIBUTE_REAL },
	[N_LIFE] = { "life_s", ATTRIBUTE_REAL },
	[N_CPU] = { "cpu_s", ATTRIBUTE_REAL },
	[N_RSS] = { "rss_bytes", ATTRIBUTE_INT },
	[N_EXIT_CODE] = { "exit_code", ATTRIBUTE_INT },
	[N_EXIT_SIGNAL] = { "exit_signal", ATTRIBUTE_INT },
	[N_FAILED] = { "failed", ATTRIBUTE_BOOL },
	[N_PATH] = { "path", ATTRIBUTE_TEXT },
	[N_FILE_KIND] = { "file_kind", ATTRIBUTE_TEXT },
	[N_SIZE] = { "size_bytes", ATTRIBUTE_INT },
	[N_CREATED] = { "created", ATTRIBUTE_BOOL },
	[N_DELETED] = { "deleted", ATTRIBUTE_BOOL },
	[N_CRITICAL] = { "critical", ATTRIBUTE_BOOL },
	{ NULL, ATTRIBUTE_TEXT },
};

enum {
	E_KIND,
	E_BYTES,
	E_OPS,
	E_SECONDS,
	E_RATE,
	E_TIME,
	E_MEMBERS,
	E_ASSUMED,
	E_FEEDBACK,
	E_READ_BACK,
	E_SLOW,
	E_CRITICAL
};

const struct attribute attributes_of_edges[] = {
	[E_KIND] = { "kind", ATTRIBUTE_TEXT },
	[E_BYTES] = { "bytes", ATTRIBUTE_INT },
	[E_OPS] = { "operations", ATTRIBUTE_INT },
	[E_SECONDS] = { "seconds", ATTRIBUTE_REAL },
	[E_RATE] = { "bytes_per_s", ATTRIBUTE_REAL },
	[E_TIME] = { "time_s", ATTRIBUTE_REAL },
	[E_MEMBERS] = { "members", ATTRIBUTE_INT },
	[E_ASSUMED] = { "assumed", ATTRIBUTE_BOOL },
	[E_FEEDBACK] = { "feedback", ATTRIBUTE_BOOL },
	[E_READ_BACK] = { "read_back", ATTRIBUTE_BOOL },
	[E_SLOW] = { "slow", ATTRIBUTE_BOOL },
	[E_CRITICAL] = { "critical", ATTRIBUTE_BOOL },
	{ NULL, ATTRIBUTE_TEXT },
};

void attribute_value_finish(struct attribute_value *value)
{
	printable_finish(&value->clean);
}

void attribute_kinds(int kinds, char out[ATTRIBUTE_KINDS_MAX])
{
	static const char *const names[] = { "read", "write", "create", "rename", "delete",
		"execute", "map", "truncate", "fork", "next", "metadata", "search", "pipe" };
	char *at = out;

	*at = '\0';
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (kinds & (1 << i))
			at = stpcpy(at > out ? stpcpy(at, "|") : at, names[i]);
}

const char *attribute_text(enum attribute_type type, const struct attribute_value *value,
	char number[ATTRIBUTE_NUMBER_MAX])
{
	switch (type) {
	case ATTRIBUTE_TEXT:
		return value->text;
	case ATTRIBUTE_BOOL:
		return value->number ? "true" : "false";
	case ATTRIBUTE_INT:
		snprintf(number, ATTRIBUTE_NUMBER_MAX, "%lld", (long long)value->number);
		break;
	case ATTRIBUTE_REAL:
		snprintf(number, ATTRIBUTE_NUMBER_MAX, "%.15g", value->real);
		break;
	}
	return number;
}

/* ---- values; each says whether it is known ---- */

static bool set_int(struct attribute_value *v, int64_t number, int64_t unknown)
{
	v->number = number;
	return number != unknown;
}

static bool set_real(struct attribute_value *v, double real)
{
	v->real = real;
	return true;
}

static bool set_text(struct attribute_value *v, const char *text)
{
	if (text)
		v->text = printable_text(&v->clean, text);
	return text != NULL && !v->clean.failed;
}

static bool set_seconds(struct attribute_value *v, int64_t ns, int64_t since_ns)
{
	return ns != GRAPH_NEVER && ns != WORKFLOW_UNKNOWN &&
	       set_real(v, (double)(ns - since_ns) / 1e9);
}

static bool of_task(const struct shape *shape, const struct shape_node *node, int i,
	struct attribute_value *v)
{
	const struct task *t = workflow_task(shape->workflow, node->of);

	switch (i) {
	case N_PROGRAM:
		return set_text(v, t->program);
	case N_COMMAND:
		return set_text(v, t->command);
	case N_EXE:
		return set_text(v, t->exe);
	case N_PID:
		return set_int(v, t->pid, WORKFLOW_UNKNOWN);
	case N_JOB:
		return set_text(v, t->job);
	case N_XFORM:
		return set_text(v, t->xform);
	case N_STEP:
		return set_text(v, t->step);
	case N_TASK:
		return set_text(v, t->task);
	case N_PHASE:
		return set_text(v, t->phase);
	case N_HOST:
		return set_text(v, t->host);
	case N_START:
		return set_seconds(v, node->begin_ns, shape->workflow->begin_ns);
	case N_END:
		return set_seconds(v, node->end_ns, shape->workflow->begin_ns);
	case N_LIFE:
		return node->life_ns >= 0 && set_seconds(v, node->life_ns, 0);
	case N_CPU:
		return node->cpu_ns >= 0 && set_seconds(v, node->cpu_ns, 0);
	case N_RSS:
		return set_int(v, node->rss_bytes, -1);
	case N_FAILED:
		return set_int(v, node->failed, -1);
	case N_EXIT_CODE:
		return set_int(v, t->exit_code, WORKFLOW_UNKNOWN);
	case N_EXIT_SIGNAL:
		return set_int(v, t->exit_signal, WORKFLOW_UNKNOWN);
	default:
		return false;
	}
}

static bool of_data(const struct shape *shape, const struct shape_node *node, int i,
	struct attribute_value *v)
{
	const struct data *d = workflow_data(shape->workflow, node->of);

	switch (i) {
	case N_PATH:
		return set_text(v, d->path);
	case N_FILE_KIND:
		return set_text(v, d->kind);
	case N_SIZE:
		return set_int(v, node->size_bytes, -1);
	case N_CREATED:
		return set_int(v, d->created, -1);
	case N_DELETED:
		return set_int(v, d->deleted, -1);
	default:
		return false;
	}
}

/* Of several, what they have together. */
static bool of_several(const struct shape *shape, const struct shape_node *node, int i,
	struct attribute_value *v)
{
	switch (i) {
	case N_LABEL:
		return set_text(v, node->label);
	case N_START:
	case N_END:
	case N_LIFE:
	case N_CPU:
	case N_RSS:
	case N_FAILED:
		return node->kind == NODE_PROCESS && of_task(shape, node, i, v);
	case N_SIZE:
		return node->kind == NODE_FILE && of_data(shape, node, i, v);
	default:
		return false;
	}
}

static int64_t id_of(const struct shape *shape, const struct shape_node *n)
{
	const struct graph *g = shape->workflow->graph;

	return n->kind == NODE_PROCESS ? g->processes[n->of].id
	       : n->kind == NODE_FILE  ? g->files[n->of].id
				       : -1;
}

bool attribute_of_node(const struct shape *shape, int32_t node, int i, struct attribute_value *v)
{
	static const char *const kinds[] = { "process", "file", "ghost" };
	const struct shape_node *n = &shape->nodes[node];

	switch (i) {
	case N_KIND:
		return set_text(v, kinds[n->kind]);
	case N_MEMBERS:
		return set_int(v, n->members, -1);
	case N_CRITICAL:
		return set_int(v, n->critical, -1);
	case N_ID:
		return !n->label && set_int(v, id_of(shape, n), -1);
	case N_PART:
		return !n->label && n->kind != NODE_MISSING_NAME && set_int(v, n->part, -1);
	}
	if (n->label)
		return of_several(shape, n, i, v);
	if (n->kind == NODE_MISSING_NAME)
		return i == N_PATH && set_text(v, shape->workflow->missing_names[n->of].path);
	return n->kind == NODE_PROCESS ? of_task(shape, n, i, v) : of_data(shape, n, i, v);
}

const char *attribute_name(const struct shape *shape, int32_t node, struct attribute_value *v)
{
	const struct shape_node *n = &shape->nodes[node];

	if (n->label ? attribute_of_node(shape, node, N_LABEL, v)
		     : attribute_of_node(shape, node, n->kind == NODE_PROCESS ? N_PROGRAM : N_PATH,
			       v))
		return v->text;
	return n->id;
}

bool attribute_of_edge(const struct shape *shape, int32_t edge, int i, struct attribute_value *ret)
{
	const struct shape_edge *e = &shape->edges[edge];
	char kinds[ATTRIBUTE_KINDS_MAX];

	switch (i) {
	case E_KIND:
		attribute_kinds(e->kinds, kinds);
		return set_text(ret, kinds);
	case E_MEMBERS:
		return set_int(ret, e->members, -1);
	case E_SLOW:
		return set_int(ret, e->slow, -1);
	case E_CRITICAL:
		return set_int(ret, e->critical, -1);
	case E_BYTES:
		return set_int(ret, e->bytes, -1);
	case E_OPS:
		return set_int(ret, e->ops, -1);
	case E_SECONDS:
		return e->ns >= 0 && set_real(ret, (double)e->ns / 1e9);
	case E_RATE:
		return e->ns > 0 && e->bytes >= 0 &&
		       set_real(ret, (double)e->bytes * 1e9 / (double)e->ns);
	case E_TIME:
		return set_seconds(ret, e->time_ns, shape->workflow->begin_ns);
	case E_ASSUMED:
		return set_int(ret, e->assumed, -1);
	case E_FEEDBACK:
		return set_int(ret, e->feedback, -1);
	case E_READ_BACK:
		return set_int(ret, e->read_back, -1);
	default:
		return false;
	}
}
