/* SPDX-License-Identifier: MIT */

/* Lines of rules: in a makefile, build.ninja or CSV file, as the first byte says. */

#include "dag/check/rulefile.h"
#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const targets[] = { "/top/a.o", "/top/x/y", "/" };
	struct rulefile rulefile = { 0 };
	const struct rulefile_rule *rule;
	char *text;

	if (size == 0)
		return 0;
	text = malloc(size); /* nothing behind it */
	memcpy(text, data + 1, size - 1);
	text[size - 1] = '\0';
	rulefile_parse(&rulefile, text, data[0] % 3, 7);
	for (size_t i = 0; i < sizeof(targets) / sizeof(targets[0]); i++) {
		rulefile_find(&rulefile, "/top", targets[i], i ? targets[i - 1] : NULL, &rule);
		FUZZ_ASSERT(!rule || (rule->file == 7 && rule->line >= 1));
	}
	rulefile_finish(&rulefile);
	free(text);
	return 0;
}
