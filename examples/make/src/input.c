/* SPDX-License-Identifier: MIT */
#include "input.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char *read_stream(FILE *stream, size_t *ret_len)
{
	char *text = NULL;
	size_t size = 0, len = 0, n;

	do {
		if (size - len < 2) {
			char *grown;

			size = size ? 2 * size : 4096;
			grown = realloc(text, size);
			if (!grown) {
				free(text);
				return NULL;
			}
			text = grown;
		}
		n = fread(text + len, 1, size - len - 1, stream);
		len += n;
	} while (n > 0);
	if (ferror(stream)) {
		free(text);
		return NULL;
	}
	text[len] = '\0';
	*ret_len = len;
	return text;
}

char *input_read(const char *path, size_t *ret_len)
{
	FILE *stream = strcmp(path, "-") == 0 ? stdin : fopen(path, "r");
	char *text;
	int error;

	if (!stream)
		return NULL;
	text = read_stream(stream, ret_len);
	error = errno;
	if (stream != stdin)
		fclose(stream);
	errno = error;
	return text;
}
