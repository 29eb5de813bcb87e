/* SPDX-License-Identifier: MIT */

/* A trace whose tables and views are others: a byte for the command that reads it, then for each change what it
 * is, of what, and a line with what is there now. */

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
		damage_schema(db, &bytes);
	sqlite3_close(db);
	trace_read(command);
	return 0;
}
