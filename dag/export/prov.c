/* SPDX-License-Identifier: MIT */
#include "dag/export/export.h"

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "dag/export/roles.h"
#include "dag/output/json.h"
#include "dag/shape/attributes.h"

#define NAMESPACE "https://example.org/ftrac/prov/v1#"
#define RUN "https://example.org/ftrac/run/%" PRId64 "#"

#define ID_MAX 64

struct writing {
	const struct shape *shape;
	FILE *out;
	struct attribute_value value;
	bool is_first; /* in its section */
	int r;
};

static const char *const types[] = { [ATTRIBUTE_TEXT] = "xsd:string",
	[ATTRIBUTE_INT] = "xsd:long",
	[ATTRIBUTE_REAL] = "xsd:double",
	[ATTRIBUTE_BOOL] = "xsd:boolean" };

/* ---- members of objects ---- */

static void begin_section(struct writing *w, const char *name)
{
	fprintf(w->out, ",\n\"%s\":{", name);
	w->is_first = true;
}

static void end_section(struct writing *w)
{
	fputs("\n}", w->out);
}

/* Takes the reference to the record. */
static void put(struct writing *w, const char *id, json_t *record)
{
	fprintf(w->out, "%s\n\"%s\":", w->is_first ? "" : ",", id);
	w->is_first = false;
	if (!record)
		w->r = -ENOMEM;
	else if (json_dumpf(record, w->out, JSON_COMPACT) != 0)
		w->r = ferror(w->out) ? -EIO : -ENOMEM;
	json_decref(record);
}

static json_t *typed(const char *text, const char *type)
{
	return json_pack("{s:s,s:s}", "$", text, "type", type);
}

static void set_type(json_t *record, const char *type)
{
	json_object_set_new(record, "prov:type", typed(type, "prov:QUALIFIED_NAME"));
}

/* What is known of a node or an edge, with its types. */
static void set_attributes(struct writing *w, json_t *record, int32_t index, const struct attribute *attributes, attribute_get *get)
{
	char name[64], number[ATTRIBUTE_NUMBER_MAX];

	for (int i = 0; attributes[i].name; i++) {
		if (!get(w->shape, index, i, &w->value))
			continue;
		snprintf(name, sizeof(name), "ftrac:%s", attributes[i].name);
		json_object_set_new(record, name, typed(attribute_text(attributes[i].type, &w->value, number), types[attributes[i].type]));
	}
}

/* What has no date is left out. */
static void set_time(json_t *record, const char *name, int64_t ns)
{
	json_t *time = ns == GRAPH_NEVER ? NULL : json_time(ns, true);

	if (time)
		json_object_set_new(record, name, time);
}

/* ---- nodes ---- */

static void put_node(struct writing *w, int32_t i)
{
	const struct shape_node *n = &w->shape->nodes[i];
	json_t *record = json_pack("{s:s}", "prov:label", attribute_name(w->shape, i, &w->value));
	char id[ID_MAX];

	if (n->kind == NODE_PROCESS) {
		set_time(record, "prov:startTime", n->begin_ns);
		set_time(record, "prov:endTime", n->end_ns);
	} else if (n->members > 1) {
		set_type(record, "prov:Collection");
	}
	set_attributes(w, record, i, attributes_of_nodes, attribute_of_node);
	snprintf(id, sizeof(id), "run:%s", n->id);
	put(w, id, record);
}

static void put_nodes(struct writing *w, enum node_kind kind, const char *section)
{
	begin_section(w, section);
	for (int32_t i = 0; i < w->shape->n_nodes; i++)
		if (w->shape->nodes[i].kind == kind)
			put_node(w, i);
	end_section(w);
}

/* ---- relations ---- */

/* What edges are.  role: of those between a file, which is the first, and a process; else of those between nodes of one kind. */
struct relation {
	const char *section, *first, *second;
	char letter; /* of its ids, which are those of edges */
	enum role role;
	enum node_kind kind;
	const char *type;
};

static const struct relation relations[] = {
	{ "used", "prov:entity", "prov:activity", 'u', ROLE_USED, NODE_FILE, NULL },
	{ "wasGeneratedBy", "prov:entity", "prov:activity", 'g', ROLE_MADE, NODE_FILE, NULL },
	{ "wasInvalidatedBy", "prov:entity", "prov:activity", 'x', ROLE_REMOVED, NODE_FILE, NULL },
	{ "wasInformedBy", "prov:informant", "prov:informed", 'i', 0, NODE_PROCESS, NULL },
	{ "wasDerivedFrom", "prov:usedEntity", "prov:generatedEntity", 'd', 0, NODE_FILE, "prov:Revision" },
};

/* The first moment of what an edge is; of several in one edge only where that is known. */
static int64_t time_of(const struct shape *shape, const struct shape_edge *e, enum role role)
{
	const struct graph_access *a = e->access == GRAPH_NONE ? NULL : &shape->workflow->graph->accesses[e->access];

	if (role == ROLE_REMOVED)
		return a ? a->last_ns : GRAPH_NEVER;
	if (a && role == ROLE_USED && a->first_in_ns != GRAPH_NEVER)
		return a->first_in_ns;
	return e->time_ns;
}

