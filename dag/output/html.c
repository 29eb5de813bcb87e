/* SPDX-License-Identifier: MIT */
#include "dag/output/html.h"

#include <string.h>

#include "base/utf8.h"

static const char *entity(char c)
{
	switch (c) {
	case '&':
		return "&amp;";
	case '<':
		return "&lt;";
	case '>':
		return "&gt;";
	case '"':
		return "&quot;";
	case '\'':
		return "&#39;";
	default:
		return NULL;
	}
}

/* U+0080 to U+009F are control characters, too. */
static int is_control(const char *at, size_t n)
{
	unsigned char c = (unsigned char)*at;

	return n == 1 ? (c < 0x20 && c != '\n' && c != '\t') || c == 0x7f
		      : n == 2 && c == 0xc2 && (unsigned char)at[1] < 0xa0;
}

void html_put(const char *text, size_t len, FILE *out)
{
	for (size_t i = 0, n; i < len; i += n) {
		const char *instead = entity(text[i]);
		size_t known = utf8_char(text + i, len - i);

		n = known ? known : 1;
		if (instead)
			fputs(instead, out);
		else if (known && !is_control(text + i, n))
			fwrite(text + i, 1, n, out);
		else
			for (size_t k = 0; k < n; k++)
				fprintf(out, "\\x%02x", (unsigned char)text[i + k]);
	}
}

void html_put_string(const char *text, FILE *out)
{
	html_put(text, strlen(text), out);
}

void html_put_json(const char *json, size_t len, FILE *out)
{
	for (size_t i = 0; i < len; i++)
		if (json[i] == '<')
			fputs("\\u003c", out);
		else
			fputc(json[i], out);
}
