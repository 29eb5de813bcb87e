/* SPDX-License-Identifier: MIT */
#include "dag/export/dot.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "dag/export/agraph.h"
#include "dag/export/dot_legend.h"
#include "dag/shape/attributes.h"

#define SHOWN 40        /* characters of a name in a label */
#define TALL 60         /* more nodes than that are drawn from left to right */
#define STEPS_SHOWN 16 /* in the legend */

struct drawing {
	const struct shape *shape;
	const struct dot_options *options;
	struct agraph *graph;
	void **nodes; /* objects of the graph, by the index in the shape */
	struct attribute_value value;
	FILE *out; /* collects one text; take() ends it */
	char *text;
	size_t size;
	double most;         /* the largest weight_of() an edge */
	const char **names; /* of files and missing names */
	const char **steps; /* sorted, each once */
	int n_steps;
	const char *ids; /* prefix of ids, "" if there is none */
};

/* ---- text ---- */

/* The text that was written to d->out since the last call.  It is valid until the next write. */
static const char *take(struct drawing *d)
{
	fputc('\0', d->out);
	fflush(d->out);
	rewind(d->out);
	return d->text;
}

/* Doubles backslashes, which begin an escape. */
static void put_escaped(const char *text, size_t len, FILE *out)
{
	for (const char *end = text + len; text < end; text++) {
		if (*text == '\\')
			fputc('\\', out);
		fputc(*text, out);
	}
}

/* Graphviz replaces "&lt;" in a label by '<'; it leaves "& lt" and "&&" as they are. */
static bool is_entity(const char *text)
{
	size_t len =
		strspn(text + 1, "#ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789");

	return *text == '&' && len && text[1 + len] == ';';
}

static void put_label_text(const char *text, FILE *out)
{
	for (const char *end; *text; text = end) {
		end = text + 1 + strcspn(text + 1, "&");
		fprintf(out, "%s", is_entity(text) ? "&amp;" : "");
		put_escaped(text + is_entity(text), (size_t)(end - text) - is_entity(text), out);
	}
}

/* The first SHOWN characters of a UTF-8 text. */
static void put_short(const char *text, FILE *out)
{
	char shown[4 * SHOWN + 4];
	size_t used = 0;

	for (int n = 0; *text && n < SHOWN; n++) {
		shown[used++] = *text++;
		while ((*text & 0xc0) == 0x80 && used < sizeof(shown) - 1)
			shown[used++] = *text++;
	}
	shown[used] = '\0';
	put_label_text(shown, out);
	fputs(*text ? "..." : "", out);
}

static void put_markup(const char *text, FILE *out)
{
	for (; *text; text++)
		switch (*text) {
		case '&':
			fputs("&amp;", out);
			break;
		case '<':
			fputs("&lt;", out);
			break;
		case '>':
			fputs("&gt;", out);
			break;
		case '"':
			fputs("&quot;", out);
			break;
		default:
			fputc(*text, out);
		}
}

static void set(struct drawing *d, void *object, const char *name)
{
	agraph_set(d->graph, object, name, take(d));
}

/* ---- labels ---- */

/* Of a script: the command from there on, without the interpreter. */
static const char *script_of(const struct task *t)
{
	const char *at = t->label && t->program && strcmp(t->label, t->program) != 0 ? t->command : NULL;
	size_t len = at ? strlen(t->label) : 0;

	while (at && (at = strstr(at, t->label))) {
		if (at > t->command && strchr(" /", at[-1]) && strchr(" ", at[len]))
			return at;
		at++;
	}
	return NULL;
}

/* What is read best: "cc1 main.c", "clean.py raw/1.csv", "sort -u x". */
static const char *short_name(const struct task *t)
{
	if (t->label && strchr(t->label, ' '))
		return t->label;
	return t->task && strstr(t->task, " rank ") ? t->task : script_of(t);
}

/* The command without the directory of its program. */
static const char *short_command(const char *command)
{
	const char *end = command + strcspn(command, " "), *at = end;

	while (at > command && at[-1] != '/')
		at--;
	return at < end ? at : command;
}

