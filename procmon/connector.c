/* SPDX-License-Identifier: MIT */
#include "procmon/connector.h"

#include <errno.h>
#include <linux/cn_proc.h>
#include <linux/connector.h>
#include <linux/netlink.h>
#include <netlink/netlink.h>
#include <netlink/socket.h>
#include <poll.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"

/* Room for about 20,000 events while this process is not scheduled. The kernel allocates it on
 * demand. */
#define RECEIVE_BUFFER (16 << 20)
#define ANSWER_MS 200

struct connector {
	struct nl_sock *sock;
	bool listening;
	/* The unread rest of the last datagram */
	const char *at;
	size_t left;
	char datagram[4096] __attribute__((aligned(NLMSG_ALIGNTO)));
};

/* ---- bytes to events ---- */

/* Of struct proc_event, which is only 4-aligned behind its headers: offsets, not a pointer. */
enum { EVENT_WHAT = 0, EVENT_STAMP = 8, EVENT_DATA = 16 };

static uint32_t word(const char *event, int n)
{
	uint32_t value;

	memcpy(&value, event + EVENT_DATA + n * sizeof(value), sizeof(value));
	return value;
}

/* How many bytes of an event are needed; 0: the event is ignored. */
static size_t event_size(uint32_t what)
{
	switch (what) {
	case PROC_EVENT_NONE: return EVENT_DATA + 4;
	case PROC_EVENT_FORK: return EVENT_DATA + 16;
	case PROC_EVENT_EXEC: return EVENT_DATA + 8;
	case PROC_EVENT_EXIT: return EVENT_DATA + 16;
	default: return 0;
	}
}

static struct connector_event read_event(uint32_t what, uint32_t ack, const char *event)
{
	struct connector_event ev = { 0 };

	memcpy(&ev.time_ns, event + EVENT_STAMP, sizeof(ev.time_ns));
	switch (what) {
	case PROC_EVENT_NONE:
		ev.kind = CONNECTOR_ACK;
		ev.status = word(event, 0);
		ev.parent = ack;
		break;
	case PROC_EVENT_FORK:
		ev.kind = CONNECTOR_FORK;
		ev.parent = word(event, 1);
		ev.tid = word(event, 2);
		ev.pid = word(event, 3);
		break;
	case PROC_EVENT_EXEC:
		ev.kind = CONNECTOR_EXEC;
		ev.tid = word(event, 0);
		ev.pid = word(event, 1);
		break;
	default:
		ev.kind = CONNECTOR_EXIT;
		ev.tid = word(event, 0);
		ev.pid = word(event, 1);
		ev.status = word(event, 2);
	}
	return ev;
}

/* One netlink payload.  1 if it is an event, 0 if it is something else, -EBADMSG. */
static int parse_payload(const char *payload, size_t len, struct connector_event *ret_event)
{
	struct cn_msg head;
	uint32_t what;

	if (len < sizeof(head))
		return -EBADMSG;
	memcpy(&head, payload, sizeof(head));
	if (head.id.idx != CN_IDX_PROC || head.id.val != CN_VAL_PROC)
		return 0;
	payload += sizeof(head);
	if (head.len > len - sizeof(head) || head.len < sizeof(what))
		return -EBADMSG;
	memcpy(&what, payload + EVENT_WHAT, sizeof(what));
	if (!event_size(what) && what != PROC_EVENT_NONE)
		return 0;
	if (head.len < event_size(what))
		return -EBADMSG;
	*ret_event = read_event(what, head.ack, payload);
	return 1;
}

int connector_parse(const char **bytes, size_t *len, struct connector_event *ret_event)
{
	int r = 0;

	while (r == 0 && *len) {
		struct nlmsghdr head;
		size_t size;

		if (*len < sizeof(head))
			return -EBADMSG;
		memcpy(&head, *bytes, sizeof(head));
		if (head.nlmsg_len < sizeof(head) || head.nlmsg_len > *len)
			return -EBADMSG;
		if (head.nlmsg_type == NLMSG_DONE)
			r = parse_payload(*bytes + NLMSG_HDRLEN, head.nlmsg_len - NLMSG_HDRLEN,
				ret_event);
		size = NLMSG_ALIGN(head.nlmsg_len);
		size = size < *len ? size : *len;
		*bytes += size;
		*len -= size;
	}
	return r;
}

/* ---- the socket ---- */

int connector_fd(const struct connector *connector)
{
	return nl_socket_get_fd(connector->sock);
}

