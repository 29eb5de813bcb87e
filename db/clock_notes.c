/* SPDX-License-Identifier: MIT */
#include "db/clock_notes.h"

#include <stdbool.h>
#include <sys/timex.h>

#include "base/clock.h"
#include "db/store.h"

#define TRIES 8

struct clocks {
	int64_t monotonic, realtime, boottime, took;
};

static struct clocks read_once(void)
{
	struct clocks c = { .monotonic = clock_now_ns() };
	int64_t end;

	c.realtime = clock_read_ns(CLOCK_REALTIME);
	c.boottime = clock_read_ns(CLOCK_BOOTTIME);
	end = clock_now_ns();
	c.took = end - c.monotonic;
	c.monotonic += c.took / 2;
	return c;
}

/* Between two of them this thread may have waited for a processor: the fastest of several. */
static struct clocks read_clocks(void)
{
	struct clocks best = read_once();

	for (int i = 1; i < TRIES; i++) {
		struct clocks c = read_once();

		if (c.took < best.took)
			best = c;
	}
	return best;
}

int clock_notes_put(struct store *store, int64_t start_ns, int64_t epoch_offset_ns)
{
	struct timex kernel = { .modes = 0 };
	int state = adjtimex(&kernel); /* a container may not allow it */
	struct clocks c = read_clocks();
	const struct value values[] = { V_INT(0), V_INT(c.monotonic - start_ns), V_INT(c.realtime - c.monotonic - epoch_offset_ns),
		V_INT(c.realtime - c.boottime), V_OPT(state >= 0, state != TIME_ERROR && !(kernel.status & STA_UNSYNC)),
		V_OPT(state >= 0, (int64_t)kernel.maxerror * 1000) };

	return store_put(store, PUT_CLOCK, values);
}
