/* SPDX-License-Identifier: MIT */
#include "dag/export/rows.h"

#include <jansson.h>
#include <string.h>

#include "dag/export/values.h"
#include "dag/output/json.h"
#include "dag/shape/attributes.h"

static json_t *text(const char *bytes)
{
	return json_text(bytes, strlen(bytes));
}

static json_t *element(const struct shape *shape, const char *kind, int32_t index,
	const struct attribute *attributes, attribute_get *get, struct attribute_value *v)
{
	json_t *row = json_object();

	json_object_set_new(row, "element", json_string(kind));
	for (int i = 0; attributes[i].name; i++)
		if (get(shape, index, i, v))
			json_object_set_new(row, attributes[i].name, export_value(attributes[i].type, v));
	return row;
}

static json_t *node_of(const struct shape *shape, int32_t index, struct attribute_value *v)
{
	const struct shape_node *n = &shape->nodes[index];
	json_t *row = element(shape, "node", index, attributes_of_nodes, attribute_of_node, v);

	json_object_set_new(row, "id", text(n->id));
	if (n->label)
		json_object_set_new(row, "label", text(printable_text(&v->clean, n->label)));
	if (n->members > 1)
		json_object_set_new(row, "members", json_integer(n->members));
	return row;
}

static json_t *edge_of(const struct shape *shape, int32_t index, struct attribute_value *v)
{
	const struct shape_edge *e = &shape->edges[index];
	json_t *row = element(shape, "edge", index, attributes_of_edges, attribute_of_edge, v);

	json_object_set_new(row, "source", text(shape->nodes[e->from].id));
	json_object_set_new(row, "target", text(shape->nodes[e->to].id));
	return row;
}

char *export_rows(const struct shape *shape)
{
	struct attribute_value v = { 0 };
	json_t *rows = json_array(), *all = json_object();
	char *made;

	for (int32_t i = 0; i < shape->n_nodes; i++)
		json_array_append_new(rows, node_of(shape, i, &v));
	for (int32_t i = 0; i < shape->n_edges; i++)
		json_array_append_new(rows, edge_of(shape, i, &v));
	json_object_set_new(all, "rows", rows);
	made = v.clean.failed ? NULL : json_dumps(all, JSON_COMPACT | JSON_REAL_PRECISION(15));
	attribute_value_finish(&v);
	json_decref(all);
	return made;
}
