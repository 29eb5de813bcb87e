/* SPDX-License-Identifier: MIT */
#ifndef DAG_DIFF_CHANCE_H
#define DAG_DIFF_CHANCE_H

/* Does a name look as if a program had made it up by chance: mkstemp(), mktemp, tempfile of Python, gcc ...? */

#include <stdbool.h>
#include <stddef.h>

enum chance {
	CHANCE_NOT,
	CHANCE_MAYBE, /* there are capitals or digits among its letters */
	CHANCE_SURE   /* it is made as some program does, or is a long hexadecimal number */
};

/* Length of the letters and digits in front of a text. */
size_t chance_run(const char *text, size_t len);
/* Such letters and digits; before: so many characters of the name stand before them. */
enum chance chance_of(const char *run, size_t len, size_t before);
bool chance_is_uuid(const char *name, size_t len);

#endif
