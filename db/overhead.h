/* SPDX-License-Identifier: MIT */
#ifndef DB_OVERHEAD_H
#define DB_OVERHEAD_H

/*
 * What tracing has cost the programs: how much longer a run took than it would have taken by itself.
 *
 * What a file system does, it would do natively, too; what a request costs beyond that is its way
 * through the kernel to the daemon and back, and its handling there.  The way cannot be seen from
 * inside, but the kernel makes several requests for one system call - it looks a name up and opens what
 * it found -, and between the end of one and the start of the next there is nothing else than the way
 * back and the way there.  So the mean of these gaps (of those that are not far from their median) is
 * what the way takes, on this machine and under the load of this run; where there are hardly any, as
 * long as the shortest tenth of all gaps between two requests of a thread.  A stop by ptrace, which is a
 * switch to another process and back as well, takes as much.  Handling is what the daemon measures, but no
 * more than a gap: what takes longer than that is the file system's.
 *
 *	sum   gap x (requests that somebody waits for + stops) + handling
 *	wall  that part of sum by which the run was longer: requests that are under way at the same time
 *	      lengthen it once (length of the union of their times / sum of their lengths)
 *
 * What a program loses by caches that the daemon has emptied, or because it is not alone on its processor
 * any more, is not in it.
 *
 * One thread.  Memory: some 20 KiB.
 */

#include <stdint.h>

struct event;
struct overhead;

int overhead_create(struct overhead **ret_overhead); /* 0 or -ENOMEM */
void overhead_destroy(struct overhead *overhead);    /* NULL is fine */

/* Operations and what is told by ptrace, each event once; others are ignored. */
void overhead_event(struct overhead *overhead, const struct event *event);

struct overhead_ns {
	int64_t sum, wall;
};
/* Both 0 as long as there were too few gaps to say. */
struct overhead_ns overhead_so_far(const struct overhead *overhead);

#endif