static void put_time(struct drawing *d, int64_t ns)
{
	char text[32];

	units_time((double)ns, text, sizeof(text));
	fprintf(d->out, "\\n%s", text);
}

static void put_bytes(struct drawing *d, int64_t bytes)
{
	char text[32];

	units_bytes((double)bytes, text, sizeof(text));
	fprintf(d->out, "\\n%s", text);
}

static void put_end(struct drawing *d, const struct shape_node *n)
{
	const struct task *t = workflow_task(d->shape->workflow, n->of);

	if (n->members > 1 || !n->failed)
		fputs(n->failed ? "\\nsome failed" : "", d->out);
	else if (t->exit_signal != WORKFLOW_UNKNOWN)
		fprintf(d->out, "\\nsignal %lld", (long long)t->exit_signal);
	else
		fprintf(d->out, "\\nexit %lld", (long long)t->exit_code);
}

static void put_process_label(struct drawing *d, const struct shape_node *n)
{
	const struct task *t = workflow_task(d->shape->workflow, n->of);
	const char *text = n->label     ? n->label
			   : t->command ? t->command
			   : t->program ? t->program
					: "?";

	if (!n->label && short_name(t))
		put_short(printable_text(&d->value.clean, short_name(t)), d->out);
	else
		put_short(printable_text(&d->value.clean, n->label ? text : short_command(text)), d->out);
	if (n->parts > 1)
		fprintf(d->out, " (%d)", n->part);
	if (n->label)
		fprintf(d->out, "\\n%d processes", n->members);
	if (n->life_ns >= 0)
		put_time(d, n->life_ns);
	if (n->running)
		fputs("\\nrunning", d->out);
	put_end(d, n);
}

static void put_file_label(struct drawing *d, int32_t i)
{
	const struct shape_node *n = &d->shape->nodes[i];
	const char *name = n->label ? n->label : d->names[i];

	put_short(*name ? printable_text(&d->value.clean, name) : "?", d->out);
	if (n->parts > 1)
		fprintf(d->out, " (%d)", n->part);
	if (n->label)
		fprintf(d->out, "\\n%d files", n->members);
	if (n->size_bytes >= 0)
		put_bytes(d, n->size_bytes);
}

static void put_edge_label(struct drawing *d, const struct shape_edge *e, void *edge)
{
	char text[32];

	if (e->bytes <= 0)
		return;
	units_bytes((double)e->bytes, text, sizeof(text));
	fputs(text, d->out);
	if (e->ns > 0) {
		units_rate((double)e->bytes * 1e9 / (double)e->ns, text, sizeof(text));
		fprintf(d->out, "\\n%s", text);
	}
	set(d, edge, "label");
}

/* ---- attributes ---- */

/* For programs that read the graph. */
static void put_attributes(struct drawing *d, int32_t index, void *object,
	const struct attribute *attributes, attribute_get *get)
{
	char number[ATTRIBUTE_NUMBER_MAX];
	const char *text;

	for (int i = 0; attributes[i].name; i++) {
		if (!get(d->shape, index, i, &d->value) ||
			(attributes[i].type == ATTRIBUTE_BOOL && !d->value.number))
			continue;
		text = attribute_text(attributes[i].type, &d->value, number);
		put_escaped(text, strlen(text), d->out);
		set(d, object, attributes[i].name);
	}
}

/* ---- steps ---- */

static int compare_texts(const void *x, const void *y)
{
	return strcmp(*(const char *const *)x, *(const char *const *)y);
}

static const char *step_of(const struct shape *shape, int32_t node)
{
	const struct shape_node *n = &shape->nodes[node];

	return n->kind == NODE_PROCESS ? workflow_task(shape->workflow, n->of)->step : NULL;
}

