/* SPDX-License-Identifier: MIT */

/* Notes in which a build says what it declares. */

#include <sys/stat.h>

#include "db/declared.h"
#include "db/paths.h"
#include "db/store.h"
#include "tests/fuzz/fuzz.h"

static struct store *store;

static void end(void)
{
	store_destroy(store);
}

int LLVMFuzzerInitialize(FUZZ_UNUSED int *argc, FUZZ_UNUSED char ***argv)
{
	fuzz_make_directory();
	FUZZ_ASSERT(mkdir(fuzz_path("notes"), 0700) == 0);
	FUZZ_ASSERT(store_create(fuzz_path("trace.db"), false, &store) == 0);
	atexit(end);
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct paths_options options = { .source = "/" };
	struct paths *paths;
	char notes[sizeof(fuzz_directory) + 8];

	snprintf(notes, sizeof(notes), "%s", fuzz_path("notes"));
	fuzz_write("notes/1", data, size);
	FUZZ_ASSERT(store_begin(store) == 0);
	FUZZ_ASSERT(paths_create(store, &options, 4096, &paths) == 0);
	FUZZ_ASSERT(declared_store(store, paths, notes) == 0);
	paths_destroy(paths);
	store_rollback(store);
	return 0;
}
