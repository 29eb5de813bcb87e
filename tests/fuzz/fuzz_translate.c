/* SPDX-License-Identifier: MIT */

/* Records of the programs in the kernel: a length of two bytes in front of each. */

#include "db/event.h"
#include "db/ring.h"
#include "kernel/translate.h"
#include "tests/fuzz/fuzz.h"

static void empty(struct ring *ring)
{
	static struct event events[256];

	while (ring_drain(ring, events, 256) > 0)
		;
}

static void take(struct translate *translate, const uint8_t *at, size_t len)
{
	void *record = malloc(len); /* aligned, and nothing behind it */

	memcpy(record, at, len);
	translate_record(translate, record, len);
	free(record);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct translate_options options = { 0 };
	struct translate *translate;
	size_t len;

	if (ring_create(4096, true, &options.ring) < 0 || translate_create(&options, &translate) < 0)
		return 0;
	while (size > 2) {
		len = data[0] | data[1] << 8;
		data += 2;
		size -= 2;
		len = len < size ? len : size;
		take(translate, data, len);
		empty(options.ring);
		data += len;
		size -= len;
	}
	translate_destroy(translate);
	ring_destroy(options.ring);
	return 0;
}
