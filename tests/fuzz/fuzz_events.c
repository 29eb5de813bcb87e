/* SPDX-License-Identifier: MIT */

/*
 * A stream of events, whatever they say, becomes rows: eight bytes that say how long the text of an event is
 * and how much of the event itself is told, that many bytes of it, its text.
 */

#include "db/event.h"
#include "db/record.h"
#include "db/store.h"
#include "tests/fuzz/fuzz.h"

/* Times are our own, by one clock: two weeks of a machine that is up, so that sums of them fit. */
#define LAST_NS (INT64_C(1) << 50)

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
	unsigned told = fuzz_byte(bytes) % (sizeof(event) + 1), len = fuzz_byte(bytes);
	char *text;
	int r;

	memset(&event, 0, sizeof(event));
	fuzz_take(bytes, &event, told);
	event.kind = EVENT_NODE + event.kind % (EVENT_KIND_MAX - EVENT_NODE);
	if (event.kind == EVENT_OP) {
		event.op %= OP_MAX;
		event.via %= VIA_MAX;
		event.u.op.latency_ns %= LAST_NS;
	}
	event.time_ns %= LAST_NS;
	event.text_len = len;
	text = malloc(len); /* nothing behind it */
	fuzz_take(bytes, text, len);
	r = record_event(record, &event, text, len);
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
		r = record_flush(record);
	if (r == 0) {
		record_prune(record, INT64_MAX / 2);
		r = record_finish(record);
	}
	if (r == 0)
		r = record_flush(record);
	FUZZ_ASSERT(r == 0);
	record_destroy(record);
	store_rollback(store);
	return 0;
}
