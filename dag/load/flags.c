/* SPDX-License-Identifier: MIT */
#include <fcntl.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "dag/load/plan_internal.h"

static const struct {
	const char *name;
	uint32_t bits;
} flag_names[] = {
	{ "O_WRONLY", O_WRONLY }, { "O_RDWR", O_RDWR }, { "O_CREAT", O_CREAT }, { "O_EXCL", O_EXCL }, { "O_TRUNC", O_TRUNC },
	{ "O_APPEND", O_APPEND }, { "O_NONBLOCK", O_NONBLOCK }, { "O_TMPFILE", O_TMPFILE }, { "O_SYNC", O_SYNC }, { "O_DSYNC", O_DSYNC },
	{ "O_DIRECT", O_DIRECT }, { "O_DIRECTORY", O_DIRECTORY }, { "O_NOFOLLOW", O_NOFOLLOW }, { "O_NOATIME", O_NOATIME },
	{ "O_CLOEXEC", O_CLOEXEC }, { "O_PATH", O_PATH },
};

static uint32_t bits_of(const char *name, size_t len)
{
	for (size_t i = 0; i < sizeof(flag_names) / sizeof(flag_names[0]); i++)
		if (strlen(flag_names[i].name) == len && memcmp(flag_names[i].name, name, len) == 0)
			return flag_names[i].bits;
	return 0;
}

uint32_t load_flags_parse(const char *text, size_t len)
{
	uint32_t flags = 0;

	while (len > 0) {
		const char *end = memchr(text, '|', len);
		size_t n = end ? (size_t)(end - text) : len;

		flags |= bits_of(text, n);
		len -= end ? n + 1 : n;
		text += end ? n + 1 : n;
	}
	return flags;
}
