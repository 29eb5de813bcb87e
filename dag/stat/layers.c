/* SPDX-License-Identifier: MIT */

/* Layers: what programs asked, what the file system was asked, what devices did, and what lies between. */

#include <errno.h>
#include <string.h>

#include "base/failure.h"
#include "base/saturate.h"
#include "dag/container/groups.h"
#include "dag/stat/stat.h"
#include "dag/trace/traces.h"
#include "db/query.h"

enum {
	CALLS,
	CALLS_READ,
	CALLS_WRITTEN,
	CALLS_NS,
	REQUESTS,
	REQUESTS_READ,
	REQUESTS_WRITTEN,
	REQUESTS_NS,
	FILE_READ,
	FILE_WRITTEN,
	CALLS_MAX
};
#define CALLS_COLUMNS                                                                              \
	"calls calls_read_bytes calls_written_bytes calls_ns requests requests_read_bytes requests_written_bytes " \
	"requests_ns file_read_bytes file_written_bytes"

enum { DEVICE_READ, DEVICE_WRITTEN, DEVICE_WAIT, DEVICE_MAX };
#define DEVICE_COLUMNS "read_bytes written_bytes wait_ns"

struct layers {
	int64_t calls[CALLS_MAX], device[DEVICE_MAX];
	bool has_calls, has_requests, has_device[DEVICE_MAX];
};

/* What devices did is known of processes, not of files. */
static bool is_of_files(const struct stat_options *o)
{
	static const char *const of_files[] = { "file", "path", "directory", "fstype", "mount", "operation", "class" };

	for (int i = 0; i < o->by.n; i++)
		for (size_t k = 0; k < sizeof(of_files) / sizeof(of_files[0]); k++)
			if (stat_has_by(o, of_files[k]))
				return true;
	return false;
}

static int add_calls(struct groups *groups, const struct query *query, int keys)
{
	struct layers *l = groups_find(groups, query);

	if (!l)
		return -ENOMEM;
	l->has_calls = true;
	l->has_requests = query_type(query, keys + REQUESTS) != QUERY_NULL;
	for (int i = 0; i < CALLS_MAX; i++)
		l->calls[i] = query_int(query, keys + i);
	return 0;
}

static int add_device(struct groups *groups, const struct query *query, int keys)
{
	struct layers *l = groups_find(groups, query);

	if (!l)
		return -ENOMEM;
	for (int i = 0; i < DEVICE_MAX; i++) {
		l->has_device[i] = query_type(query, keys + i) != QUERY_NULL;
		l->device[i] = query_int(query, keys + i);
	}
	return 0;
}

static int read_layer(struct stat_run *run, const char *name, const char *columns,
	int (*add)(struct groups *groups, const struct query *query, int keys), int *ret_keys, struct groups **groups)
{
	struct query *query;
	int r = traces_query(run->db, name, columns, &run->options->choice, &query, ret_keys, run->failure);

	if (r == 0 && !*groups) {
		stat_columns(run->table, query, 0, *ret_keys - 1);
		r = failure_of_memory(run->failure, groups_create(*ret_keys, sizeof(struct layers), groups));
	}
	while (r == 0 && (r = traces_next(run->db, query, run->failure)) > 0)
		r = failure_of_memory(run->failure, add(*groups, query, *ret_keys));
	query_end(query);
	return r;
}

/* count, ns: -1: not known. */
static void put_row(struct table *table, const struct groups *groups, size_t group, int keys, const char *layer, int64_t count,
	bool has_read, int64_t read, bool has_written, int64_t written, int64_t ns)
{
	groups_put(groups, group, 0, keys - 1, table);
	table_string(table, layer);
	count < 0 ? table_null(table) : table_int(table, count);
	has_read ? table_int(table, read) : table_null(table);
	has_written ? table_int(table, written) : table_null(table);
	ns < 0 ? table_null(table) : table_int(table, ns);
	table_row(table);
}

/* What the page cache kept from devices, or had them read ahead. */
static void put_cache(struct table *table, const struct groups *groups, size_t group, int keys, const struct layers *l)
{
	int64_t read = saturate_subtract(l->calls[FILE_READ], l->device[DEVICE_READ]);
	int64_t written = saturate_subtract(l->calls[FILE_WRITTEN], l->device[DEVICE_WRITTEN]);

	if (!l->has_calls || l->has_requests)
		return;
	put_row(table, groups, group, keys, "cache", -1, l->has_device[DEVICE_READ], read > 0 ? read : 0,
		l->has_device[DEVICE_WRITTEN], written > 0 ? written : 0, -1);
	if (l->has_device[DEVICE_READ] && read < 0)
		put_row(table, groups, group, keys, "read-ahead", -1, true, -read, false, 0, -1);
}

static void put_layers(struct stat_run *run, const struct groups *groups, size_t group, int keys, bool has_devices)
{
	const struct layers *l = groups_data(groups, group);

	if (l->has_calls)
		put_row(run->table, groups, group, keys, "calls", l->calls[CALLS], true, l->calls[CALLS_READ], true,
			l->calls[CALLS_WRITTEN], l->calls[CALLS_NS]);
	if (l->has_requests)
		put_row(run->table, groups, group, keys, "requests", l->calls[REQUESTS], true, l->calls[REQUESTS_READ], true,
			l->calls[REQUESTS_WRITTEN], l->calls[REQUESTS_NS]);
	if (!has_devices)
		return;
	put_cache(run->table, groups, group, keys, l);
	put_row(run->table, groups, group, keys, "device", -1, l->has_device[DEVICE_READ], l->device[DEVICE_READ],
		l->has_device[DEVICE_WRITTEN], l->device[DEVICE_WRITTEN],
		l->has_device[DEVICE_WAIT] ? l->device[DEVICE_WAIT] : -1);
}

static int fill(struct stat_run *run)
{
	bool has_devices = !is_of_files(run->options);
	struct groups *groups = NULL;
	int keys = 0, r = read_layer(run, "layers.calls", CALLS_COLUMNS, add_calls, &keys, &groups);

	if (r == 0 && has_devices)
		r = read_layer(run, "layers.device", DEVICE_COLUMNS, add_device, &keys, &groups);
	table_columns(run->table, "layer operations read_bytes written_bytes latency_ns");
	for (size_t i = 0; r == 0 && i < groups_count(groups); i++)
		put_layers(run, groups, i, keys, has_devices);
	groups_destroy(groups);
	table_note(run->table, "calls: what the programs asked, also of pipes and sockets; requests: what a mount was asked; cache: bytes of "
		"files that no device moved in the process's name; device: bytes that the kernel counts as read for the process, "
		"or as changed by it and to be written.");
	if (!has_devices)
		table_note(run->table, "What devices did is known of processes, not of files.");
	if (!run->has_ops)
		stat_note_no_ops(run, "Calls and requests are");
	return r;
}

const struct stat_table stat_layers_table = {
	.name = "layers",
	.fill = fill,
	.needs_ops = true,
	.options = STAT_BY | STAT_CHOICE | STAT_OPERATION,
	.queries = "layers.calls layers.device",
	.help = "what programs, the file system and devices did, and what lies between",
};