/* 1 if a datagram of the kernel arrived, 0 if there is none. */
static int receive(struct connector *connector)
{
	struct sockaddr_nl from;
	struct iovec iov = { connector->datagram, sizeof(connector->datagram) };
	struct msghdr msg = { .msg_name = &from, .msg_iov = &iov, .msg_iovlen = 1 };
	ssize_t n;

	do {
		msg.msg_namelen = sizeof(from);
		n = recvmsg(connector_fd(connector), &msg, MSG_DONTWAIT);
	} while ((n < 0 && errno == EINTR) || (n >= 0 && from.nl_pid != 0));
	if (n < 0)
		return errno == EAGAIN ? 0 : -errno;
	connector->at = connector->datagram;
	connector->left = n;
	return 1;
}

int connector_read(struct connector *connector, struct connector_event *ret_event)
{
	for (;;) {
		int r = connector_parse(&connector->at, &connector->left, ret_event);

		if (r > 0)
			return 1;
		if (r < 0)
			connector->left = 0; /* an unknown format: ignore it */
		r = receive(connector);
		if (r <= 0)
			return r;
	}
}

/* libnl has error numbers of its own, but what fails below them is always a system call. */
static int system_error(void)
{
	return errno ? -errno : -EIO;
}

static int send_op(struct connector *connector, uint32_t ack, const uint32_t *words, size_t size)
{
	char message[sizeof(struct cn_msg) + 8] = { 0 };
	struct cn_msg head = { .id = { CN_IDX_PROC, CN_VAL_PROC }, .ack = ack, .len = size };

	memcpy(message, &head, sizeof(head));
	memcpy(message + sizeof(head), words, size);
	errno = 0;
	if (nl_send_simple(connector->sock, NLMSG_DONE, 0, message, sizeof(head) + size) < 0)
		return system_error();
	return 0;
}

/* The kernel sends answers to all listeners; ours has the number that we sent. */
static int wait_for_answer(struct connector *connector, uint32_t ack)
{
	int64_t end = clock_now_ns() + ANSWER_MS * (int64_t)1000000;

	for (;;) {
		struct pollfd pollfd = { .fd = connector_fd(connector), .events = POLLIN };
		struct connector_event ev;
		int64_t left = end - clock_now_ns();
		int r = connector_read(connector, &ev);

		if (r > 0 && ev.kind == CONNECTOR_ACK && (uint32_t)ev.parent == ack + 1)
			return -ev.status;
		if (r < 0 && r != -ENOBUFS)
			return r;
		if (left <= 0)
			return -ETIMEDOUT;
		if (r == 0)
			poll(&pollfd, 1, left / 1000000 + 1);
	}
}

/*
 * Subscribes first to everything, then to the events needed. A kernel that can filter (6.6) does
 * not send the answer to a listener whose filter excludes answers; an older kernel ignores the
 * filter. struct proc_input is two words, so this needs no recent <linux/cn_proc.h>.
 */
static int listen_to_kernel(struct connector *connector)
{
	const uint32_t words[2] = { PROC_CN_MCAST_LISTEN,
		(uint32_t)PROC_EVENT_FORK | (uint32_t)PROC_EVENT_EXEC | (uint32_t)PROC_EVENT_EXIT };
	uint32_t ack = (uint32_t)getpid() ^ (uint32_t)clock_now_ns();
	int r = send_op(connector, ack, words, sizeof(words[0]));

	if (r == 0)
		r = wait_for_answer(connector, ack);
	if (r < 0)
		return r;
	connector->listening = true;
	return send_op(connector, ack, words, sizeof(words));
}

static void enlarge_buffer(int fd)
{
	int size = RECEIVE_BUFFER;

	if (setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &size, sizeof(size)) < 0)
		setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &size, sizeof(size));
}

static int connect_socket(struct connector *connector)
{
	connector->sock = nl_socket_alloc();
	if (!connector->sock)
		return -ENOMEM;
	nl_socket_disable_auto_ack(connector->sock);
	errno = 0;
	if (nl_connect(connector->sock, NETLINK_CONNECTOR) < 0)
		return system_error();
	enlarge_buffer(connector_fd(connector));
	if (nl_socket_add_membership(connector->sock, CN_IDX_PROC) < 0)
		return system_error();
	return 0;
}

int connector_create(struct connector **ret_connector)
{
	struct connector *connector = calloc(1, sizeof(*connector));
	int r;

	if (!connector)
		return -ENOMEM;
	r = connect_socket(connector);
	if (r == 0)
		r = listen_to_kernel(connector);
	if (r < 0) {
		connector_destroy(connector);
		return r;
	}
	*ret_connector = connector;
	return 0;
}

/* Before 6.6 the kernel counts listeners, and decrements only on this message. */
void connector_destroy(struct connector *connector)
{
	const uint32_t ignore = PROC_CN_MCAST_IGNORE;

	if (!connector)
		return;
	if (connector->listening)
		send_op(connector, 0, &ignore, sizeof(ignore));
	nl_socket_free(connector->sock);
	free(connector);
}
