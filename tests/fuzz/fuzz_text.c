/* SPDX-License-Identifier: MIT */

/* Bytes of others on their way into the database. */

#include <jansson.h>

#include "base/utf8.h"
#include "db/event.h"
#include "db/text.h"
#include "tests/fuzz/fuzz.h"

static void check_arguments(const char *bytes, size_t size)
{
	bool exact;
	char *json = text_json_array(bytes, size, &exact);
	json_t *array = json ? json_loads(json, 0, NULL) : NULL;

	FUZZ_ASSERT(json_is_array(array));
	json_decref(array);
	free(json);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *bytes = malloc(size), *fit, flags[512]; /* nothing behind them */
	uint32_t word = 0;
	size_t len;

	memcpy(bytes, data, size);
	memcpy(&word, data, size < sizeof(word) ? size : sizeof(word));
	fit = utf8_replace(bytes, size, &len);
	FUZZ_ASSERT(text_is_utf8(fit, len));
	FUZZ_ASSERT(!text_is_utf8(bytes, size) || (len == size && memcmp(fit, bytes, len) == 0));
	check_arguments(bytes, size);
	for (int part = 0; part < PROCESS_PART_MAX; part++) {
		const char *at = text_part(bytes, size, part, &len);

		FUZZ_ASSERT(!at || (at >= bytes && at + len <= bytes + size));
	}
	text_open_flags(word, flags, 1 + word % sizeof(flags));
	free(fit);
	free(bytes);
	return 0;
}
