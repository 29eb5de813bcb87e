/* SPDX-License-Identifier: MIT */
#ifndef PROCMON_CONNECTOR_H
#define PROCMON_CONNECTOR_H

/*
 * The kernel's process connector: a netlink socket on which it tells of every fork, exec and
 * exit of the machine as they happen.  Open to anybody from Linux 6.6 on, to CAP_NET_ADMIN
 * before, in the initial pid and user namespaces only.
 *
 * connector_parse() is pure; the rest is the socket.  A connector is used by one thread at a
 * time, but anybody may poll its descriptor.
 */

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct connector;

enum connector_kind {
	CONNECTOR_FORK, /* thread tid, of process pid, was made by process parent */
	CONNECTOR_EXEC, /* process pid runs a new program; its only thread is pid from now on */
	CONNECTOR_EXIT, /* thread tid of process pid ended, with status as wait(2) has it */
	CONNECTOR_ACK	/* whether we may listen: status is 0 or an errno; parent whom it answers */
};

struct connector_event {
	enum connector_kind kind;
	pid_t tid;
	pid_t pid;
	pid_t parent;
	int status;
	int64_t time_ns; /* CLOCK_MONOTONIC */
};

/*
 * Takes the next event out of what is left of a datagram and moves on behind it; what is of no
 * interest is passed over.  1, 0 when there is no more, -EBADMSG if the rest cannot be
 * understood.
 */
int connector_parse(const char **bytes, size_t *len, struct connector_event *ret_event);

/*
 * Starts to listen.  -EPERM or -EACCES: the kernel refused; -ETIMEDOUT: it did not answer, as it
 * does to those outside of the initial namespaces; -EPROTONOSUPPORT: it has no connector.
 */
int connector_create(struct connector **ret_connector);
void connector_destroy(struct connector *connector);

/* For poll(2). */
int connector_fd(const struct connector *connector);

/*
 * Takes one event.  1, 0 when there is none now, -ENOBUFS when the kernel had to drop some here
 * (ask again: there may be more), else -errno.  Never waits.
 */
int connector_read(struct connector *connector, struct connector_event *ret_event);

#endif
