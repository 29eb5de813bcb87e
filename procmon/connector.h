/* SPDX-License-Identifier: MIT */
#ifndef PROCMON_CONNECTOR_H
#define PROCMON_CONNECTOR_H

/*
 * The kernel's process connector: a netlink socket on which the kernel reports every fork, exec and
 * exit of the machine as it happens. From Linux 6.6 on every process may use it, before 6.6
 * processes with CAP_NET_ADMIN; in both cases only in the initial pid and user namespaces.
 *
 * connector_parse() is pure; the other functions use the socket. One thread at a time may use a
 * connector; any thread may poll its descriptor.
 */

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct connector;

enum connector_kind {
	CONNECTOR_FORK, /* thread tid, of process pid, was made by process parent */
	CONNECTOR_EXEC, /* process pid runs a new program; its only thread is pid from now on */
	CONNECTOR_EXIT, /* thread tid of process pid ended, with status as wait(2) has it */
	/* answer to a request to listen: status is 0 or an errno; parent is the number of the
	 * request */
	CONNECTOR_ACK
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
 * Parses the next event of a datagram and advances *bytes and *len behind it. Messages of other
 * kinds are skipped. Returns 1, 0 at the end, or -EBADMSG if the rest cannot be parsed.
 */
int connector_parse(const char **bytes, size_t *len, struct connector_event *ret_event);

/*
 * Opens the socket and subscribes. -EPERM or -EACCES: the kernel refused. -ETIMEDOUT: the kernel
 * did not answer, as in other namespaces than the initial ones. -EPROTONOSUPPORT: the kernel has no
 * connector.
 */
int connector_create(struct connector **ret_connector);
void connector_destroy(struct connector *connector);

/* For poll(2). */
int connector_fd(const struct connector *connector);

/*
 * Reads one event. Returns 1; 0 if there is none now; -ENOBUFS if the kernel dropped messages at
 * this point (the caller reads on: there may be more); or another -errno. Never blocks.
 */
int connector_read(struct connector *connector, struct connector_event *ret_event);

#endif
