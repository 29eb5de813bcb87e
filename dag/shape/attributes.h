/* SPDX-License-Identifier: MIT */
#ifndef DAG_SHAPE_ATTRIBUTES_H
#define DAG_SHAPE_ATTRIBUTES_H

/*
 * What is known of the nodes and edges of a shape, by name and type: all exports have the same.
 *
 * Times are seconds since the begin of the run.  Texts are UTF-8; what is not becomes \xNN, and so does a
 * backslash that is followed by an x.
 */

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "dag/output/printable.h"
#include "dag/shape/shape.h"

enum attribute_type { ATTRIBUTE_TEXT, ATTRIBUTE_INT, ATTRIBUTE_REAL, ATTRIBUTE_BOOL };

struct attribute {
	const char *name;
	enum attribute_type type;
};

/* One is used for many, and finished at the end. */
struct attribute_value {
	int64_t number; /* of INT and BOOL */
	double real;
	const char *text; /* until the next */
	struct printable clean; /* clean.failed: a text is missing */
};

void attribute_value_finish(struct attribute_value *value);

/* Ended by a NULL name. */
extern const struct attribute attributes_of_nodes[], attributes_of_edges[];

/* The i-th; false: it is not known, or it has none. */
bool attribute_of_node(const struct shape *shape, int32_t node, int i,
	struct attribute_value *value);
bool attribute_of_edge(const struct shape *shape, int32_t edge, int i,
	struct attribute_value *value);

/* What a node is called in a few words: the program of a process, the path of a file; never NULL. */
const char *attribute_name(const struct shape *shape, int32_t node, struct attribute_value *value);

/* A value as text, in a buffer of its own or in the value: numbers in full, "true" and "false". */
#define ATTRIBUTE_NUMBER_MAX 32
const char *attribute_text(enum attribute_type type, const struct attribute_value *value,
	char number[ATTRIBUTE_NUMBER_MAX]);

/* Kinds as words with '|' between them: "read|execute". */
#define ATTRIBUTE_KINDS_MAX 128
void attribute_kinds(int kinds, char out[ATTRIBUTE_KINDS_MAX]);

/* How those that go through all attributes get at them. */
typedef bool attribute_get(const struct shape *shape, int32_t index, int i,
	struct attribute_value *value);

#endif
