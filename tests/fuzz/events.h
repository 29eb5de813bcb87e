/* SPDX-License-Identifier: MIT */
#ifndef TESTS_FUZZ_EVENTS_H
#define TESTS_FUZZ_EVENTS_H

/*
 * Bytes as events: a byte that says how much of an event is told, one that says how long its text is, that many
 * bytes of the event, its text.
 */

#include "db/event.h"
#include "tests/fuzz/fuzz.h"

/* Times are our own, by one clock: two weeks of a machine that is up, so that sums of them fit. */
#define LAST_NS (INT64_C(1) << 50)

/* An event with its text so many times over, to be freed, which has nothing behind it; what codes and times may
 * be is kept to. */
FUZZ_UNUSED static char *event_take(struct fuzz_bytes *bytes, struct event *event, size_t times)
{
	unsigned told = fuzz_byte(bytes) % (sizeof(*event) + 1);
	size_t len = fuzz_byte(bytes);
	char *text = malloc(len * times);

	memset(event, 0, sizeof(*event));
	fuzz_take(bytes, event, told);
	event->kind = EVENT_NODE + event->kind % (EVENT_KIND_MAX - EVENT_NODE);
	if (event->kind == EVENT_OP) {
		event->op %= OP_MAX;
		event->via %= VIA_MAX;
		event->form %= FORM_CALL + 1;
		event->u.op.latency_ns %= LAST_NS;
	}
	event->time_ns %= LAST_NS;
	event->text_len = len * times;
	fuzz_take(bytes, text, len);
	for (size_t i = 1; i < times; i++)
		memcpy(text + i * len, text, len);
	return text;
}

#endif
