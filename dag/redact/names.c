/* SPDX-License-Identifier: MIT */
#include "dag/redact/names.h"

#include <stdbool.h>
#include <string.h>

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool is_name(char c)
{
	return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || (unsigned char)c >= 0x80;
}

static size_t digits_at(const char *text, size_t len, size_t at)
{
	size_t n = 0;

	while (at + n < len && is_digit(text[at + n]))
		n++;
	return n;
}

/* 1.2.3.4, not as a part of a longer name or number; 0: it is none. */
static size_t ipv4_at(const char *text, size_t len, size_t at)
{
	size_t end = at;

	if (at && (is_name(text[at - 1]) || text[at - 1] == '.'))
		return 0;
	for (int i = 0; i < 4; i++) {
		size_t n = digits_at(text, len, end);

		if (n < 1 || n > 3)
			return 0;
		end += n;
		if (i < 3 && (end >= len || text[end++] != '.'))
			return 0;
	}
	if (end < len && (is_name(text[end]) || (text[end] == '.' && digits_at(text, len, end + 1))))
		return 0;
	return end - at;
}

/* At a '[': the bytes up to ']'. */
static size_t ipv6_at(const char *text, size_t len, size_t at)
{
	size_t n = 0, colons = 0;

	for (; at + n < len && text[at + n] && strchr("0123456789abcdefABCDEF:.", text[at + n]); n++)
		colons += text[at + n] == ':';
	return colons > 1 && at + n < len && text[at + n] == ']' ? n : 0;
}

static struct name word_at(const char *text, size_t len, size_t at)
{
	size_t n = 0, digits = digits_at(text, len, at);

	while (at + n < len && is_name(text[at + n]))
		n++;
	return (struct name){ n == digits ? NAME_NUMBER : NAME_WORD, n };
}

struct name name_at(const char *text, size_t len, size_t at)
{
	size_t n = at && text[at - 1] == '[' ? ipv6_at(text, len, at) : 0;

	if (n)
		return (struct name){ NAME_IPV6, n };
	n = is_digit(text[at]) ? ipv4_at(text, len, at) : 0;
	if (n)
		return (struct name){ NAME_IPV4, n };
	return is_name(text[at]) ? word_at(text, len, at) : (struct name){ NAME_NONE, 1 };
}
