/* SPDX-License-Identifier: MIT */
#include "dag/export.h"

#include <errno.h>
#include <libxml/xmlwriter.h>

#include "dag/attributes.h"

#define XML(text) ((const xmlChar *)(text))

static const char *const types[] = { [ATTRIBUTE_TEXT] = "string",
	[ATTRIBUTE_INT] = "long",
	[ATTRIBUTE_REAL] = "double",
	[ATTRIBUTE_BOOL] = "boolean" };

/* Ids of keys: n0, n1 ... of nodes, e0 ... of edges. */
static void put_keys(xmlTextWriter *xml, const char *what, const struct attribute *attributes)
{
	for (int i = 0; attributes[i].name; i++) {
		xmlTextWriterStartElement(xml, XML("key"));
		xmlTextWriterWriteFormatAttribute(xml, XML("id"), "%c%d", what[0], i);
		xmlTextWriterWriteAttribute(xml, XML("for"), XML(what));
		xmlTextWriterWriteAttribute(xml, XML("attr.name"), XML(attributes[i].name));
		xmlTextWriterWriteAttribute(xml, XML("attr.type"), XML(types[attributes[i].type]));
		xmlTextWriterEndElement(xml);
	}
}

static void put_data(xmlTextWriter *xml, const struct shape *shape, int32_t index, char what,
	const struct attribute *attributes, attribute_get *get, struct attribute_value *value)
{
	char number[ATTRIBUTE_NUMBER_MAX];

	for (int i = 0; attributes[i].name; i++) {
		if (!get(shape, index, i, value))
			continue;
		xmlTextWriterStartElement(xml, XML("data"));
		xmlTextWriterWriteFormatAttribute(xml, XML("key"), "%c%d", what, i);
		xmlTextWriterWriteString(xml,
			XML(attribute_text(attributes[i].type, value, number)));
		xmlTextWriterEndElement(xml);
	}
}

static void put_nodes(xmlTextWriter *xml, const struct shape *shape, struct attribute_value *value)
{
	for (int32_t i = 0; i < shape->n_nodes; i++) {
		xmlTextWriterStartElement(xml, XML("node"));
		xmlTextWriterWriteAttribute(xml, XML("id"), XML(shape->nodes[i].id));
		put_data(xml, shape, i, 'n', attributes_of_nodes, attribute_of_node, value);
		xmlTextWriterEndElement(xml);
	}
}

static void put_edges(xmlTextWriter *xml, const struct shape *shape, struct attribute_value *value)
{
	for (int32_t i = 0; i < shape->n_edges; i++) {
		xmlTextWriterStartElement(xml, XML("edge"));
		xmlTextWriterWriteFormatAttribute(xml, XML("id"), "e%d", i);
		xmlTextWriterWriteAttribute(xml, XML("source"),
			XML(shape->nodes[shape->edges[i].from].id));
		xmlTextWriterWriteAttribute(xml, XML("target"),
			XML(shape->nodes[shape->edges[i].to].id));
		put_data(xml, shape, i, 'e', attributes_of_edges, attribute_of_edge, value);
		xmlTextWriterEndElement(xml);
	}
}

static int write_bytes(void *out, const char *bytes, int len)
{
	return fwrite(bytes, 1, len, out) == (size_t)len ? len : -1;
}

int export_graphml(const struct shape *shape, FILE *out)
{
	xmlOutputBuffer *buffer = xmlOutputBufferCreateIO(write_bytes, NULL, out, NULL);
	xmlTextWriter *xml = buffer ? xmlNewTextWriter(buffer) : NULL;

	struct attribute_value value = { 0 };
	bool failed;

	if (!xml)
		return -ENOMEM;
	xmlTextWriterSetIndent(xml, 1);
	xmlTextWriterStartDocument(xml, NULL, "UTF-8", NULL);
	xmlTextWriterStartElement(xml, XML("graphml"));
	xmlTextWriterWriteAttribute(xml, XML("xmlns"),
		XML("http://graphml.graphdrawing.org/xmlns"));
	put_keys(xml, "node", attributes_of_nodes);
	put_keys(xml, "edge", attributes_of_edges);
	xmlTextWriterStartElement(xml, XML("graph"));
	xmlTextWriterWriteAttribute(xml, XML("id"), XML("workflow"));
	xmlTextWriterWriteAttribute(xml, XML("edgedefault"), XML("directed"));
	put_nodes(xml, shape, &value);
	put_edges(xml, shape, &value);
	xmlTextWriterEndDocument(xml);
	xmlFreeTextWriter(xml);
	failed = value.failed;
	attribute_value_finish(&value);
	return failed ? -ENOMEM : ferror(out) || fflush(out) != 0 ? -EIO : 0;
}
