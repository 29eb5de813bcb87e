/* SPDX-License-Identifier: MIT */
#include "dag/export/export.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio_ext.h>
#include <string.h>

#include "base/utf8.h"
#include "dag/shape/attributes.h"

static int finish(struct attribute_value *value, FILE *out)
{
	bool failed = value->clean.failed;

	attribute_value_finish(value);
	return failed ? -ENOMEM : ferror(out) || fflush(out) != 0 ? -EIO : 0;
}

/* ---- GML ---- */

static uint32_t code_point(const char *at, size_t n)
{
	uint32_t code = n == 1 ? (unsigned char)*at : (unsigned char)*at & (0xff >> (n + 1));

	for (size_t i = 1; i < n; i++)
		code = code << 6 | ((unsigned char)at[i] & 0x3f);
	return code;
}

/* GML is ASCII: other characters are written as numbers. */
static void put_gml_text(const char *text, FILE *out)
{
	fputc('"', out);
	for (size_t left = strlen(text), n; left; text += n, left -= n) {
		n = utf8_char(text, left);
		n = n ? n : 1;
		if (n == 1 && *text != '"' && *text != '&')
			fputc(*text, out);
		else
			fprintf(out, "&#%" PRIu32 ";", code_point(text, n));
	}
	fputc('"', out);
}

/* Reals have a decimal point.  Integers of more than 32 bits are written as reals, too. */
static void put_gml_real(double real, FILE *out)
{
	char text[ATTRIBUTE_NUMBER_MAX];
	int digits;

	snprintf(text, sizeof(text), "%.15g", real);
	digits = (int)strcspn(text, ".e");
	if (text[digits] == '.')
		fputs(text, out);
	else
		fprintf(out, "%.*s.0%s", digits, text, text + digits);
}

static void put_gml_value(enum attribute_type type, const struct attribute_value *v, FILE *out)
{
	if (type == ATTRIBUTE_TEXT)
		put_gml_text(v->text, out);
	else if (type == ATTRIBUTE_REAL)
		put_gml_real(v->real, out);
	else if (v->number > INT32_MAX || v->number < INT32_MIN)
		put_gml_real((double)v->number, out);
	else
		fprintf(out, "%" PRId64, v->number);
}

static void put_gml(const struct shape *shape, int32_t index, const struct attribute *attributes,
	attribute_get *get, struct attribute_value *value, FILE *out)
{
	for (int i = 0; attributes[i].name; i++)
		if (get(shape, index, i, value)) {
			fprintf(out, " %s ", attributes[i].name);
			put_gml_value(attributes[i].type, value, out);
		}
}

int export_gml(const struct shape *shape, FILE *out)
{
	struct attribute_value value = { 0 };

	__fsetlocking(out, FSETLOCKING_BYCALLER);
	fputs("graph [\n directed 1\n", out);
	for (int32_t i = 0; i < shape->n_nodes; i++) {
		fprintf(out, " node [ id %d label \"%s\"", i, shape->nodes[i].id);
		put_gml(shape, i, attributes_of_nodes, attribute_of_node, &value, out);
		fputs(" ]\n", out);
	}
	for (int32_t i = 0; i < shape->n_edges; i++) {
		fprintf(out, " edge [ source %d target %d", shape->edges[i].from,
			shape->edges[i].to);
		put_gml(shape, i, attributes_of_edges, attribute_of_edge, &value, out);
		fputs(" ]\n", out);
	}
	fputs("]\n", out);
	return finish(&value, out);
}

/* ---- CSV ---- */

static void put_csv_text(const char *text, FILE *out)
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

static void put_csv_head(FILE *out)
{
	fputs("element,id,source,target", out);
	for (int i = 0; attributes_of_nodes[i].name; i++)
		fprintf(out, ",%s", attributes_of_nodes[i].name);
	for (int i = 0; attributes_of_edges[i].name; i++)
		if (!is_of_nodes(attributes_of_edges[i].name))
			fprintf(out, ",%s", attributes_of_edges[i].name);
	fputs("\r\n", out);
}

static void put_csv_value(const struct shape *shape, int32_t index, int i, enum attribute_type type,
	attribute_get *get, struct attribute_value *value, FILE *out)
{
	char number[ATTRIBUTE_NUMBER_MAX];

	fputc(',', out);
	if (get(shape, index, i, value))
		put_csv_text(attribute_text(type, value, number), out);
}

/* The attribute of edges that has the name of an attribute of nodes; -1: there is none. */
static int edge_attribute(const char *name)
{
	for (int i = 0; attributes_of_edges[i].name; i++)
		if (strcmp(attributes_of_edges[i].name, name) == 0)
			return i;
	return -1;
}

static void put_csv_node(const struct shape *shape, int32_t node, struct attribute_value *value,
	FILE *out)
{
	fprintf(out, "node,%s,,", shape->nodes[node].id);
	for (int i = 0; attributes_of_nodes[i].name; i++)
		put_csv_value(shape, node, i, attributes_of_nodes[i].type, attribute_of_node, value,
			out);
	for (int i = 0; attributes_of_edges[i].name; i++)
		fputs(is_of_nodes(attributes_of_edges[i].name) ? "" : ",", out);
	fputs("\r\n", out);
}

static void put_csv_edge(const struct shape *shape, int32_t edge, const int *columns,
	struct attribute_value *value, FILE *out)
{
	const struct shape_edge *e = &shape->edges[edge];

	fprintf(out, "edge,,%s,%s", shape->nodes[e->from].id, shape->nodes[e->to].id);
	for (int i = 0; attributes_of_nodes[i].name; i++) {
		if (columns[i] < 0)
			fputc(',', out);
		else
			put_csv_value(shape, edge, columns[i], attributes_of_edges[columns[i]].type,
				attribute_of_edge, value, out);
	}
	for (int i = 0; attributes_of_edges[i].name; i++)
		if (!is_of_nodes(attributes_of_edges[i].name))
			put_csv_value(shape, edge, i, attributes_of_edges[i].type,
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
	put_csv_head(out);
	for (int32_t i = 0; i < shape->n_nodes; i++)
		put_csv_node(shape, i, &value, out);
	for (int32_t i = 0; i < shape->n_edges; i++)
		put_csv_edge(shape, i, columns, &value, out);
	return finish(&value, out);
}
