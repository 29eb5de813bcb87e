/* SPDX-License-Identifier: MIT */

/* tally: counts what there is to count in texts. */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "input.h"
#include "options.h"
#include "report.h"

static int tally(const char *path, size_t top)
{
	struct counts counts;
	size_t len;
	char *text = input_read(path, &len);

	if (!text || words_init(&counts.words, text, len) < 0) {
		fprintf(stderr, "tally: cannot read '%s': %s\n", path, strerror(errno));
		free(text);
		return 1;
	}
	letters_count(&counts.letters, text, len);
	lines_count(&counts.lines, text, len);
	prose_count(&counts.prose, text, len);
	report_print(stdout, path, &counts, top);
	words_finish(&counts.words);
	free(text);
	return 0;
}

int main(int argc, char **argv)
{
	struct options options;
	int status = 0;

	switch (options_parse(argc, argv, &options)) {
	case OPTIONS_EXIT:
		return 0;
	case OPTIONS_USAGE:
		fprintf(stderr, "usage: tally [-n WORDS] [-V] [FILE...]\n");
		return 2;
	case OPTIONS_RUN:
		break;
	}
	for (char **file = options.files; *file; file++)
		status |= tally(*file, options.top);
	if (fflush(stdout) != 0) {
		fprintf(stderr, "tally: cannot write: %s\n", strerror(errno));
		return 1;
	}
	return status;
}
