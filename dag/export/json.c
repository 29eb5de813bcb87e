/* SPDX-License-Identifier: MIT */
#include "dag/export/export.h"
#include "dag/export/values.h"

#include <errno.h>
#include <jansson.h>

#include "base/version.h"
#include "dag/shape/attributes.h"

static int add_attributes(json_t *object, const struct shape *shape, int32_t index,
	const struct attribute *attributes, attribute_get *get)
{
	struct attribute_value v = { 0 };
	int r = object ? 0 : -ENOMEM;

	for (int i = 0; attributes[i].name && r == 0; i++)
		if (get(shape, index, i, &v) &&
			json_object_set_new_nocheck(object, attributes[i].name,
				export_value(attributes[i].type, &v)) != 0)
			r = -ENOMEM;
	r = v.clean.failed ? -ENOMEM : r;
	attribute_value_finish(&v);
	return r;
}

/* Writes the object, for Cytoscape as the data of an element. */
static int put_element(json_t *object, bool cyjs, int32_t index, FILE *out)
{
	json_t *element = cyjs ? json_pack("{s:O}", "data", object) : json_incref(object);
	int r = element ? 0 : -ENOMEM;

	fputs(index ? ",\n" : "\n", out);
	if (r == 0 && json_dumpf(element, out, JSON_COMPACT | JSON_REAL_PRECISION(15)) != 0)
		r = -EIO;
	json_decref(element);
	return r;
}

static int put_node(const struct shape *shape, int32_t i, bool cyjs, FILE *out)
{
	struct attribute_value name = { 0 };
	json_t *object;
	int r;

	object = cyjs ? json_pack("{s:s,s:s,s:s}", "id", shape->nodes[i].id, "name",
				attribute_name(shape, i, &name), "value", shape->nodes[i].id)
		      : json_pack("{s:s}", "id", shape->nodes[i].id);
	r = name.clean.failed ? -ENOMEM : add_attributes(object, shape, i, attributes_of_nodes, attribute_of_node);
	attribute_value_finish(&name);
	if (r == 0)
		r = put_element(object, cyjs, i, out);
	json_decref(object);
	return r;
}

static int put_edge(const struct shape *shape, int32_t i, bool cyjs, FILE *out)
{
	const struct shape_edge *e = &shape->edges[i];
	char id[32], kinds[ATTRIBUTE_KINDS_MAX];
	json_t *object;
	int r;

	snprintf(id, sizeof(id), "e%d", i);
	attribute_kinds(e->kinds, kinds);
	object = cyjs ? json_pack("{s:s,s:s,s:s,s:s}", "id", id, "source", shape->nodes[e->from].id,
				"target", shape->nodes[e->to].id, "interaction", kinds)
		      : json_pack("{s:s,s:s}", "source", shape->nodes[e->from].id, "target",
				shape->nodes[e->to].id);
	r = add_attributes(object, shape, i, attributes_of_edges, attribute_of_edge);
	if (r == 0)
		r = put_element(object, cyjs, i, out);
	json_decref(object);
	return r;
}

static int put_all(const struct shape *shape, bool cyjs, FILE *out)
{
	int r = 0;

	fputs("\"nodes\":[", out);
	for (int32_t i = 0; i < shape->n_nodes && r == 0; i++)
		r = put_node(shape, i, cyjs, out);
	fputs("],\n\"edges\":[", out);
	for (int32_t i = 0; i < shape->n_edges && r == 0; i++)
		r = put_edge(shape, i, cyjs, out);
	fputs(cyjs ? "]}}\n" : "]}\n", out);
	return r < 0 ? r : ferror(out) || fflush(out) != 0 ? -EIO : 0;
}

int export_cyjs(const struct shape *shape, FILE *out)
{
	fputs("{\"format_version\":\"1.0\",\"generated_by\":\"ftrac-" FTRAC_VERSION "\","
	      "\"target_cytoscapejs_version\":\"~2.1\",\"directed\":true,\"multigraph\":false,\n"
	      "\"data\":{\"name\":\"workflow\"},\"elements\":{\n",
		out);
	return put_all(shape, true, out);
}

int export_json(const struct shape *shape, FILE *out)
{
	fprintf(out, "{\"schema\":\"ftrac.dag/1\",\"begin_ns\":%lld,\n",
		(long long)shape->workflow->begin_ns);
	return put_all(shape, false, out);
}
