/* SPDX-License-Identifier: MIT */
/* What block devices did for files. */
#include "db/record_internal.h"
#include "db/store.h"

int record_device(struct record *record, const struct event *ev)
{
	struct node *node = files_node(record->files, ev->u.device.node);
	int64_t start_ns = record->options.start_ns;
	struct path path;
	int r;

	if (!node)
		return 0;
	r = files_path(record->files, node, NULL, 0, &path);
	if (r < 0 || !path.recorded)
		return r;
	return store_put(record->store, PUT_DEVICE, (struct value[]){ V_INT(node_file(node)->id),
		V_OPT(ev->u.device.pid > 0, ev->u.device.pid), V_NULL, V_INT(ev->u.device.writes), V_INT((int64_t)ev->u.device.operations),
		V_INT((int64_t)ev->u.device.bytes), V_INT((int64_t)ev->u.device.completed), V_INT(ev->u.device.latency_ns),
		V_INT(ev->u.device.first_ns - start_ns), V_INT(ev->time_ns - start_ns) });
}
