/* SPDX-License-Identifier: MIT */

/* A trace whose values are not what they should be: a byte for the command that reads it, then for each
 * value its table, column and row, what kind of value is there now, and that. */

#include "tests/fuzz/damage.h"

int LLVMFuzzerInitialize(FUZZ_UNUSED int *argc, FUZZ_UNUSED char ***argv)
{
	damage_prepare();
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_bytes bytes = { data, size };
	unsigned command = fuzz_byte(&bytes);
	sqlite3 *db;

	fuzz_write("trace.db", trace_bytes, trace_size);
	db = damage_open("trace.db");
	for (int i = 0; i < 8 && bytes.left; i++)
		damage_value(db, &bytes);
	sqlite3_close(db);
	trace_read(command);
	return 0;
}
