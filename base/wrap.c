/* SPDX-License-Identifier: MIT */
#include "base/wrap.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

static size_t width_of(FILE *out)
{
	struct winsize size;

	return isatty(fileno(out)) && ioctl(fileno(out), TIOCGWINSZ, &size) == 0 && size.ws_col ? size.ws_col : SIZE_MAX;
}

/* Characters of UTF-8. */
static size_t columns_of(const char *text, size_t len)
{
	size_t n = 0;

	for (size_t i = 0; i < len; i++)
		n += ((unsigned char)text[i] & 0xc0) != 0x80;
	return n;
}

void wrap_print(FILE *out, const char *head, const char *next, const char *text)
{
	size_t width = width_of(out), used = columns_of(head, strlen(head));
	bool is_first = true;

	fputs(head, out);
	while (*text) {
		size_t blanks = strspn(text, " "), len = strcspn(text + blanks, " "), columns = columns_of(text + blanks, len);

		if (!is_first && width != SIZE_MAX && used + blanks + columns > width) {
			fprintf(out, "\n%s", next);
			used = columns_of(next, strlen(next));
		} else {
			fprintf(out, "%*s", (int)blanks, "");
			used += blanks;
		}
		fwrite(text + blanks, 1, len, out);
		used += columns;
		text += blanks + len;
		is_first = false;
	}
	fputc('\n', out);
}
