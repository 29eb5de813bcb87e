/* SPDX-License-Identifier: MIT */
#ifndef PROCMON_CONNECTOR_H
#define PROCMON_CONNECTOR_H

/*
 * The kernel's process connector: a netlink socket on which it tells of every fork, exec and
 * exit of the machine as they happen.  Open to anybody from Linux 6.6 on, to CAP_NET_ADMIN
 * before, in the initial pid and user namespaces only.
 *
 * connector_parse() is pure; the rest is sockets.  A connector is used by one thread at a time, but
 * anybody may wait for its bell.
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

/*
 * A second socket, for an edge-triggered epoll(7) of any thread, which becomes readable when there
 * is an exec to be read at the first one, and for one in 64 of other events: whoever is woken by
 * forks and ends, too, is in the way of those who do them three times as often.
 */
int connector_bell_fd(const struct connector *connector);

/* Empties the bell: to be called when it has rung, before connector_read(), by any thread. */
void connector_hush(const struct connector *connector);

/*
 * Takes one event.  1, 0 when there is none now, -ENOBUFS when the kernel had to drop some here
 * (ask again: there may be more), else -errno.  Never waits.  If the kernel drops some in the very
 * moment in which others are read, the next call after a 0 says so.
 */
int connector_read(struct connector *connector, struct connector_event *ret_event);

#endif
