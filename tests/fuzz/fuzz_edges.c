/* SPDX-License-Identifier: MIT */

/* Files of declared edges: CSV, and action graphs of Bazel. */

#include "base/failure.h"
#include "dag/check/build.h"
#include "dag/check/edges.h"
#include "tests/fuzz/fuzz.h"

int LLVMFuzzerInitialize(FUZZ_UNUSED int *argc, FUZZ_UNUSED char ***argv)
{
	fuzz_make_directory();
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct build *build = build_create();
	struct failure failure;

	fuzz_write("edges.csv", data, size);
	edges_load(fuzz_path("edges.csv"), "/p", build, &failure);
	build_destroy(build);
	return 0;
}
