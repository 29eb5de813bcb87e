/* SPDX-License-Identifier: MIT */
#include "dag/export/export.h"

#include <errno.h>

#include "dag/output/xml.h"
#include "dag/shape/attributes.h"

static const char *const types[] = { [ATTRIBUTE_TEXT] = "string",
	[ATTRIBUTE_INT] = "long",
	[ATTRIBUTE_REAL] = "double",
	[ATTRIBUTE_BOOL] = "boolean" };

/* Keys of nodes have the ids n0, n1 ..., keys of edges e0, e1 ... */
static void put_keys(struct xml *xml, const char *what, const struct attribute *attributes)
{
	for (int i = 0; attributes[i].name; i++) {
		xml_begin(xml, "key");
		xml_attribute_id(xml, "id", what[0], i);
		xml_attribute(xml, "for", what);
		xml_attribute(xml, "attr.name", attributes[i].name);
		xml_attribute(xml, "attr.type", types[attributes[i].type]);
		xml_end(xml);
	}
}

static void put_data(struct xml *xml, const struct shape *shape, int32_t index, char what,
	const struct attribute *attributes, attribute_get *get, struct attribute_value *value)
{
	char number[ATTRIBUTE_NUMBER_MAX];

	for (int i = 0; attributes[i].name; i++) {
		if (!get(shape, index, i, value))
			continue;
		xml_begin(xml, "data");
		xml_attribute_id(xml, "key", what, i);
		xml_text(xml, attribute_text(attributes[i].type, value, number));
		xml_end(xml);
	}
}

static void put_nodes(struct xml *xml, const struct shape *shape, struct attribute_value *value)
{
	for (int32_t i = 0; i < shape->n_nodes; i++) {
		xml_begin(xml, "node");
		xml_attribute(xml, "id", shape->nodes[i].id);
		put_data(xml, shape, i, 'n', attributes_of_nodes, attribute_of_node, value);
		xml_end(xml);
	}
}

static void put_edges(struct xml *xml, const struct shape *shape, struct attribute_value *value)
{
	for (int32_t i = 0; i < shape->n_edges; i++) {
		xml_begin(xml, "edge");
		xml_attribute_id(xml, "id", 'e', i);
		xml_attribute(xml, "source", shape->nodes[shape->edges[i].from].id);
		xml_attribute(xml, "target", shape->nodes[shape->edges[i].to].id);
		put_data(xml, shape, i, 'e', attributes_of_edges, attribute_of_edge, value);
		xml_end(xml);
	}
}

int export_graphml(const struct shape *shape, FILE *out)
{
	struct attribute_value value = { 0 };
	struct xml xml;
	bool failed;
	int r = xml_open(&xml, out);

	if (r < 0)
		return r;
	xml_begin(&xml, "graphml");
	xml_attribute(&xml, "xmlns", "http://graphml.graphdrawing.org/xmlns");
	put_keys(&xml, "node", attributes_of_nodes);
	put_keys(&xml, "edge", attributes_of_edges);
	xml_begin(&xml, "graph");
	xml_attribute(&xml, "id", "workflow");
	xml_attribute(&xml, "edgedefault", "directed");
	put_nodes(&xml, shape, &value);
	put_edges(&xml, shape, &value);
	r = xml_close(&xml, out);
	failed = value.clean.failed;
	attribute_value_finish(&value);
	return failed ? -ENOMEM : r;
}
