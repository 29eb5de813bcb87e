/* SPDX-License-Identifier: MIT */
#include "procmon/connector.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/cn_proc.h>
#include <linux/connector.h>
#include <linux/filter.h>
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

/* Some 20,000 events, should we not be scheduled for a while; memory only when it is needed. */
#define RECEIVE_BUFFER (16 << 20)
#define ANSWER_MS 200

/* Datagrams that are taken at once: some 80 bytes each. */
enum { BATCH = 32, DATAGRAM_MAX = 512 };
#define OTHERS_RING 64 /* a power of 2 */

struct connector {
	struct nl_sock *sock;
	struct nl_sock *bell;
	bool listening;
	bool bell_listening;
	bool empty; /* when the batch was taken there was no more */
	/* What is left of a datagram, and which of the batch are next */
	const char *at;
	size_t left;
	int next, end;
	struct mmsghdr batch[BATCH];
	struct iovec iovs[BATCH];
	struct sockaddr_nl from[BATCH];
	char datagrams[BATCH][DATAGRAM_MAX] __attribute__((aligned(NLMSG_ALIGNTO)));
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

/* How many bytes of an event are needed; 0: it is of no interest. */
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

int connector_bell_fd(const struct connector *connector)
{
	return nl_socket_get_fd(connector->bell);
}

/* Its datagrams are not looked at; once it was too full it stays silent until it is empty. */
void connector_hush(const struct connector *connector)
{
	struct mmsghdr nothing[OTHERS_RING] = { 0 };
	int n;

	do
		n = recvmmsg(connector_bell_fd(connector), nothing, OTHERS_RING, MSG_DONTWAIT,
			NULL);
	while (n == OTHERS_RING || (n < 0 && (errno == EINTR || errno == ENOBUFS)));
}

static void prepare_batch(struct connector *connector)
{
	for (int i = 0; i < BATCH; i++) {
		connector->iovs[i] = (struct iovec){ connector->datagrams[i], DATAGRAM_MAX };
		connector->batch[i].msg_hdr = (struct msghdr){ .msg_name = &connector->from[i],
			.msg_namelen = sizeof(connector->from[i]),
			.msg_iov = &connector->iovs[i],
			.msg_iovlen = 1 };
	}
}

/* 1 if datagrams came, 0 if there are none. */
static int receive(struct connector *connector)
{
	int n;

	do
		n = recvmmsg(nl_socket_get_fd(connector->sock), connector->batch, BATCH,
			MSG_DONTWAIT, NULL);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		return errno == EAGAIN ? 0 : -errno;
	connector->next = 0;
	connector->end = n;
	connector->empty = n < BATCH;
	return 1;
}

/* Goes on to the next datagram, if it is one of the kernel's; false at the end of the batch. */
static bool next_datagram(struct connector *connector)
{
	int i = connector->next;

	if (i == connector->end)
		return false;
	connector->next++;
	connector->at = connector->datagrams[i];
	connector->left = connector->from[i].nl_pid == 0 ? connector->batch[i].msg_len : 0;
	return true;
}

int connector_read(struct connector *connector, struct connector_event *ret_event)
{
	for (;;) {
		int r = connector_parse(&connector->at, &connector->left, ret_event);

		if (r > 0)
			return 1;
		/* What cannot be understood is newer than we know: as if it had not been sent. */
		if (next_datagram(connector))
			continue;
		if (connector->empty) {
			connector->empty = false; /* for the next call */
			return 0;
		}
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

static int send_op(struct nl_sock *sock, uint32_t ack, const uint32_t *words, size_t size)
{
	char message[sizeof(struct cn_msg) + 8] = { 0 };
	struct cn_msg head = { .id = { CN_IDX_PROC, CN_VAL_PROC }, .ack = ack, .len = size };

	memcpy(message, &head, sizeof(head));
	memcpy(message + sizeof(head), words, size);
	errno = 0;
	if (nl_send_simple(sock, NLMSG_DONE, 0, message, sizeof(head) + size) < 0)
		return system_error();
	return 0;
}

/* Answers go to all listeners: ours is the one to the number that we sent. */
static int wait_for_answer(struct connector *connector, uint32_t ack)
{
	int64_t end = clock_now_ns() + ANSWER_MS * (int64_t)1000000;

	for (;;) {
		struct pollfd pollfd = { .fd = nl_socket_get_fd(connector->sock),
			.events = POLLIN };
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

static const uint32_t listen_words[2] = { PROC_CN_MCAST_LISTEN,
	(uint32_t)PROC_EVENT_FORK | (uint32_t)PROC_EVENT_EXEC | (uint32_t)PROC_EVENT_EXIT };
static const uint32_t ignore_words[2] = { PROC_CN_MCAST_IGNORE };

/*
 * First for everything, then for what we want: a kernel that can choose (6.6) does not send the
 * answer to those who did not choose answers, and one that cannot passes over what it does not
 * know.  It can be told without <linux/cn_proc.h> being as new: struct proc_input is two words.
 */
static int listen_to_kernel(struct connector *connector)
{
	uint32_t ack = (uint32_t)getpid() ^ (uint32_t)clock_now_ns();
	int r = send_op(connector->sock, ack, listen_words, sizeof(listen_words[0]));

	if (r == 0)
		r = wait_for_answer(connector, ack);
	if (r < 0)
		return r;
	connector->listening = true;
	return send_op(connector->sock, ack, listen_words, sizeof(listen_words));
}

/*
 * Passes execs, and others by chance.  Offsets in a datagram; BPF loads big-endian.  Where there is
 * no BPF it rings for everything, which costs time only.
 */
static void attach_filter(int fd)
{
	enum { WHAT = NLMSG_HDRLEN + sizeof(struct cn_msg) + EVENT_WHAT };
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, WHAT),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, htonl(PROC_EVENT_EXEC), 2, 0),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, SKF_AD_OFF + SKF_AD_RANDOM),
		BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, OTHERS_RING - 1, 1, 0),
		BPF_STMT(BPF_RET | BPF_K, UINT32_MAX),
		BPF_STMT(BPF_RET | BPF_K, 0),
	};
	struct sock_fprog program = { sizeof(code) / sizeof(code[0]), code };

	setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof(program));
}

/* Kernels before 6.6 pass over requests of two words, and do not need them: there one listener is
 * enough for all. */
static int hang_bell(struct connector *connector)
{
	int r;

	attach_filter(connector_bell_fd(connector));
	r = send_op(connector->bell, 0, listen_words, sizeof(listen_words));
	connector->bell_listening = r == 0;
	return r;
}

static void enlarge_buffer(int fd)
{
	int size = RECEIVE_BUFFER;

	if (setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &size, sizeof(size)) < 0)
		setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &size, sizeof(size));
}

static int connect_socket(struct nl_sock **ret_sock)
{
	struct nl_sock *sock = nl_socket_alloc();

	*ret_sock = sock;
	if (!sock)
		return -ENOMEM;
	nl_socket_disable_auto_ack(sock);
	errno = 0;
	if (nl_connect(sock, NETLINK_CONNECTOR) < 0 ||
		nl_socket_add_membership(sock, CN_IDX_PROC) < 0)
		return system_error();
	return 0;
}

/* The kernel serves first who joined last: when the bell rings, the other one has the event. */
static int connect_sockets(struct connector *connector)
{
	int r = connect_socket(&connector->bell);

	if (r == 0)
		r = connect_socket(&connector->sock);
	if (r == 0)
		enlarge_buffer(nl_socket_get_fd(connector->sock));
	return r;
}

int connector_create(struct connector **ret_connector)
{
	struct connector *connector = calloc(1, sizeof(*connector));
	int r;

	if (!connector)
		return -ENOMEM;
	prepare_batch(connector);
	r = connect_sockets(connector);
	if (r == 0)
		r = listen_to_kernel(connector);
	if (r == 0)
		r = hang_bell(connector);
	if (r < 0) {
		connector_destroy(connector);
		return r;
	}
	*ret_connector = connector;
	return 0;
}

/* Before 6.6 the kernel counts listeners, and counts them down only when told so. */
void connector_destroy(struct connector *connector)
{
	if (!connector)
		return;
	if (connector->bell_listening)
		send_op(connector->bell, 0, ignore_words, sizeof(ignore_words));
	if (connector->listening)
		send_op(connector->sock, 0, ignore_words, sizeof(ignore_words[0]));
	nl_socket_free(connector->bell);
	nl_socket_free(connector->sock);
	free(connector);
}