static int list_steps(struct drawing *d)
{
	const struct shape *shape = d->shape;
	int n = 0;

	d->steps = malloc(((size_t)shape->n_nodes + 1) * sizeof(*d->steps));
	if (!d->steps)
		return -ENOMEM;
	for (int32_t i = 0; i < shape->n_nodes; i++)
		if (step_of(shape, i))
			d->steps[n++] = step_of(shape, i);
	qsort(d->steps, n, sizeof(*d->steps), compare_texts);
	for (int i = 0; i < n; i++)
		if (i == 0 || strcmp(d->steps[i], d->steps[d->n_steps - 1]) != 0)
			d->steps[d->n_steps++] = d->steps[i];
	return 0;
}

/* Text is readable on these colours.  Steps of the golden ratio make the colours of neighbours differ. */
static void put_colour(struct drawing *d, int step)
{
	double hue = step * 0.618034;

	fprintf(d->out, "%.3f %s 1.000", hue - floor(hue), step < STEPS_SHOWN ? "0.30" : "0.00");
}

static int find_step(const struct drawing *d, const char *step)
{
	const char **found = step ? bsearch(&step, d->steps, d->n_steps, sizeof(*d->steps), compare_texts) : NULL;

	return found ? (int)(found - d->steps) : INT_MAX;
}

/* Colours of the caller may be dark, so they are made transparent. */
static void put_fill(struct drawing *d, const char *step)
{
	if (d->options->colour)
		fprintf(d->out, "%s%s", d->options->colour(d->options->colours, step), DOT_PALE);
	else
		put_colour(d, find_step(d, step));
}

/* ---- nodes ---- */

static void put_process(struct drawing *d, int32_t i, void *node)
{
	const struct shape_node *n = &d->shape->nodes[i];
	const char *step = step_of(d->shape, i);

	put_process_label(d, n);
	set(d, node, "label");
	if (step) {
		agraph_set(d->graph, node, "style", "filled");
		put_fill(d, step);
		set(d, node, "fillcolor");
	}
	if (n->failed) {
		agraph_set(d->graph, node, "peripheries", "2");
		agraph_set(d->graph, node, "fontcolor", "darkred");
	}
	if (n->label)
		agraph_set(d->graph, node, "shape", "doubleoctagon");
}

static void put_file(struct drawing *d, int32_t i, void *node)
{
	put_file_label(d, i);
	set(d, node, "label");
	agraph_set(d->graph, node, "shape", d->shape->nodes[i].label ? "folder" : "box");
}

static void put_missing(struct drawing *d, int32_t i, void *node)
{
	put_short(printable_text(&d->value.clean, d->names[i]), d->out);
	fputs("\\nnot there", d->out);
	set(d, node, "label");
	agraph_set(d->graph, node, "shape", "box");
	agraph_set(d->graph, node, "style", "dashed");
	agraph_set(d->graph, node, "color", "gray");
	agraph_set(d->graph, node, "fontcolor", "gray40");
}

static void put_node(struct drawing *d, int32_t i)
{
	const struct shape_node *n = &d->shape->nodes[i];
	void *node = d->nodes[i] = agraph_node(d->graph, n->id);

	fprintf(d->out, "%s%s", d->ids, n->id);
	set(d, node, "id");
	if (n->kind == NODE_PROCESS)
		put_process(d, i, node);
	else if (n->kind == NODE_FILE)
		put_file(d, i, node);
	else
		put_missing(d, i, node);
	if (n->critical) {
		agraph_set(d->graph, node, "color", "red");
		agraph_set(d->graph, node, "penwidth", "2");
	}
	put_attributes(d, i, node, attributes_of_nodes, attribute_of_node);
}

/* ---- edges ---- */

static const char *arrowhead(const struct shape_edge *edge)
{
	enum dot_sign sign = dot_sign_of(edge);

	return sign == DOT_SIGN_STARTED  ? "empty"
	       : sign >= DOT_SIGN_ARROWS ? dot_sign_words[sign].sign
					 : "none";
}

