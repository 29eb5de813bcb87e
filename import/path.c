/* SPDX-License-Identifier: MIT */
#include "import/path.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

char *path_clean(const char *path)
{
	char *to = malloc(strlen(path) + 2);
	size_t len = 0, n;

	if (!to)
		return NULL;
	for (; *path; path += n) {
		path += strspn(path, "/");
		n = strcspn(path, "/");
		if (n == 0 || (n == 1 && path[0] == '.'))
			continue;
		if (n == 2 && path[0] == '.' && path[1] == '.') {
			while (len && to[--len] != '/')
				;
			continue;
		}
		to[len++] = '/';
		memcpy(to + len, path, n);
		len += n;
	}
	to[len] = '\0';
	return to;
}

char *path_join(const char *directory, const char *path)
{
	char *joined = NULL;

	if (path[0] == '/')
		return strdup(path);
	return asprintf(&joined, "%s/%s", directory, path) < 0 ? NULL : joined;
}
