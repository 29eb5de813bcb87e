/* SPDX-License-Identifier: MIT */
#include "db/text.h"

#include <fcntl.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "db/event.h"

bool text_is_utf8(const char *bytes, size_t len)
{
	size_t n;

	for (; len; bytes += n, len -= n) {
		n = (unsigned char)*bytes < 0x80 ? 1 : utf8_char(bytes, len);
		if (n == 0)
			return false;
	}
	return true;
}

struct value text_value(const char *bytes, size_t len)
{
	if (!bytes)
		return V_NULL;
	return V_BYTES(text_is_utf8(bytes, len) ? VALUE_TEXT : VALUE_BLOB, bytes, len);
}

static json_t *replaced_string(const char *bytes, size_t len)
{
	size_t fit_len;
	char *fit = utf8_replace(bytes, len, &fit_len);
	json_t *string = fit ? json_stringn(fit, fit_len) : NULL;

	free(fit);
	return string;
}

char *text_json_array(const char *args, size_t len, bool *ret_exact)
{
	json_t *array = json_array();
	char *text = NULL;
	int r = array ? 0 : -1;

	*ret_exact = len == 0 || args[len - 1] == '\0';
	for (size_t i = 0; i < len && r == 0;) {
		size_t n = strnlen(args + i, len - i);
		json_t *string = json_stringn(args + i, n);

		if (!string) {
			string = replaced_string(args + i, n);
			*ret_exact = false;
		}
		r = json_array_append_new(array, string); /* fails if string is NULL */
		i += n + 1;
	}
	if (r == 0)
		text = json_dumps(array, JSON_COMPACT);
	json_decref(array);
	return text;
}

const char *text_part(const char *text, size_t len, int part, size_t *ret_len)
{
	*ret_len = 0;
	for (int i = 0;; i++) {
		uint32_t n;

		if (len < sizeof(n))
			return NULL;
		memcpy(&n, text, sizeof(n));
		text += sizeof(n);
		len -= sizeof(n);
		if (i == part) {
			if (n == UINT32_MAX || n > len)
				return NULL;
			*ret_len = n;
			return text;
		}
		if (n == UINT32_MAX)
			continue;
		if (n > len)
			return NULL;
		text += n;
		len -= n;
	}
}

/* A name of several bits is before the names of its parts. */
static const struct {
	uint32_t bits;
	const char *name;
} flag_names[] = {
	{ O_CREAT, "O_CREAT" },		{ O_EXCL, "O_EXCL" },	     { O_NOCTTY, "O_NOCTTY" },
	{ O_TRUNC, "O_TRUNC" },		{ O_APPEND, "O_APPEND" },    { O_NONBLOCK, "O_NONBLOCK" },
	{ __O_TMPFILE, "O_TMPFILE" },	{ O_SYNC, "O_SYNC" },	     { O_DSYNC, "O_DSYNC" },
	{ O_ASYNC, "O_ASYNC" },		{ O_DIRECT, "O_DIRECT" },    { 0100000, "O_LARGEFILE" },
	{ O_DIRECTORY, "O_DIRECTORY" }, { O_NOFOLLOW, "O_NOFOLLOW" }, { O_NOATIME, "O_NOATIME" },
	{ O_CLOEXEC, "O_CLOEXEC" },	{ O_PATH, "O_PATH" },	     { FMODE_EXEC, "FMODE_EXEC" },
};

void text_open_flags(uint32_t flags, char *out, size_t size)
{
	static const char *const access[] = { "O_RDONLY", "O_WRONLY", "O_RDWR", "O_ACCMODE" };
	uint32_t left = flags & ~(uint32_t)O_ACCMODE;
	int used = snprintf(out, size, "%s", access[flags & O_ACCMODE]);

	for (size_t i = 0; i < sizeof(flag_names) / sizeof(flag_names[0]); i++) {
		if ((left & flag_names[i].bits) != flag_names[i].bits)
			continue;
		left &= ~flag_names[i].bits;
		if ((size_t)used < size)
			used += snprintf(out + used, size - used, "|%s", flag_names[i].name);
	}
	if (left && (size_t)used < size)
		snprintf(out + used, size - used, "|0x%x", left);
}