static double weight_of(const struct drawing *d, const struct shape_edge *e)
{
	switch (d->options->width) {
	case DOT_WIDTH_BYTES:
		return e->bytes > 0 ? (double)e->bytes : 0;
	case DOT_WIDTH_RATE:
		return e->bytes > 0 && e->ns > 0 ? (double)e->bytes / (double)e->ns : 0;
	case DOT_WIDTH_TIME:
		return e->ns > 0 ? (double)e->ns : 0;
	default:
		return 0;
	}
}

static void put_style(struct drawing *d, const struct shape_edge *e, void *edge)
{
	if (!shape_is_flow(e))
		agraph_set(d->graph, edge, "style", e->kinds & EDGE_NEXT ? "bold" : "dotted");
	else if (e->assumed)
		agraph_set(d->graph, edge, "style", "dashed");
	if (e->critical || e->feedback)
		agraph_set(d->graph, edge, "color", e->critical ? "red" : "blue");
	else if (!shape_is_flow(e) && !(e->kinds & EDGE_NEXT) && e->kinds & EDGE_SEARCH)
		agraph_set(d->graph, edge, "color", "gray");
	if (e->slow)
		agraph_set(d->graph, edge, "fontcolor", "darkorange3");
	if (e->read_back)
		agraph_set(d->graph, edge, "dir", "both");
}

static void put_edge(struct drawing *d, int32_t i)
{
	const struct shape_edge *e = &d->shape->edges[i];
	void *edge = agraph_edge(d->graph, d->nodes[e->from], d->nodes[e->to]);
	double weight = weight_of(d, e);

	agraph_set(d->graph, edge, "arrowhead", arrowhead(e));
	if (*d->ids) {
		fprintf(d->out, "%se%d", d->ids, i);
		set(d, edge, "id");
	}
	put_style(d, e, edge);
	put_edge_label(d, e, edge);
	if (weight > 0 && d->most > 0) {
		fprintf(d->out, "%.2f", 1 + 5 * sqrt(weight / d->most));
		set(d, edge, "penwidth");
	} else if (e->critical) {
		agraph_set(d->graph, edge, "penwidth", "2");
	}
	put_attributes(d, i, edge, attributes_of_edges, attribute_of_edge);
}

/* ---- frames ---- */

struct member {
	const char *key;
	int32_t node;
};

static int compare_members(const void *x, const void *y)
{
	const struct member *a = x, *b = y;
	int order = strcmp(a->key, b->key);

	return order ? order : (a->node > b->node) - (a->node < b->node);
}

/* The processes that belong into frames, sorted by frame.  Returns their number, or -errno. */
static int32_t list_members(const struct drawing *d, struct member **ret_members)
{
	const struct shape *shape = d->shape;
	struct member *members = malloc(((size_t)shape->n_nodes + 1) * sizeof(*members));
	int32_t n = 0;

	*ret_members = members;
	if (!members)
		return -ENOMEM;
	for (int32_t i = 0; i < shape->n_nodes; i++) {
		const struct task *t = shape->nodes[i].kind == NODE_PROCESS
					       ? workflow_task(shape->workflow, shape->nodes[i].of)
					       : NULL;
		const char *key = !t                                       ? NULL
				  : d->options->cluster == DOT_CLUSTER_JOB ? t->job
									   : t->phase;

		if (key)
			members[n++] = (struct member){ key, i };
	}
	qsort(members, n, sizeof(*members), compare_members);
	return n;
}

static void *put_frame(struct drawing *d, int32_t number, const char *key)
{
	char name[32];
	void *frame;

	snprintf(name, sizeof(name), "cluster_%d", number);
	frame = agraph_frame(d->graph, name);
	agraph_set(d->graph, frame, "style", "rounded");
	agraph_set(d->graph, frame, "color", "gray");
	fputs(d->options->cluster == DOT_CLUSTER_JOB ? "job " : "", d->out);
	put_short(printable_text(&d->value.clean, key), d->out);
	set(d, frame, "label");
	return frame;
}