static void put_relation(struct writing *w, const struct relation *relation, int32_t i, int32_t first, int32_t second)
{
	const struct shape_edge *e = &w->shape->edges[i];
	char id[ID_MAX], name[ID_MAX], other[ID_MAX];
	json_t *record;

	snprintf(id, sizeof(id), "_:%c%d", relation->letter, i);
	snprintf(name, sizeof(name), "run:%s", w->shape->nodes[first].id);
	snprintf(other, sizeof(other), "run:%s", w->shape->nodes[second].id);
	record = json_pack("{s:s,s:s}", relation->first, name, relation->second, other);
	if (relation->role)
		set_time(record, "prov:time", time_of(w->shape, e, relation->role));
	if (relation->type)
		set_type(record, relation->type);
	set_attributes(w, record, i, attributes_of_edges, attribute_of_edge);
	put(w, id, record);
}

static void put_relations(struct writing *w, const struct relation *relation)
{
	const struct shape *shape = w->shape;

	begin_section(w, relation->section);
	for (int32_t i = 0; i < shape->n_edges; i++) {
		const struct shape_edge *e = &shape->edges[i];
		const struct roles roles = roles_of(shape, e);

		if (relation->role ? roles.roles & relation->role
				   : shape->nodes[e->from].kind == relation->kind && shape->nodes[e->to].kind == relation->kind)
			put_relation(w, relation, i, roles.file, roles.process);
	}
	end_section(w);
}

/* ---- agents ---- */

static int64_t user_of(const struct shape *shape, int32_t i)
{
	const struct shape_node *n = &shape->nodes[i];

	return n->kind == NODE_PROCESS && n->members == 1 ? workflow_task(shape->workflow, n->of)->uid : WORKFLOW_UNKNOWN;
}

static int compare_users(const void *a, const void *b)
{
	const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

static void put_agent(struct writing *w, int64_t uid)
{
	char id[ID_MAX], label[ID_MAX];
	json_t *record;

	snprintf(id, sizeof(id), "run:u%" PRId64, uid);
	snprintf(label, sizeof(label), "user %" PRId64, uid);
	record = json_pack("{s:s}", "prov:label", label);
	set_type(record, "prov:Person");
	snprintf(label, sizeof(label), "%" PRId64, uid);
	json_object_set_new(record, "ftrac:uid", typed(label, "xsd:long"));
	put(w, id, record);
}

/* The users of the processes, each once. */
static void put_agents(struct writing *w)
{
	cleanup_free int64_t *users = malloc(((size_t)w->shape->n_nodes + 1) * sizeof(*users));
	int32_t n = 0;

	begin_section(w, "agent");
	for (int32_t i = 0; users && i < w->shape->n_nodes; i++)
		if (user_of(w->shape, i) != WORKFLOW_UNKNOWN)
			users[n++] = user_of(w->shape, i);
	if (n)
		qsort(users, (size_t)n, sizeof(*users), compare_users);
	for (int32_t i = 0; i < n; i++)
		if (i == 0 || users[i] != users[i - 1])
			put_agent(w, users[i]);
	end_section(w);
	w->r = users ? w->r : -ENOMEM;
}

static void put_associations(struct writing *w)
{
	begin_section(w, "wasAssociatedWith");
	for (int32_t i = 0; i < w->shape->n_nodes; i++) {
		char id[ID_MAX], activity[ID_MAX], agent[ID_MAX];

		if (user_of(w->shape, i) == WORKFLOW_UNKNOWN)
			continue;
		snprintf(id, sizeof(id), "_:a%d", i);
		snprintf(activity, sizeof(activity), "run:%s", w->shape->nodes[i].id);
		snprintf(agent, sizeof(agent), "run:u%" PRId64, user_of(w->shape, i));
		put(w, id, json_pack("{s:s,s:s}", "prov:activity", activity, "prov:agent", agent));
	}
	end_section(w);
}

/* ---- the whole ---- */

int export_prov(const struct shape *shape, FILE *out)
{
	struct writing w = { .shape = shape, .out = out };
	int r;

	fprintf(out, "{\"prefix\":{\"ftrac\":\"" NAMESPACE "\",\"run\":\"" RUN "\",\"xsd\":\"http://www.w3.org/2001/XMLSchema#\"}",
		shape->workflow->begin_ns);
	put_nodes(&w, NODE_FILE, "entity");
	put_nodes(&w, NODE_PROCESS, "activity");
	put_agents(&w);
	for (size_t i = 0; i < sizeof(relations) / sizeof(relations[0]); i++)
		put_relations(&w, &relations[i]);
	put_associations(&w);
	fputs("\n}\n", out);
	r = export_finish(&w.value, out);
	return w.r < 0 ? w.r : json_memory_failed() ? -ENOMEM : r;
}
