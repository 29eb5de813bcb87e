/* SPDX-License-Identifier: MIT */
#ifndef FTRAC_TRANSPORT_H
#define FTRAC_TRANSPORT_H

/*
 * How requests come to us and answers go back: by the device, read and written, or by rings of io_uring
 * that the kernel shares with us (FUSE over io_uring, Linux 6.14, libfuse 3.18), which saves a system
 * call and most of the switching.
 *
 * There is one ring for each processor, with one thread of libfuse's that takes its requests one by one.
 * What follows is kept to by all handlers:
 *   - a handler replies before it returns: libfuse 3.18.3 loses replies by other threads;
 *   - a handler never waits for another request of the same mount, which may come by the same ring; and
 *     for nothing else that may take long, since all others of that processor wait with it.
 * So the rings are taken only where nothing can lead a handler into such a wait.
 */

#include <stdbool.h>

enum transport_wish { TRANSPORT_AUTO, TRANSPORT_URING, TRANSPORT_DEVICE };

/* From "auto", "on" or "off".  0 or -EINVAL. */
int transport_parse(const char *text, enum transport_wish *ret_wish);

/* What decides. */
struct transport_conditions {
	bool library; /* libfuse knows of it */
	/* Of the kernel: it knows of it, it is switched on, and lets us have rings. */
	bool kernel, enabled, allowed;
	bool waits;  /* requests will wait for others: locks that are passed on */
	bool mirror; /* another ftrac is mounted: the two would wait for each other */
	bool late;   /* answers of the source may come late: network, other FUSE file systems */
};

/* As it is here, for that source (absolute, without links). */
struct transport_conditions transport_probe(const char *source, bool waits);

/*
 * Whether it is to be io_uring; with a wish for it that cannot be fulfilled *ret_why says why not
 * and what to do, else it is NULL.
 */
bool transport_choose(const struct transport_conditions *conditions, enum transport_wish wish,
	const char **ret_why);

/* As wanted by the fact of that name: "io_uring" or "device". */
const char *transport_name(bool uring);

#endif