static int put_frames(struct drawing *d)
{
	struct member *members = NULL;
	int32_t n = d->options->cluster ? list_members(d, &members) : 0;

	for (int32_t i = 0, number = 0; i < n; number++) {
		const char *key = members[i].key;
		void *frame = put_frame(d, number, key);

		for (; i < n && strcmp(members[i].key, key) == 0; i++)
			agraph_put_into(frame, d->nodes[members[i].node]);
	}
	free(members);
	return n < 0 ? n : 0;
}

/* ---- legend ---- */

/* One row, "open: read, box: execute", with the arrowheads that the picture has. */
static void put_arrows(struct drawing *d, const bool *there)
{
	const char *between = "";

	fputs("<TR><TD ALIGN=\"LEFT\">arrowheads</TD><TD ALIGN=\"LEFT\">", d->out);
	for (int i = DOT_SIGN_ARROWS; i < DOT_SIGN_COLOURS; i++)
		if (there[i]) {
			fprintf(d->out, "%s%s: %s", between, dot_sign_words[i].sign,
				dot_sign_words[i].meaning);
			between = ", ";
		}
	fputs("</TD></TR>", d->out);
}

static void put_legend(struct drawing *d)
{
	bool there[DOT_SIGN_MAX];

	dot_signs(d->shape, there);
	for (int i = 0; i < DOT_SIGN_MAX; i++) {
		const struct dot_sign_words *w = &dot_sign_words[i];

		if (i == DOT_SIGN_ARROWS && there[DOT_SIGN_DATA])
			put_arrows(d, there);
		if (!there[i] || (i >= DOT_SIGN_ARROWS && i < DOT_SIGN_COLOURS))
			continue;
		fputs("<TR><TD ALIGN=\"LEFT\">", d->out);
		fprintf(d->out, w->colour ? "<FONT COLOR=\"%s\">%s</FONT>" : "%s%s",
			w->colour ? w->colour : "", w->sign);
		fprintf(d->out, "</TD><TD ALIGN=\"LEFT\">%s</TD></TR>", w->meaning);
	}
}

static bool is_coloured(const struct drawing *d, const char *step)
{
	const struct dot_options *o = d->options;

	return o->colour ? strcmp(o->colour(o->colours, step), o->colour(o->colours, NULL)) != 0 : find_step(d, step) < STEPS_SHOWN;
}

static void put_cell(struct drawing *d, int number, const char *step, const char *text)
{
	fputs(number && number % 6 == 0 ? "</TR><TR><TD BGCOLOR=\"" : "<TD BGCOLOR=\"", d->out);
	put_fill(d, step);
	fputs("\">", d->out);
	put_markup(printable_text(&d->value.clean, text), d->out);
	fputs("</TD>", d->out);
}

static void put_steps(struct drawing *d)
{
	bool others = false;
	int shown = 0;

	if (d->n_steps == 0)
		return;
	fputs("<TR><TD ALIGN=\"LEFT\">steps</TD><TD ALIGN=\"LEFT\"><TABLE BORDER=\"0\" "
	      "CELLSPACING=\"2\"><TR>",
		d->out);
	for (int i = 0; i < d->n_steps; i++)
		if (is_coloured(d, d->steps[i]))
			put_cell(d, shown++, d->steps[i], d->steps[i]);
		else
			others = true;
	if (others)
		put_cell(d, shown, NULL, "other steps");
	fputs("</TR></TABLE></TD></TR>", d->out);
}

static void put_label(struct drawing *d)
{
	if (d->options->no_legend && d->shape->folded == 0)
		return;
	agraph_default(d->graph, AGRAPH_GRAPH, "labelloc", "b");
	agraph_default(d->graph, AGRAPH_GRAPH, "labeljust", "l");
	agraph_default(d->graph, AGRAPH_GRAPH, "fontsize", "10");
	fputs("<TABLE BORDER=\"0\" CELLSPACING=\"0\">", d->out);
	if (d->shape->folded)
		fprintf(d->out,
			"<TR><TD ALIGN=\"LEFT\" COLSPAN=\"2\"><B>%d nodes folded</B></TD></TR>",
			d->shape->folded);
	if (!d->options->no_legend) {
		put_legend(d);
		put_steps(d);
	}
	fputs("</TABLE>", d->out);
	agraph_set_html(d->graph, agraph_whole(d->graph), "label", take(d));
}

