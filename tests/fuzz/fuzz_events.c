/* SPDX-License-Identifier: MIT */

/* A stream of events, whatever they say, becomes rows. */

#include "db/record.h"
#include "db/store.h"
#include "tests/fuzz/events.h"

static struct store *store;

static void end(void)
{
	store_destroy(store);
}

int LLVMFuzzerInitialize(FUZZ_UNUSED int *argc, FUZZ_UNUSED char ***argv)
{
	fuzz_make_directory();
	FUZZ_ASSERT(store_create(fuzz_path("trace.db"), false, &store) == 0);
	atexit(end);
	return 0;
}

static int feed(struct record *record, struct fuzz_bytes *bytes)
{
	struct event event;
	char *text = event_take(bytes, &event, 1);
	int r = record_event(record, &event, text, event.text_len);

	free(text);
	return r;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const exclude[] = { "*.o", NULL };
	struct fuzz_bytes bytes = { data, size };
	struct record_options options = { .paths = { .source = "/", .exclude = exclude } };
	struct record *record;
	int r = 0;

	options.ops = fuzz_byte(&bytes) & 1;
	FUZZ_ASSERT(store_begin(store) == 0);
	FUZZ_ASSERT(record_create(store, &options, &record) == 0);
	while (bytes.left && r == 0)
		r = feed(record, &bytes);
	if (r == 0)
		r = record_flush(record, INT64_MAX);
	if (r == 0) {
		record_prune(record, INT64_MAX / 2);
		r = record_finish(record);
	}
	if (r == 0)
		r = record_flush(record, INT64_MAX);
	FUZZ_ASSERT(r == 0);
	record_destroy(record);
	store_rollback(store);
	return 0;
}
