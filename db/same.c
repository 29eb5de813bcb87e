/* SPDX-License-Identifier: MIT */
#include "db/same.h"

#include <string.h>

/* "[HOST:]/DIRECTORY", without slashes at its end. */
struct side {
	const char *host; /* NULL: any */
	size_t host_len;
	const char *path;
	size_t len;
};

static bool parse_side(const char *text, size_t len, struct side *ret)
{
	const char *colon = text[0] == '/' ? NULL : memchr(text, ':', len);

	*ret = (struct side){ colon ? text : NULL, colon ? (size_t)(colon - text) : 0, text, len };
	if (colon) {
		ret->path = colon + 1;
		ret->len -= ret->host_len + 1;
	}
	if ((colon && !ret->host_len) || !ret->len || ret->path[0] != '/')
		return false;
	while (ret->len && ret->path[ret->len - 1] == '/')
		ret->len--;
	return true;
}

static bool parse(const char *text, struct side *ret_name, struct side *ret_other)
{
	const char *equals = strchr(text, '=');

	return equals && parse_side(text, (size_t)(equals - text), ret_name) && parse_side(equals + 1, strlen(equals + 1), ret_other);
}

const char *same_wrong(const char *text)
{
	struct side name, other;

	return parse(text, &name, &other) ? NULL : "it must be PREFIX=OTHER, each a path that begins with '/' or HOST:/";
}

static bool is_below(const struct side *side, const char *host, const char *path, size_t len)
{
	if (side->host && (!host || strlen(host) != side->host_len || memcmp(host, side->host, side->host_len) != 0))
		return false;
	return len >= side->len && memcmp(path, side->path, side->len) == 0 && (len == side->len || path[side->len] == '/');
}

/* The prefix that it gets, and how much of it that replaces. */
static bool find(const struct same *same, const char *host, const char *path, size_t len, struct side *ret_name, size_t *ret_len)
{
	bool found = false;

	for (int i = 0; i < same->n; i++) {
		struct side sides[2];

		if (!parse(same->texts[i], &sides[0], &sides[1]))
			continue;
		for (int k = 0; k < 2; k++)
			if (is_below(&sides[k], host, path, len) && (!found || sides[k].len > *ret_len)) {
				*ret_name = sides[0];
				*ret_len = sides[k].len;
				found = true;
			}
	}
	return found;
}

static void same_path(sqlite3_context *context, int n, sqlite3_value **values)
{
	const struct same *same = sqlite3_user_data(context);
	bool is_blob = sqlite3_value_type(values[1]) == SQLITE_BLOB;
	const char *path = sqlite3_value_blob(values[1]), *host = (const char *)sqlite3_value_text(values[0]);
	size_t len = (size_t)sqlite3_value_bytes(values[1]), replaced;
	struct side name;
	char *text;

	(void)n;
	if (!path || !find(same, host, path, len, &name, &replaced))
		return;
	text = sqlite3_malloc64(name.len + len - replaced + 2);
	if (!text) {
		sqlite3_result_error_nomem(context);
		return;
	}
	memcpy(text, name.path, name.len);
	memcpy(text + name.len, path + replaced, len - replaced);
	len = name.len + len - replaced;
	if (!len) /* the root itself */
		text[len++] = '/';
	if (is_blob)
		sqlite3_result_blob64(context, text, len, sqlite3_free);
	else
		sqlite3_result_text64(context, text, len, sqlite3_free, SQLITE_UTF8);
}

int same_register(sqlite3 *sqlite, const struct same *same)
{
	return sqlite3_create_function(sqlite, "same_path", 2, SQLITE_UTF8 | SQLITE_DETERMINISTIC, (void *)same, same_path, NULL, NULL);
}
