/* SPDX-License-Identifier: MIT */
#include "dag/export/export.h"

#include <inttypes.h>
#include <stdio_ext.h>
#include <string.h>

#include "base/utf8.h"
#include "dag/shape/attributes.h"

static uint32_t code_point(const char *at, size_t n)
{
	uint32_t code = n == 1 ? (unsigned char)*at : (unsigned char)*at & (0xff >> (n + 1));

	for (size_t i = 1; i < n; i++)
		code = code << 6 | ((unsigned char)at[i] & 0x3f);
	return code;
}

/* GML is ASCII: other characters are written as numbers. */
static void put_text(const char *text, FILE *out)
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
static void put_real(double real, FILE *out)
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

static void put_value(enum attribute_type type, const struct attribute_value *v, FILE *out)
{
	if (type == ATTRIBUTE_TEXT)
		put_text(v->text, out);
	else if (type == ATTRIBUTE_REAL)
		put_real(v->real, out);
	else if (v->number > INT32_MAX || v->number < INT32_MIN)
		put_real((double)v->number, out);
	else
		fprintf(out, "%" PRId64, v->number);
}

static void put_element(const struct shape *shape, int32_t index, const struct attribute *attributes,
	attribute_get *get, struct attribute_value *value, FILE *out)
{
	for (int i = 0; attributes[i].name; i++)
		if (get(shape, index, i, value)) {
			fprintf(out, " %s ", attributes[i].name);
			put_value(attributes[i].type, value, out);
		}
}

int export_gml(const struct shape *shape, FILE *out)
{
	struct attribute_value value = { 0 };

	__fsetlocking(out, FSETLOCKING_BYCALLER);
	fputs("Creator \"ftrac\"\ngraph [\n directed 1\n", out);
	for (int32_t i = 0; i < shape->n_nodes; i++) {
		fprintf(out, " node [ id %d label \"%s\"", i, shape->nodes[i].id);
		put_element(shape, i, attributes_of_nodes, attribute_of_node, &value, out);
		fputs(" ]\n", out);
	}
	for (int32_t i = 0; i < shape->n_edges; i++) {
		fprintf(out, " edge [ source %d target %d", shape->edges[i].from,
			shape->edges[i].to);
		put_element(shape, i, attributes_of_edges, attribute_of_edge, &value, out);
		fputs(" ]\n", out);
	}
	fputs("]\n", out);
	return export_finish(&value, out);
}
