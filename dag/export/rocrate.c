/* SPDX-License-Identifier: MIT */
#include "dag/export/export.h"

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "dag/container/path_names.h"
#include "dag/export/roles.h"
#include "dag/graph/critical.h"
#include "dag/output/json.h"
#include "dag/output/printable.h"

#define CRATE "https://w3id.org/ro/crate/1.1"
#define PROFILE "https://w3id.org/ro/wfrun/process/0.5"

#define ID_MAX 64

/* What a process used or made, by the number of the file's id. */
struct use {
	int32_t process, id; /* index; in ids */
	enum role role;
};

struct writing {
	const struct workflow *workflow;
	const struct shape *shape;
	FILE *out;
	struct path_names *ids;	 /* of files, then of all else that has been written */
	int32_t *id_of;		 /* of each file that is shown: its number in ids */
	bool *is_shown;		 /* of each process */
	struct use *uses;	 /* in order */
	int32_t n_uses;
	struct printable clean;
	json_t *parts, *mentions; /* of the whole */
	json_t *files;
	int r;
};

static json_t *text(struct writing *w, const char *bytes)
{
	return json_string(printable_text(&w->clean, bytes));
}

static json_t *reference(const char *id)
{
	return json_pack("{s:s}", "@id", id);
}

/* Takes the reference to the entity. */
static void put(struct writing *w, json_t *entity)
{
	fputs(",\n", w->out);
	if (!entity)
		w->r = -ENOMEM;
	else if (json_dumpf(entity, w->out, JSON_COMPACT) != 0)
		w->r = ferror(w->out) ? -EIO : -ENOMEM;
	json_decref(entity);
}

/* The number of an id that is new, or -1. */
static int32_t take_id(struct writing *w, const char *id)
{
	const int32_t n = path_names_count(w->ids), number = path_names_add(w->ids, id, strlen(id));

	w->r = number < 0 ? -ENOMEM : w->r;
	return number == n ? number : -1;
}

static const char *id_of(const struct writing *w, int32_t number)
{
	return path_names_text(w->ids, number);
}

/* ---- files ---- */

static bool is_directory(const struct data *data)
{
	return data->kind && strcmp(data->kind, "dir") == 0;
}

/* What lies below the directory of the run is a part of the crate under its relative name, else it has a URI.  What is not there any
 * more, and what has no place, has a name of its own. */
static char *file_id(const struct writing *w, int32_t file, bool *ret_is_there)
{
	const struct data *data = workflow_data(w->workflow, file);
	const char *cwd = w->workflow->cwd;
	const bool is_below = data->path && cwd && path_names_is_below(cwd, data->path) && strcmp(cwd, data->path) != 0;
	json_t *uri;
	char *id = NULL;

	*ret_is_there = data->path && *data->path == '/' && !data->deleted && !data_is_placeless(data) && !data_is_pipe(data);
	if (!*ret_is_there)
		return asprintf(&id, "#f%" PRId64, w->workflow->graph->files[file].id) < 0 ? NULL : id;
	uri = json_uri(is_below ? data->path + strlen(cwd) + (strcmp(cwd, "/") != 0) : data->path);
	if (!uri || asprintf(&id, "%s%s%s", is_below ? "" : "file://", json_string_value(uri), is_directory(data) ? "/" : "") < 0)
		id = NULL;
	json_decref(uri);
	return id;
}

static json_t *file_entity(struct writing *w, const char *id, const struct data *data, int64_t size_bytes, bool is_there)
{
	json_t *entity = json_pack("{s:s,s:s,s:o}", "@id", id, "@type",
		!is_there ? "CreativeWork" : is_directory(data) ? "Dataset" : "File", "name",
		text(w, data->path ? data->path : data->kind ? data->kind : "?"));
	char size[ID_MAX];

	if (is_there && size_bytes >= 0 && !is_directory(data)) {
		snprintf(size, sizeof(size), "%" PRId64, size_bytes);
		json_object_set_new(entity, "contentSize", json_string(size));
	}
	if (data->deleted)
		json_object_set_new(entity, "description", json_string("removed in the run"));
	return entity;
}

/* Several versions of a file, and several files that had one name, are one. */
static void take_file(struct writing *w, int32_t node)
{
	const int32_t file = w->shape->nodes[node].of;
	const struct data *data = workflow_data(w->workflow, file);
	const int64_t size_bytes = data->size_bytes == WORKFLOW_UNKNOWN ? -1 : data->size_bytes;
	bool is_there;
	cleanup_free char *id = file_id(w, file, &is_there);

	if (!id) {
		w->r = -ENOMEM;
		return;
	}
	if (take_id(w, id) >= 0) {
		json_array_append_new(w->files, file_entity(w, id, data, size_bytes, is_there));
		if (is_there)
			json_array_append_new(w->parts, reference(id));
	}
	w->id_of[file] = path_names_find(w->ids, id, strlen(id));
}

