/* SPDX-License-Identifier: MIT */

/*
 * Events with texts of any length, in pieces, through a queue that may be too small for them, to the thread that
 * writes: a byte for how large the queue is, and whether it loses what has no room; then, for each event, how
 * many times over its text is, and what events.h says.
 */

#include <sqlite3.h>

#include "db/record.h"
#include "db/ring.h"
#include "db/store.h"
#include "db/writer.h"
#include "tests/fuzz/events.h"

int LLVMFuzzerInitialize(FUZZ_UNUSED int *argc, FUZZ_UNUSED char ***argv)
{
	fuzz_make_directory();
	return 0;
}

static void push(struct ring *ring, struct fuzz_bytes *bytes)
{
	size_t times = 1 + fuzz_byte(bytes) % 64;
	struct event event;
	char *text = event_take(bytes, &event, times);

	ring_push(ring, &event, text, event.text_len);
	free(text);
}

/* The trace is whole, whatever was in it. */
static void check_trace(void)
{
	sqlite3_stmt *stmt;
	sqlite3 *db;

	FUZZ_ASSERT(sqlite3_open_v2(fuzz_path("trace.db"), &db, SQLITE_OPEN_READONLY, NULL) ==
		    SQLITE_OK);
	FUZZ_ASSERT(sqlite3_prepare_v2(db,
			    "SELECT value = 1 AND (SELECT count(*) FROM op) = "
			    "(SELECT value FROM trace WHERE key = 'ops_recorded') FROM trace "
			    "WHERE key = 'complete'",
			    -1, &stmt, NULL) == SQLITE_OK);
	FUZZ_ASSERT(sqlite3_step(stmt) == SQLITE_ROW && sqlite3_column_int(stmt, 0) == 1);
	sqlite3_finalize(stmt);
	sqlite3_close(db);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_bytes bytes = { data, size };
	unsigned how = fuzz_byte(&bytes);
	struct writer_options options = { .record = { .paths.source = "/", .ops = true } };
	struct writer *writer;

	FUZZ_ASSERT(store_create(fuzz_path("trace.db"), true, &options.store) == 0);
	FUZZ_ASSERT(ring_create((size_t)4 << how % 8, how & 128, &options.ring) == 0);
	FUZZ_ASSERT(writer_start(&options, &writer) == 0);
	while (bytes.left)
		push(options.ring, &bytes);
	FUZZ_ASSERT(writer_stop(writer) == 0);
	store_destroy(options.store);
	ring_destroy(options.ring);
	check_trace();
	return 0;
}
