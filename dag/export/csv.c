/* SPDX-License-Identifier: MIT */
#include "dag/export/export.h"

#include <stdio_ext.h>
#include <string.h>

#include "dag/shape/attributes.h"

static void put_text(const char *text, FILE *out)
{
	bool quoted = !*text || strpbrk(text, "\",\r\n");

	if (quoted)
		fputc('"', out);
	for (; *text; text++) {
		if (*text == '"')
			fputc('"', out);
		fputc(*text, out);
	}
	if (quoted)
		fputc('"', out);
}

static bool is_of_nodes(const char *name)
{
	for (int i = 0; attributes_of_nodes[i].name; i++)
		if (strcmp(attributes_of_nodes[i].name, name) == 0)
			return true;
	return false;
}

static void put_head(FILE *out)
{
	fputs("element,id,source,target", out);
	for (int i = 0; attributes_of_nodes[i].name; i++)
		fprintf(out, ",%s", attributes_of_nodes[i].name);
	for (int i = 0; attributes_of_edges[i].name; i++)
		if (!is_of_nodes(attributes_of_edges[i].name))
			fprintf(out, ",%s", attributes_of_edges[i].name);
	fputs("\r\n", out);
}

static void put_value(const struct shape *shape, int32_t index, int i, enum attribute_type type,
	attribute_get *get, struct attribute_value *value, FILE *out)
{
	char number[ATTRIBUTE_NUMBER_MAX];

	fputc(',', out);
	if (get(shape, index, i, value))
		put_text(attribute_text(type, value, number), out);
}

/* The attribute of edges that has the name of an attribute of nodes; -1: there is none. */
static int edge_attribute(const char *name)
{
	for (int i = 0; attributes_of_edges[i].name; i++)
		if (strcmp(attributes_of_edges[i].name, name) == 0)
			return i;
	return -1;
}

static void put_node(const struct shape *shape, int32_t node, struct attribute_value *value,
	FILE *out)
{
	fprintf(out, "node,%s,,", shape->nodes[node].id);
	for (int i = 0; attributes_of_nodes[i].name; i++)
		put_value(shape, node, i, attributes_of_nodes[i].type, attribute_of_node, value,
			out);
	for (int i = 0; attributes_of_edges[i].name; i++)
		fputs(is_of_nodes(attributes_of_edges[i].name) ? "" : ",", out);
	fputs("\r\n", out);
}

static void put_edge(const struct shape *shape, int32_t edge, const int *columns,
	struct attribute_value *value, FILE *out)
{
	const struct shape_edge *e = &shape->edges[edge];

	fprintf(out, "edge,,%s,%s", shape->nodes[e->from].id, shape->nodes[e->to].id);
	for (int i = 0; attributes_of_nodes[i].name; i++) {
		if (columns[i] < 0)
			fputc(',', out);
		else
			put_value(shape, edge, columns[i], attributes_of_edges[columns[i]].type,
				attribute_of_edge, value, out);
	}
	for (int i = 0; attributes_of_edges[i].name; i++)
		if (!is_of_nodes(attributes_of_edges[i].name))
			put_value(shape, edge, i, attributes_of_edges[i].type,
				attribute_of_edge, value, out);
	fputs("\r\n", out);
}

int export_csv(const struct shape *shape, FILE *out)
{
	struct attribute_value value = { 0 };
	int columns[64];

	__fsetlocking(out, FSETLOCKING_BYCALLER);
	for (int i = 0; attributes_of_nodes[i].name; i++)
		columns[i] = edge_attribute(attributes_of_nodes[i].name);
	put_head(out);
	for (int32_t i = 0; i < shape->n_nodes; i++)
		put_node(shape, i, &value, out);
	for (int32_t i = 0; i < shape->n_edges; i++)
		put_edge(shape, i, columns, &value, out);
	return export_finish(&value, out);
}
