/* SPDX-License-Identifier: MIT */
/* The ends of sockets. */
#include <string.h>

#include "db/record_internal.h"
#include "db/store.h"

/* The id of an address, 0 if there is none. */
static int put_address(struct record *record, const char *text, size_t len, int64_t *ret_id)
{
	struct path address = { 0 };
	int r = len ? paths_intern(record->paths, text, len, &address) : 0;

	*ret_id = address.id;
	return r;
}

static struct value id_or_null(int64_t id)
{
	return id ? V_INT(id) : V_NULL;
}

int record_socket(struct record *record, const struct event *ev, const char *text, size_t len)
{
	struct node *node = files_node(record->files, ev->u.socket.node);
	struct node *peer = files_node(record->files, ev->u.socket.peer);
	size_t local_len = strnlen(text, len);
	int64_t local, remote = 0;
	struct path path;
	int r;

	if (!node || local_len == len)
		return 0;
	r = files_path(record->files, node, NULL, 0, &path);
	if (r < 0 || !path.recorded)
		return r;
	r = put_address(record, text, local_len, &local);
	if (r == 0)
		r = put_address(record, text + local_len + 1, len - local_len - 1, &remote);
	return r < 0 ? r : store_put(record->store, PUT_SOCKET,
		(struct value[]){ V_INT(node_file(node)->id), V_INT(ev->time_ns - record->options.start_ns),
			V_INT(ev->u.socket.family), V_INT(ev->u.socket.kind), id_or_null(local), id_or_null(remote),
			V_INT(ev->u.socket.received != 0), id_or_null(peer ? node_file(peer)->id : 0), V_NULL });
}
