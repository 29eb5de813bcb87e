/* SPDX-License-Identifier: MIT */
/* Addresses of sockets -> their ends. */

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/sysmacros.h>
#include <sys/un.h>

#include "kernel/calls.h"
#include "kernel/names.h"
#include "kernel/translate_internal.h"

#define ADDRESS_TEXT 160

/* Both ends as text, each "" while it is not known. */
struct ends {
	char local[ADDRESS_TEXT], remote[ADDRESS_TEXT];
};

/* An IPv4 address that IPv6 has taken in is that of the other end's IPv4 socket. */
static void internet_text(int family, const void *address, uint16_t port, char ret_text[static ADDRESS_TEXT])
{
	char text[INET6_ADDRSTRLEN];

	if (family == AF_INET6 && IN6_IS_ADDR_V4MAPPED((const struct in6_addr *)address)) {
		family = AF_INET;
		address = (const uint8_t *)address + 12;
	}
	ret_text[0] = '\0';
	if (port && inet_ntop(family, address, text, sizeof(text)))
		snprintf(ret_text, ADDRESS_TEXT, family == AF_INET6 ? "[%s]:%u" : "%s:%u", text, port);
}

/* A path; '@' and a name that is in no file system; or nothing. */
static void unix_text(const uint8_t *address, size_t length, char ret_text[static ADDRESS_TEXT])
{
	size_t before = offsetof(struct sockaddr_un, sun_path), n = length > before ? length - before : 0;
	const char *path = (const char *)address + before;

	ret_text[0] = '\0';
	if (n > 0 && path[0])
		snprintf(ret_text, ADDRESS_TEXT, "%.*s", (int)n, path);
	else if (n > 1)
		snprintf(ret_text, ADDRESS_TEXT, "@%.*s", (int)n - 1, path + 1);
}

static void given_text(const struct wire_socket *record, char ret_text[static ADDRESS_TEXT])
{
	struct sockaddr_in v4;
	struct sockaddr_in6 v6;
	sa_family_t family;

	ret_text[0] = '\0';
	if (record->length < sizeof(family))
		return;
	memcpy(&family, record->address, sizeof(family));
	if (family == AF_UNIX) {
		unix_text(record->address, record->length, ret_text);
	} else if (family == AF_INET && record->length >= sizeof(v4)) {
		memcpy(&v4, record->address, sizeof(v4));
		internet_text(AF_INET, &v4.sin_addr, ntohs(v4.sin_port), ret_text);
	} else if (family == AF_INET6 && record->length >= sizeof(v6)) {
		memcpy(&v6, record->address, sizeof(v6));
		internet_text(AF_INET6, &v6.sin6_addr, ntohs(v6.sin6_port), ret_text);
	}
}

static void fill_ends(const struct wire_socket *record, struct ends *ret_ends)
{
	char given[ADDRESS_TEXT];

	*ret_ends = (struct ends){ 0 };
	if (record->family == AF_INET || record->family == AF_INET6) {
		internet_text(record->family, record->local, record->local_port, ret_ends->local);
		internet_text(record->family, record->remote, record->remote_port, ret_ends->remote);
	}
	given_text(record, given);
	if (given[0])
		memcpy(record->head.call == CALL_bind ? ret_ends->local : ret_ends->remote, given, sizeof(given));
}

static bool is_reception(uint16_t call)
{
	return call == CALL_recvfrom || call == CALL_recvmsg || call == CALL_recvmmsg || call == CALL_recvmmsg_time64;
}

/* FNV-1a, never 0. */
static uint64_t hash_of(const struct event *ev, const char *text, size_t len)
{
	uint64_t hash = UINT64_C(0xcbf29ce484222325) ^ ev->u.socket.peer ^ (uint64_t)ev->u.socket.received << 63;

	for (size_t i = 0; i < len; i++)
		hash = (hash ^ (uint8_t)text[i]) * UINT64_C(0x100000001b3);
	return hash | 1;
}

int translate_socket(struct translate *translate, const struct wire_socket *record)
{
	struct handle *handle = translate_handle(translate, record->handle);
	uint64_t dev = makedev(record->dev >> 20, record->dev & 0xfffff), hash;
	uint64_t peer = record->peer_ino ? names_find_node(translate->names, dev, record->peer_ino) : 0;
	struct event ev = { .kind = EVENT_SOCKET, .time_ns = record->head.time_ns,
		.u.socket = { .peer = peer, .family = record->family, .kind = record->kind,
			.received = is_reception(record->head.call) } };
	char text[2 * ADDRESS_TEXT];
	struct ends ends;
	size_t len;

	if (record->length > sizeof(record->address))
		return -EBADMSG;
	if (!handle)
		return 0;
	fill_ends(record, &ends);
	len = (size_t)snprintf(text, sizeof(text), "%s%c%s", ends.local, '\0', ends.remote);
	hash = hash_of(&ev, text, len);
	if (hash == handle->ends)
		return 0;
	handle->ends = hash;
	ev.u.socket.node = handle->node;
	translate_push(translate, &ev, text, len);
	return 0;
}
