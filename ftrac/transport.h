/* SPDX-License-Identifier: MIT */
#ifndef FTRAC_TRANSPORT_H
#define FTRAC_TRANSPORT_H

/*
 * How requests reach the daemon and replies return: by reading and writing the device, or by rings
 * of io_uring that the kernel shares with the daemon (FUSE over io_uring, Linux 6.14, libfuse
 * 3.18). Rings save a system call and most context switches.
 *
 * There is one ring per processor, and one thread of libfuse handles its requests one by one.
 * Therefore all handlers follow these rules:
 *
 * - A handler replies before it returns: libfuse 3.18.3 loses replies by other threads.
 * - A handler never waits for another request of the same mount, which may come by the same ring,
 *   and for nothing else that may take long, because all other requests of that processor wait with
 *   it.
 *
 * So ftrac uses rings only where nothing can lead a handler into such a wait.
 */

#include <stdbool.h>

enum transport_wish { TRANSPORT_AUTO, TRANSPORT_URING, TRANSPORT_DEVICE };

/* From "auto", "on" or "off".  0 or -EINVAL. */
int transport_parse(const char *text, enum transport_wish *ret_wish);

/* The conditions for io_uring. */
struct transport_conditions {
	bool library; /* libfuse supports it */
	/* The kernel supports it; it is enabled; this process may create rings. */
	bool kernel, enabled, allowed;
	bool waits;  /* requests wait for other requests: --locks native */
	bool mirror; /* another ftrac is mounted: the two could deadlock */
	bool late;   /* the source may reply late: network, other FUSE file systems */
};

/* Reads the conditions on this machine, for that source (absolute, without links). */
struct transport_conditions transport_probe(const char *source, bool waits);

/*
 * Returns whether to use io_uring. If the options require it but it cannot work, *ret_why says why
 * not and what to do; otherwise *ret_why is NULL.
 */
bool transport_choose(const struct transport_conditions *conditions, enum transport_wish wish,
	const char **ret_why);

/* The value of the fact "transport" of the trace: "io_uring" or "device". */
const char *transport_name(bool uring);

#endif
