/* SPDX-License-Identifier: MIT */
#include "base/utf8.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

size_t utf8_char(const char *text, size_t len)
{
	static const struct {
		unsigned char mask, lead;
		uint32_t least;
	} forms[] = { { 0x80, 0, 0 }, { 0xe0, 0xc0, 0x80 }, { 0xf0, 0xe0, 0x800 }, { 0xf8, 0xf0, 0x10000 } };
	const unsigned char *at = (const unsigned char *)text;

	for (size_t n = 0; n < 4 && n < len; n++) {
		uint32_t code = at[0] & (unsigned char)~forms[n].mask;

		if ((at[0] & forms[n].mask) != forms[n].lead)
			continue;
		for (size_t i = 1; i <= n; i++) {
			if ((at[i] & 0xc0) != 0x80)
				return 0;
			code = code << 6 | (at[i] & 0x3f);
		}
		return code >= forms[n].least && code <= 0x10ffff && (code < 0xd800 || code > 0xdfff)
			? n + 1 : 0;
	}
	return 0;
}

bool utf8_is_text(const char *text, const char *allowed)
{
	for (size_t left = strlen(text), n; left; text += n, left -= n) {
		n = utf8_char(text, left);
		if (n == 0 || (n == 1 && ((unsigned char)*text < ' ' || *text == 0x7f) &&
				      !strchr(allowed, *text)))
			return false;
	}
	return true;
}

char *utf8_replace(const char *text, size_t len, size_t *ret_len)
{
	char *copy = malloc(3 * len + 1), *to = copy;

	for (size_t i = 0, n; copy && i < len; i += n ? n : 1) {
		n = utf8_char(text + i, len - i);
		memcpy(to, n ? text + i : "\xef\xbf\xbd", n ? n : 3);
		to += n ? n : 3;
	}
	if (copy)
		*to = '\0';
	*ret_len = copy ? to - copy : 0;
	return copy;
}
