/* SPDX-License-Identifier: MIT */
#include "dag/output/aquery.h"

#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/output.h"
#include "dag/output/json.h"

#define MOST_PARTS 1000 /* of a path; there may be a circle */

/* Members that are added to those of the document. */
#define PATH " path" /* of an artifact */
#define SEEN " seen" /* of a set: the last action that had it */

struct graph {
	json_t *artifacts, *sets, *fragments; /* by id */
	json_t *middlemen;		      /* by the ids of their outputs */
	aquery_edge *edge;
	void *arg;
};

struct id {
	char text[24];
};

/* A number, or a text in old versions; "": none. */
static struct id id_of(const json_t *value)
{
	struct id id = { "" };

	if (json_is_string(value))
		snprintf(id.text, sizeof(id.text), "%s", json_string_value(value));
	else if (json_is_integer(value))
		snprintf(id.text, sizeof(id.text), "%lld", (long long)json_integer_value(value));
	return id;
}

static json_t *find(const json_t *by_id, const json_t *id)
{
	const struct id key = id_of(id);

	return *key.text ? json_object_get(by_id, key.text) : NULL;
}

/* The members of a list of the document, by their ids; a new reference. */
static json_t *index_of(const json_t *document, const char *list)
{
	json_t *by_id = json_object(), *one;
	size_t i;

	json_array_foreach(json_object_get(document, list), i, one)
		json_object_set(by_id, id_of(json_object_get(one, "id")).text, one);
	return by_id;
}

static json_t *index_middlemen(const json_t *actions)
{
	json_t *by_id = json_object(), *action, *id;
	size_t i, j;

	json_array_foreach(actions, i, action) {
		const char *kind = json_string_value(json_object_get(action, "mnemonic"));

		if (!kind || strcmp(kind, "Middleman") != 0)
			continue;
		json_array_foreach(json_object_get(action, "outputIds"), j, id)
			json_object_set(by_id, id_of(id).text, action);
	}
	return by_id;
}

/* ---- paths ---- */

/* The parts of a path, each of which says which one is above it; a new reference, NULL: no such path, or out of memory. */
static json_t *join(const struct graph *g, const json_t *id)
{
	const char *parts[MOST_PARTS];
	char *text = NULL;
	size_t size, n = 0;
	json_t *joined, *fragment;
	FILE *out;

	for (fragment = find(g->fragments, id); fragment && n < MOST_PARTS; fragment = find(g->fragments, json_object_get(fragment, "parentId")))
		if ((parts[n] = json_string_value(json_object_get(fragment, "label"))))
			n++;
		else
			return NULL;
	if (n == 0 || n == MOST_PARTS || !(out = open_memstream(&text, &size)))
		return NULL;
	while (n-- > 0)
		fprintf(out, "%s%s", parts[n], n ? "/" : "");
	text = output_close_text(out, &text);
	joined = text ? json_string(text) : NULL;
	free(text);
	return joined;
}

/* NULL: it has none. */
static const char *path_of(const struct graph *g, const json_t *id)
{
	json_t *artifact = find(g->artifacts, id), *path = json_object_get(artifact, "execPath");

	if (!json_is_string(path))
		path = json_object_get(artifact, PATH);
	if (!path && artifact && (path = join(g, json_object_get(artifact, "pathFragmentId"))))
		json_object_set_new(artifact, PATH, path);
	return json_string_value(path);
}

/* ---- actions ---- */

static int put_edges(const struct graph *g, const json_t *action, const char *input)
{
	const json_t *id;
	size_t i;
	int r = 0;

	json_array_foreach(json_object_get(action, "outputIds"), i, id) {
		const char *output = path_of(g, id);

		if (output && r >= 0)
			r = g->edge(g->arg, output, input);
	}
	return r < 0 ? r : 0;
}

static int put_direct(const struct graph *g, const json_t *action, const json_t *set, json_t *left)
{
	const json_t *id;
	size_t i;
	int r = 0;

	json_array_foreach(json_object_get(set, "directArtifactIds"), i, id) {
		const json_t *middleman = find(g->middlemen, id);
		const char *input = middleman ? NULL : path_of(g, id);

		json_array_extend(left, json_object_get(middleman, "inputDepSetIds"));
		if (input && r == 0)
			r = put_edges(g, action, input);
	}
	return r;
}

static int put_outputs(const struct graph *g, const json_t *action)
{
	const char *first = NULL;
	const json_t *id;
	size_t i;
	int r = 0;

	json_array_foreach(json_object_get(action, "outputIds"), i, id) {
		const char *output = path_of(g, id);

		if (output && r >= 0)
			r = g->edge(g->arg, output, first ? first : "");
		first = first ? first : output;
	}
	return r < 0 ? r : 0;
}

/* All inputs: left has the sets that are still to be looked at. */
static int put_inputs(const struct graph *g, const json_t *action, size_t number, json_t *left)
{
	int r = 0;

	while (r == 0 && json_array_size(left)) {
		size_t last = json_array_size(left) - 1;
		json_t *set = find(g->sets, json_array_get(left, last)), *seen = json_object_get(set, SEEN);

		json_array_remove(left, last);
		if (!set || (seen && (size_t)json_integer_value(seen) == number))
			continue;
		json_object_set_new(set, SEEN, json_integer((json_int_t)number));
		r = put_direct(g, action, set, left);
		json_array_extend(left, json_object_get(set, "transitiveDepSetIds"));
	}
	return r;
}

static int put_actions(const struct graph *g, const json_t *actions)
{
	const json_t *action;
	size_t i;
	int r = 0;

	json_array_foreach(actions, i, action) {
		const char *kind = json_string_value(json_object_get(action, "mnemonic"));
		json_t *left = json_array();

		if (r == 0 && (!kind || strcmp(kind, "Middleman") != 0)) {
			json_array_extend(left, json_object_get(action, "inputDepSetIds"));
			r = put_outputs(g, action);
			if (r == 0)
				r = put_inputs(g, action, i, left);
		}
		json_decref(left);
	}
	return r;
}

/* ---- the whole ---- */

int aquery_read(FILE *in, aquery_edge *edge, void *arg)
{
	json_t *document = json_loadf(in, 0, NULL), *actions = json_object_get(document, "actions");
	struct graph g = { .edge = edge, .arg = arg };
	int r = json_is_array(actions) && json_is_array(json_object_get(document, "artifacts")) ? 0 : -EPROTO;

	if (r == 0) {
		g.artifacts = index_of(document, "artifacts");
		g.sets = index_of(document, "depSetOfFiles");
		g.fragments = index_of(document, "pathFragments");
		g.middlemen = index_middlemen(actions);
		r = put_actions(&g, actions);
	}
	json_decref(g.artifacts);
	json_decref(g.sets);
	json_decref(g.fragments);
	json_decref(g.middlemen);
	json_decref(document);
	return json_memory_failed() ? -ENOMEM : r;
}
