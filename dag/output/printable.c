/* SPDX-License-Identifier: MIT */
#include "dag/output/printable.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "base/vector.h"

void printable_finish(struct printable *p)
{
	free(p->buffer);
}

/* U+FFFE and U+FFFF are UTF-8, but XML forbids them.  A backslash before an x is escaped, so that a name that contains \x
 * differs from an escaped byte. */
static bool is_text(const char *at, size_t n)
{
	return n != 0 && (n != 1 || *at != '\\' || at[1] != 'x') &&
	       (n != 1 || ((unsigned char)*at >= ' ' && *at != 0x7f)) &&
	       (n != 3 || memcmp(at, "\xef\xbf", 2) != 0 || (unsigned char)at[2] < 0xbe);
}

static void clean(const char *bytes, char *out, size_t size)
{
	const char *at = bytes;
	size_t left = strlen(bytes), used = 0;

	while (left && used + 8 < size) {
		size_t n = utf8_char(at, left);

		if (!is_text(at, n)) {
			used += snprintf(out + used, size - used, "\\x%02x", (unsigned char)*at);
			n = 1;
		} else {
			memcpy(out + used, at, n);
			used += n;
		}
		at += n;
		left -= n;
	}
	out[used] = '\0';
}

const char *printable_text(struct printable *p, const char *bytes)
{
	size_t size = 4 * strlen(bytes) + 16; /* if each byte becomes \xNN */

	if (vector_fit(p->buffer, p->size, size) < 0) {
		p->failed = true;
		return "";
	}
	clean(bytes, p->buffer, p->size);
	return p->buffer;
}
