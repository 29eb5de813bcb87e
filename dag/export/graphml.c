/* SPDX-License-Identifier: MIT */
#include "dag/export/export.h"

#include <errno.h>

#include "dag/output/xml.h"
#include "dag/shape/attributes.h"
#include "dag/shape/palette.h"

#define YFILES "http://www.yworks.com/xml/graphml"
#define GRAPHICS_OF_NODES "graphics_n"
#define GRAPHICS_OF_EDGES "graphics_e"
#define WIDTH 160
#define HEIGHT 30

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

/* ---- how yEd draws it ---- */

static void put_graphics_key(struct xml *xml, const char *id, const char *what, const char *type)
{
	xml_begin(xml, "key");
	xml_attribute(xml, "id", id);
	xml_attribute(xml, "for", what);
	xml_attribute(xml, "yfiles.type", type);
	xml_end(xml);
}

/* An element with one attribute. */
static void put_one(struct xml *xml, const char *element, const char *name, const char *value)
{
	xml_begin(xml, element);
	xml_attribute(xml, name, value);
	xml_end(xml);
}

/* As in the pictures of dot: a process is an ellipse in the colour of its step, a file a box. */
static void put_shape(struct xml *xml, const struct shape *shape, int32_t i, const struct palette *palette, struct attribute_value *value)
{
	const struct shape_node *n = &shape->nodes[i];
	const char *label = n->kind == NODE_PROCESS || n->label ? attribute_name(shape, i, value)
								: printable_text(&value->clean, shape_base_name(shape, i)),
		   *step = n->kind == NODE_PROCESS && !n->label ? workflow_task(shape->workflow, n->of)->step : NULL;

	xml_begin(xml, "data");
	xml_attribute(xml, "key", GRAPHICS_OF_NODES);
	xml_begin(xml, "y:ShapeNode");
	xml_begin(xml, "y:Geometry");
	xml_attribute_id(xml, "width", 0, WIDTH);
	xml_attribute_id(xml, "height", 0, HEIGHT);
	xml_end(xml);
	put_one(xml, "y:Fill", "color", n->kind == NODE_PROCESS ? palette_colour(palette, step) : "#ffffff");
	put_one(xml, "y:BorderStyle", "color", n->critical ? "#ff0000" : "#000000");
	xml_begin(xml, "y:NodeLabel");
	xml_text(xml, label);
	xml_end(xml);
	put_one(xml, "y:Shape", "type", n->kind == NODE_PROCESS ? "ellipse" : "rectangle");
	xml_end(xml);
	xml_end(xml);
}

static void put_line(struct xml *xml, const struct shape_edge *e)
{
	xml_begin(xml, "data");
	xml_attribute(xml, "key", GRAPHICS_OF_EDGES);
	xml_begin(xml, "y:PolyLineEdge");
	xml_begin(xml, "y:LineStyle");
	xml_attribute(xml, "color", e->critical ? "#ff0000" : e->slow ? "#ff8c00" : e->feedback ? "#0000ff" : "#000000");
	xml_attribute(xml, "type", !shape_is_flow(e) ? "dotted" : e->assumed ? "dashed" : "line");
	xml_attribute(xml, "width", "1.0");
	xml_end(xml);
	xml_begin(xml, "y:Arrows");
	xml_attribute(xml, "source", e->read_back ? "standard" : "none");
	xml_attribute(xml, "target", "standard");
	xml_end(xml);
	xml_end(xml);
	xml_end(xml);
}

/* ---- both ---- */

static void put_nodes(struct xml *xml, const struct shape *shape, const struct palette *palette, struct attribute_value *value)
{
	for (int32_t i = 0; i < shape->n_nodes; i++) {
		xml_begin(xml, "node");
		xml_attribute(xml, "id", shape->nodes[i].id);
		put_data(xml, shape, i, 'n', attributes_of_nodes, attribute_of_node, value);
		if (palette)
			put_shape(xml, shape, i, palette, value);
		xml_end(xml);
	}
}

static void put_edges(struct xml *xml, const struct shape *shape, const struct palette *palette, struct attribute_value *value)
{
	for (int32_t i = 0; i < shape->n_edges; i++) {
		xml_begin(xml, "edge");
		xml_attribute_id(xml, "id", 'e', i);
		xml_attribute(xml, "source", shape->nodes[shape->edges[i].from].id);
		xml_attribute(xml, "target", shape->nodes[shape->edges[i].to].id);
		put_data(xml, shape, i, 'e', attributes_of_edges, attribute_of_edge, value);
		if (palette)
			put_line(xml, &shape->edges[i]);
		xml_end(xml);
	}
}

/* With a palette also how yEd is to draw it. */
static int put_graph(const struct shape *shape, const struct palette *palette, FILE *out)
{
	struct attribute_value value = { 0 };
	struct xml xml;
	bool failed;
	int r = xml_open(&xml, out);

	if (r < 0)
		return r;
	xml_begin(&xml, "graphml");
	xml_attribute(&xml, "xmlns", "http://graphml.graphdrawing.org/xmlns");
	if (palette)
		xml_attribute(&xml, "xmlns:y", YFILES);
	put_keys(&xml, "node", attributes_of_nodes);
	put_keys(&xml, "edge", attributes_of_edges);
	if (palette) {
		put_graphics_key(&xml, GRAPHICS_OF_NODES, "node", "nodegraphics");
		put_graphics_key(&xml, GRAPHICS_OF_EDGES, "edge", "edgegraphics");
	}
	xml_begin(&xml, "graph");
	xml_attribute(&xml, "id", "workflow");
	xml_attribute(&xml, "edgedefault", "directed");
	put_nodes(&xml, shape, palette, &value);
	put_edges(&xml, shape, palette, &value);
	r = xml_close(&xml, out);
	failed = value.clean.failed;
	attribute_value_finish(&value);
	return failed ? -ENOMEM : r;
}

int export_graphml(const struct shape *shape, FILE *out)
{
	return put_graph(shape, NULL, out);
}

int export_yed(const struct shape *shape, FILE *out)
{
	struct palette *palette = NULL;
	int r = palette_create(shape->workflow, &palette);

	if (r == 0)
		r = put_graph(shape, palette, out);
	palette_destroy(palette);
	return r;
}
