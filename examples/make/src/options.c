/* SPDX-License-Identifier: MIT */
#include "options.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "version.h"

enum options_next options_parse(int argc, char **argv, struct options *options)
{
	static char *only_stdin[] = { "-", NULL };
	int option;

	*options = (struct options){ .top = 10 };
	while ((option = getopt(argc, argv, "n:V")) >= 0)
		switch (option) {
		case 'n':
			options->top = strtoul(optarg, NULL, 10);
			break;
		case 'V':
			puts("tally " VERSION);
			return OPTIONS_EXIT;
		default:
			return OPTIONS_USAGE;
		}
	options->files = argv[optind] ? argv + optind : only_stdin;
	return OPTIONS_RUN;
}
