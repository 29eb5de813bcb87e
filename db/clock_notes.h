/* SPDX-License-Identifier: MIT */
#ifndef DB_CLOCK_NOTES_H
#define DB_CLOCK_NOTES_H

/*
 * What the clocks of a machine showed at one moment, several times in a run: times of a trace are of CLOCK_MONOTONIC, and traces of
 * several machines can be compared by CLOCK_REALTIME alone.
 */

#include <stdint.h>

struct store;

#define CLOCK_NOTES_NS INT64_C(60000000000) /* from one note to the next */

/* epoch_offset_ns, start_ns: as the times of the trace are stored.  0 or -errno. */
int clock_notes_put(struct store *store, int64_t start_ns, int64_t epoch_offset_ns);

#endif