/* ---- uses ---- */

static int compare_uses(const void *x, const void *y)
{
	const struct use *a = x, *b = y;

	if (a->process != b->process)
		return a->process < b->process ? -1 : 1;
	if (a->role != b->role)
		return a->role < b->role ? -1 : 1;
	return (a->id > b->id) - (a->id < b->id);
}

static void list_uses(struct writing *w)
{
	const struct shape *shape = w->shape;

	for (int32_t i = 0; i < shape->n_edges; i++) {
		const struct roles roles = roles_of(shape, &shape->edges[i]);

		for (int role = ROLE_USED; role <= ROLE_MADE; role *= 2)
			if (roles.roles & role)
				w->uses[w->n_uses++] = (struct use){ shape->nodes[roles.process].of,
					w->id_of[shape->nodes[roles.file].of], (enum role)role };
	}
	if (w->n_uses)
		qsort(w->uses, (size_t)w->n_uses, sizeof(*w->uses), compare_uses);
}

/* The files of a process, from the use *at on, behind which it leaves *at. */
static json_t *files_of(const struct writing *w, int32_t process, enum role role, int32_t *at)
{
	json_t *files = json_array();
	int32_t last = -1;

	for (; *at < w->n_uses && w->uses[*at].process == process && w->uses[*at].role == role; ++*at) {
		if (w->uses[*at].id != last)
			json_array_append_new(files, reference(id_of(w, w->uses[*at].id)));
		last = w->uses[*at].id;
	}
	return files;
}

/* ---- processes ---- */

/* Programs are named in the crate by their paths: "#/usr/bin/sort". */
static json_t *put_program(struct writing *w, const struct task *task)
{
	const char *exe = task->exe ? task->exe : task->program ? task->program : "?";
	json_t *uri = json_uri(exe), *id = uri ? json_sprintf("#%s", json_string_value(uri)) : NULL, *found = NULL;

	json_decref(uri);
	if (id && take_id(w, json_string_value(id)) >= 0)
		put(w, json_pack("{s:O,s:s,s:o,s:o}", "@id", id, "@type", "SoftwareApplication", "name", text(w, path_names_base(exe)),
			       "identifier", text(w, exe)));
	if (id)
		found = reference(json_string_value(id));
	json_decref(id);
	return found;
}

static json_t *put_user(struct writing *w, int64_t uid)
{
	char id[ID_MAX], name[ID_MAX];

	snprintf(id, sizeof(id), "#u%" PRId64, uid);
	snprintf(name, sizeof(name), "user %" PRId64, uid);
	if (take_id(w, id) >= 0)
		put(w, json_pack("{s:s,s:s,s:s}", "@id", id, "@type", "Person", "name", name));
	return reference(id);
}

static void set_status(json_t *action, const struct workflow *w, int32_t process)
{
	const struct task *task = workflow_task(w, process);
	const bool is_killed = task->exit_signal != WORKFLOW_UNKNOWN, has_failed = is_killed || (task->exit_code != WORKFLOW_UNKNOWN && task->exit_code != 0);
	char error[ID_MAX];

	if (w->graph->processes[process].end_ns == GRAPH_NEVER)
		json_object_set_new(action, "actionStatus", json_string("http://schema.org/ActiveActionStatus"));
	else if (has_failed)
		json_object_set_new(action, "actionStatus", json_string("http://schema.org/FailedActionStatus"));
	else if (task->exit_code == 0)
		json_object_set_new(action, "actionStatus", json_string("http://schema.org/CompletedActionStatus"));
	if (!has_failed)
		return;
	snprintf(error, sizeof(error), is_killed ? "signal %" PRId64 : "exit status %" PRId64, is_killed ? task->exit_signal : task->exit_code);
	json_object_set_new(action, "error", json_string(error));
}

static void set_files(json_t *action, const char *name, json_t *files)
{
	if (json_array_size(files))
		json_object_set(action, name, files);
	json_decref(files);
}

