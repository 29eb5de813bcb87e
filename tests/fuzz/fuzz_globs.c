/* SPDX-License-Identifier: MIT */

/* Patterns that choose: of ftrac (--include, --exclude, --env), and of the programs that read traces.  Three
 * lines: a pattern, another, a path. */

#include "base/failure.h"
#include "dag/trace/choice.h"
#include "dag/trace/compose.h"
#include "db/paths.h"
#include "procmon/environ.h"
#include "tests/fuzz/fuzz.h"

#define MOST 64 /* of a pattern: fnmatch(3) takes exponential time with many stars */

static void choose(const char *one, const char *other, const char *path)
{
	struct choice choice = { 0 };

	if (choice_apply(&choice, CHOICE_INCLUDE, one) == 0 &&
		choice_apply(&choice, CHOICE_EXCLUDE, other) == 0 &&
		choice_apply(&choice, CHOICE_PHASE, other) == 0 && choice_check(&choice) == 0) {
		struct failure failure = { 0 };
		char *sql;

		choice_takes_path(&choice, path);
		compose("graph.files", &choice, &sql, NULL, &failure);
		free(sql);
	}
	choice_fits_path(one, path);
	choice_finish(&choice);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_bytes bytes = { data, size };
	char *one = fuzz_line(&bytes), *other = fuzz_line(&bytes), *path = fuzz_line(&bytes);
	const char *const include[] = { one, NULL }, *const exclude[] = { other, NULL };
	const struct paths_options options = { .include = include, .exclude = exclude };

	if (strlen(one) <= MOST && strlen(other) <= MOST && strlen(path) <= MOST) {
		paths_are_recorded(&options, path);
		environ_allowed(path, include);
		choose(one, other, path);
	}
	free(one);
	free(other);
	free(path);
	return 0;
}
