/* SPDX-License-Identifier: MIT */

/* What ninja prints when it is asked: targets, then a line "%%", then queries, then such a line, then what
 * compilers have added. */

#include "dag/check/ninja.c" /* its lines are its own affair */

#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static int (*const take[])(struct ninja * n, char *line) = { take_target, take_query,
		take_deps };
	struct ninja *n = calloc(1, sizeof(*n));
	struct fuzz_bytes bytes = { data, size };
	int tool = 0;

	n->build = build_create();
	n->node = BUILD_NONE;
	n->directory = strdup("/p");
	n->commands = path_names_create();
	while (bytes.left && tool < 3) {
		char *line = fuzz_line(&bytes);

		if (strcmp(line, "%%") == 0) {
			tool++;
			n->node = BUILD_NONE;
		} else {
			take[tool](n, line);
		}
		free(line);
	}
	build_destroy(n->build);
	ninja_destroy(n);
	return 0;
}
