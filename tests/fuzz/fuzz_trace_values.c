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
	return damage_run(data, size, damage_value);
}
