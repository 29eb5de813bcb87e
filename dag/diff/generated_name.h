/* SPDX-License-Identifier: MIT */
#ifndef DAG_DIFF_GENERATED_NAME_H
#define DAG_DIFF_GENERATED_NAME_H

/* Does a name look generated: as mkstemp(), mktemp, tempfile of Python, gcc ... make names that are new each time? */

#include <stdbool.h>
#include <stddef.h>

enum generated {
	GENERATED_NOT,
	GENERATED_MAYBE, /* there are capitals or digits among its letters */
	GENERATED_SURE   /* it has the form that a known program generates, or is a long hexadecimal number */
};

/* Length of the letters and digits in front of a text. */
size_t generated_name_run(const char *text, size_t len);
/* Judges a run of letters and digits; before: the number of characters of the name in front of it. */
enum generated generated_name_of(const char *run, size_t len, size_t before);
bool generated_name_is_uuid(const char *name, size_t len);

#endif
