/* SPDX-License-Identifier: MIT */

/* Dependency files of compilers. */

#include "dag/check/depfile.h"
#include "tests/fuzz/fuzz.h"

static int take(void *arg, const char *target, const char *prerequisite)
{
	int *left = arg;

	FUZZ_ASSERT(strlen(target) + strlen(prerequisite) < SIZE_MAX);
	return --*left < 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = malloc(size); /* nothing behind it */
	int most = 10000;

	memcpy(text, data, size);
	depfile_parse(text, size, take, &most);
	free(text);
	return 0;
}
