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
	return damage_run(data, size, damage_schema);
}
