/* SPDX-License-Identifier: MIT */
#ifndef DAG_REDACT_NAMES_H
#define DAG_REDACT_NAMES_H

/* The names in a text (dictionary.h). */

#include <stddef.h>

enum name_kind {
	NAME_NONE,
	NAME_WORD,
	NAME_NUMBER,
	NAME_IPV4,
	NAME_IPV6, /* without its brackets */
};

struct name {
	enum name_kind kind;
	size_t len;
};

/* The name at a place of the text, which is below len, or one byte that is between names. */
struct name name_at(const char *text, size_t len, size_t at);

#endif
