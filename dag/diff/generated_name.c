/* SPDX-License-Identifier: MIT */
#include "dag/diff/generated_name.h"

#include <string.h>

#define LEAST 6 /* X that mkstemp() wants */
#define HEX_SURE 16
#define DIGITS_MAYBE 8 /* fewer are rather a number that means something */

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool is_lower(char c)
{
	return c >= 'a' && c <= 'z';
}

static bool is_upper(char c)
{
	return c >= 'A' && c <= 'Z';
}

static bool is_hex(char c)
{
	return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

/* Python's have underscores, too. */
static bool is_python(const char *text, size_t len)
{
	size_t n = 3;

	if (len < 11 || memcmp(text, "tmp", 3) != 0)
		return false;
	while (n < len && (is_digit(text[n]) || is_lower(text[n]) || text[n] == '_'))
		n++;
	return n == 11;
}

size_t generated_name_run(const char *text, size_t len)
{
	size_t n = 0;

	if (is_python(text, len))
		return 11;
	while (n < len && (is_digit(text[n]) || is_lower(text[n]) || is_upper(text[n])))
		n++;
	return n;
}

static bool has_prefix(const char *run, size_t len, size_t before)
{
	static const struct {
		const char *text;
		size_t len;
	} made[] = { { "cc", 8 }, { "tmp", 11 }, { "nfs", 27 }, { "hidden", 22 } };

	for (size_t i = 0; i < sizeof(made) / sizeof(made[0]); i++)
		if (len == made[i].len && memcmp(run, made[i].text, strlen(made[i].text)) == 0)
			return true;
	/* mktemp: tmp.XXXXXXXXXX */
	return len >= LEAST && before >= 4 && memcmp(run - 4, "tmp.", 4) == 0;
}

enum generated generated_name_of(const char *run, size_t len, size_t before)
{
	size_t digits = 0, lower = 0, upper = 0, hex = 0;
	bool mixed;

	for (size_t i = 0; i < len; i++) {
		digits += is_digit(run[i]);
		lower += is_lower(run[i]);
		upper += is_upper(run[i]);
		hex += is_hex(run[i]);
	}
	if (has_prefix(run, len, before) || (len >= HEX_SURE && hex == len && digits < len))
		return GENERATED_SURE;
	mixed = (digits && (digits < len || len >= DIGITS_MAYBE)) ||
		(lower && upper > is_upper(run[0])) || (lower && upper && !is_upper(run[0]));
	return len >= LEAST && mixed ? GENERATED_MAYBE : GENERATED_NOT;
}

bool generated_name_is_uuid(const char *name, size_t len)
{
	if (len < 36)
		return false;
	for (size_t i = 0; i < 36; i++) {
		bool dash = i == 8 || i == 13 || i == 18 || i == 23;

		if (dash ? name[i] != '-' : !is_hex(name[i]))
			return false;
	}
	return true;
}
