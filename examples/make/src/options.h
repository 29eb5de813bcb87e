/* SPDX-License-Identifier: MIT */
#ifndef OPTIONS_H
#define OPTIONS_H

#include <stddef.h>

struct options {
	size_t top; /* so many words are shown */
	char **files;
};

enum options_next { OPTIONS_RUN, OPTIONS_EXIT, OPTIONS_USAGE };

enum options_next options_parse(int argc, char **argv, struct options *options);

#endif
