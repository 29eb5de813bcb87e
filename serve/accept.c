/* SPDX-License-Identifier: MIT */
#include "serve/accept.h"

#include <stddef.h>
#include <string.h>
#include <strings.h>

#define BLANKS " \t"

static bool begins(const char *text, size_t len, const char *with)
{
	return len >= strlen(with) && strncasecmp(text, with, strlen(with)) == 0;
}

/* In thousandths, as HTTP has it: 0 to 1 with at most three digits. */
static int read_weight(const char *text, size_t len)
{
	int weight = len > 0 && text[0] == '1' ? 1000 : 0;

	for (size_t i = 2, of = 100; i < len && of > 0 && text[i] >= '0' && text[i] <= '9'; i++, of /= 10)
		weight += (text[i] - '0') * (int)of;
	return weight < 1000 ? weight : 1000;
}

/* Of one range, like "text/plain;version=0.0.4;q=0.5". */
static int weight_of(const char *range, size_t len)
{
	const char *end = range + len, *at = range;

	while ((at = memchr(at, ';', (size_t)(end - at)))) {
		at += 1 + strspn(at + 1, BLANKS);
		if (begins(at, (size_t)(end - at), "q="))
			return read_weight(at + 2, (size_t)(end - at) - 2);
	}
	return 1000;
}

/* The largest weight of the ranges with this type. */
static int weight(const char *header, const char *type)
{
	int most = 0;

	for (const char *at = header, *end; *at; at = *end ? end + 1 : end) {
		at += strspn(at, BLANKS);
		end = at + strcspn(at, ",");
		if (begins(at, (size_t)(end - at), type) && strchr(BLANKS ";,", at[strlen(type)])) {
			int w = weight_of(at, (size_t)(end - at));

			most = w > most ? w : most;
		}
	}
	return most;
}

bool accept_openmetrics(const char *header)
{
	int wanted = header ? weight(header, "application/openmetrics-text") : 0;

	return wanted > 0 && wanted >= weight(header, "text/plain");
}