static void put_action(struct writing *w, int32_t process, int32_t *at)
{
	const struct graph_process *p = &w->workflow->graph->processes[process];
	const struct task *task = workflow_task(w->workflow, process);
	json_t *used = files_of(w, process, ROLE_USED, at), *made = files_of(w, process, ROLE_MADE, at), *action;
	char id[ID_MAX];

	snprintf(id, sizeof(id), "#p%" PRId64, p->id);
	action = json_pack("{s:s,s:s,s:o,s:o*,s:o,s:o*,s:o*}", "@id", id, "@type", json_array_size(made) ? "CreateAction" : "ActivateAction", "name",
		text(w, task->program ? task->program : "?"), "description", task->command ? text(w, task->command) : NULL, "instrument",
		put_program(w, task), "startTime", json_time(critical_begin(w->workflow, process), true), "endTime",
		p->end_ns == GRAPH_NEVER ? NULL : json_time(p->end_ns, true));
	if (task->uid != WORKFLOW_UNKNOWN)
		json_object_set_new(action, "agent", put_user(w, task->uid));
	set_files(action, "object", used);
	set_files(action, "result", made);
	set_status(action, w->workflow, process);
	put(w, action);
}

static void put_actions(struct writing *w)
{
	int32_t at = 0;

	for (int32_t i = 0; i < w->workflow->graph->n_processes && w->r == 0; i++)
		if (w->is_shown[i])
			put_action(w, i, &at);
}

/* ---- the whole ---- */

static void put_root(struct writing *w)
{
	const char *command = w->workflow->command ? w->workflow->command : "processes";

	put(w, json_pack("{s:s,s:s,s:o,s:s,s:o*,s:o,s:o,s:O,s:O}", "@id", "./", "@type", "Dataset", "name", text(w, command), "description",
		       "What these processes read and wrote, as ftrac has recorded it.", "datePublished", json_time(w->workflow->end_ns, false),
		       "license", reference("#license"), "conformsTo", reference(PROFILE), "hasPart", w->parts, "mentions", w->mentions));
	put(w, json_pack("{s:s,s:s,s:s,s:s}", "@id", "#license", "@type", "CreativeWork", "name", "No license is stated", "description",
		       "A trace does not tell what others may do with these files: name their license here."));
	put(w, json_pack("{s:s,s:s,s:s,s:s}", "@id", PROFILE, "@type", "CreativeWork", "name", "Process Run Crate", "version", "0.5"));
}

static void put_files(struct writing *w)
{
	json_t *file;
	size_t i;

	json_array_foreach(w->files, i, file)
		put(w, json_incref(file));
}

static void gather(struct writing *w)
{
	char id[ID_MAX];

	for (int32_t i = 0; i < w->shape->n_nodes && w->r == 0; i++) {
		const struct shape_node *n = &w->shape->nodes[i];

		if (n->kind == NODE_FILE)
			take_file(w, i);
		else if (n->kind == NODE_PROCESS)
			w->is_shown[n->of] = true;
	}
	for (int32_t i = 0; i < w->workflow->graph->n_processes; i++) {
		snprintf(id, sizeof(id), "#p%" PRId64, w->workflow->graph->processes[i].id);
		if (w->is_shown[i])
			json_array_append_new(w->mentions, reference(id));
	}
	list_uses(w);
}

static int begin(struct writing *w)
{
	const struct graph *g = w->workflow->graph;

	w->ids = path_names_create();
	w->id_of = calloc((size_t)g->n_files + 1, sizeof(*w->id_of));
	w->is_shown = calloc((size_t)g->n_processes + 1, sizeof(*w->is_shown));
	w->uses = calloc(2 * (size_t)w->shape->n_edges + 1, sizeof(*w->uses));
	w->parts = json_array();
	w->mentions = json_array();
	w->files = json_array();
	return w->ids && w->id_of && w->is_shown && w->uses && w->parts && w->mentions && w->files ? 0 : -ENOMEM;
}

static void finish(struct writing *w)
{
	path_names_destroy(w->ids);
	printable_finish(&w->clean);
	free(w->id_of);
	free(w->is_shown);
	free(w->uses);
	json_decref(w->parts);
	json_decref(w->mentions);
	json_decref(w->files);
}

int export_rocrate(const struct shape *shape, FILE *out)
{
	struct writing w = { .workflow = shape->workflow, .shape = shape, .out = out };
	int r;

	w.r = begin(&w);
	if (w.r == 0)
		gather(&w);
	if (w.r == 0) {
		fputs("{\"@context\":[\"" CRATE "/context\",\"https://w3id.org/ro/terms/workflow-run/context\"],\"@graph\":[\n"
		      "{\"@id\":\"ro-crate-metadata.json\",\"@type\":\"CreativeWork\",\"conformsTo\":{\"@id\":\"" CRATE "\"},"
		      "\"about\":{\"@id\":\"./\"}}",
			out);
		put_root(&w);
		put_files(&w);
		put_actions(&w);
		fputs("\n]}\n", out);
	}
	r = w.clean.failed || json_memory_failed() ? -ENOMEM : w.r;
	finish(&w);
	return r < 0 ? r : ferror(out) || fflush(out) != 0 ? -EIO : 0;
}
