/* SPDX-License-Identifier: MIT */

/* A trace whose pages are damaged: a byte for the command that reads it, a word for how much of it is cut
 * off, then five bytes for each damage: where, what is there now, and how often. */

#include "tests/fuzz/traces.h"

int LLVMFuzzerInitialize(FUZZ_UNUSED int *argc, FUZZ_UNUSED char ***argv)
{
	trace_prepare();
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_bytes bytes = { data, size };
	unsigned command = fuzz_byte(&bytes);
	uint8_t *trace = malloc(trace_size);
	uint16_t cut;

	fuzz_take(&bytes, &cut, sizeof(cut));
	memcpy(trace, trace_bytes, trace_size);
	while (bytes.left) {
		uint16_t high;
		size_t at = fuzz_byte(&bytes);
		int value = (int)fuzz_byte(&bytes);
		size_t n = 1 + fuzz_byte(&bytes) % 16;

		fuzz_take(&bytes, &high, sizeof(high));
		at = (at + 256 * (size_t)high) % trace_size;
		memset(trace + at, value, n < trace_size - at ? n : trace_size - at);
	}
	fuzz_write("trace.db", trace, trace_size - (cut & 1 ? cut % trace_size : 0));
	free(trace);
	trace_read(command);
	return 0;
}
