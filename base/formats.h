/* SPDX-License-Identifier: MIT */
#ifndef BASE_FORMATS_H
#define BASE_FORMATS_H

/*
 * Formats and files on a command line: --svg -o graph.svg --json -o graph.json.
 *
 * An option of a format has no value; -o names the file, and belongs to the format before it.  Without a format its name tells it: its
 * end is that of a format.  A format without a file goes to stdout.  "-" is stdout, too, also as the
 * first word behind such a format.
 *
 * Functions return 0, or EXIT_USAGE after they printed the error.
 */

#include <stdbool.h>

struct format {
	const char *option; /* without "--" */
	const char *ending; /* of names of its files; NULL: the option */
	bool is_binary;
};

struct formats {
	const struct format *formats; /* ended by a NULL option */
	const char **files;	      /* of each format; NULL: none */
	int pending;		      /* the format that has no file yet; begins as -1 */
};

/* value: what stands behind "=" or NULL. */
int formats_option(struct formats *formats, int format, const char *value);
int formats_file(struct formats *formats, const char *file);
/* After the last option.  words: those behind the options, of which a "-" is taken; a file among them belongs behind -o. */
int formats_finish(struct formats *formats, char **words);
/* Which format the name of a file tells; -1: none. */
int formats_find(const struct format *formats, const char *file);

#endif