/* ---- the whole ---- */

static bool has_files(const struct shape *shape)
{
	for (int32_t i = 0; i < shape->n_nodes; i++)
		if (shape->nodes[i].kind != NODE_PROCESS)
			return true;
	return false;
}

/* Names are wide: where many nodes stand side by side, the ranks go from left to right. */
static void put_defaults(struct drawing *d)
{
	static const struct {
		enum agraph_kind kind;
		const char *name, *value;
	} defaults[] = {
		{ AGRAPH_GRAPH, "fontname", "Helvetica" },
		{ AGRAPH_NODE, "fontname", "Helvetica" },
		{ AGRAPH_NODE, "fontsize", "10" },
		{ AGRAPH_NODE, "shape", "ellipse" },
		{ AGRAPH_EDGE, "fontname", "Helvetica" },
		{ AGRAPH_EDGE, "fontsize", "8" },
	};
	bool is_tall = d->shape->n_nodes > TALL || !has_files(d->shape);

	for (size_t i = 0; i < sizeof(defaults) / sizeof(defaults[0]); i++)
		agraph_default(d->graph, defaults[i].kind, defaults[i].name, defaults[i].value);
	agraph_default(d->graph, AGRAPH_GRAPH, "rankdir", is_tall ? "LR" : "TB");
	if (is_tall)
		agraph_default(d->graph, AGRAPH_GRAPH, "nodesep", "0.1");
	if (*d->ids) {
		fprintf(d->out, "%sgraph", d->ids);
		agraph_default(d->graph, AGRAPH_GRAPH, "id", take(d));
	}
}

/* Declared before the first object: libcgraph adds an attribute to each object that exists. */
static void declare(struct agraph *graph, enum agraph_kind kind, const struct attribute *attributes)
{
	for (int i = 0; attributes[i].name; i++)
		agraph_default(graph, kind, attributes[i].name, "");
}

static int put_all(struct drawing *d)
{
	int r = list_steps(d);

	d->names = calloc((size_t)d->shape->n_nodes + 1, sizeof(*d->names));
	r = r == 0 && !d->names ? -ENOMEM : r;
	if (r == 0)
		r = shape_short_names(d->shape, d->names);
	if (r < 0)
		return r;
	put_defaults(d);
	put_label(d);
	declare(d->graph, AGRAPH_NODE, attributes_of_nodes);
	declare(d->graph, AGRAPH_EDGE, attributes_of_edges);
	for (int32_t i = 0; i < d->shape->n_nodes; i++)
		put_node(d, i);
	for (int32_t i = 0; i < d->shape->n_edges; i++)
		d->most = fmax(d->most, weight_of(d, &d->shape->edges[i]));
	for (int32_t i = 0; i < d->shape->n_edges; i++)
		put_edge(d, i);
	r = put_frames(d);
	return r < 0 || (!d->value.clean.failed && !ferror(d->out)) ? r : -ENOMEM;
}

/* Runs in a child process, whose end frees the memory. */
static int draw(struct agraph *graph, void *arg)
{
	struct drawing *d = arg;

	d->graph = graph;
	d->nodes = calloc((size_t)d->shape->n_nodes + 1, sizeof(*d->nodes));
	d->out = open_memstream(&d->text, &d->size);
	if (!d->nodes || !d->out)
		return -ENOMEM;
	__fsetlocking(d->out, FSETLOCKING_BYCALLER);
	return put_all(d);
}

int dot_write(const struct shape *shape, const struct dot_options *options, FILE *out)
{
	struct drawing d = {
		.shape = shape, .options = options, .ids = options->ids ? options->ids : ""
	};

	return agraph_write("workflow", draw, &d, out);
}
