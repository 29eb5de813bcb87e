/* SPDX-License-Identifier: MIT */

/* Layers: what programs asked, what the file system was asked, what devices did, and what lies between. */

#include <errno.h>
#include <string.h>

#include "base/failure.h"
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
	CALLS_MAX
};
#define CALLS_COLUMNS                                                                              \
	"calls calls_read_bytes calls_written_bytes calls_ns requests requests_read_bytes requests_written_bytes " \
	"requests_ns"

enum { DEVICE_OPERATIONS, DEVICE_READ, DEVICE_WRITTEN, DEVICE_NS, CACHED_READ, CACHED_WRITTEN, AHEAD, DEVICE_MAX };
#define DEVICE_COLUMNS "operations read_bytes written_bytes wait_ns cached_read_bytes cached_written_bytes ahead_bytes"

struct layers {
	int64_t calls[CALLS_MAX], device[DEVICE_MAX];
	bool has_calls, has_requests, has_device[DEVICE_MAX];
};

/* What the rows of devices are of. */
enum devices { DEVICES_UNKNOWN, DEVICES_OF_PROCESSES, DEVICES_OF_FILES };

static int count_keys(const struct stat_options *o, const char *const *names)
{
	int n = 0;

	for (int i = 0; names[i]; i++)
		n += stat_has_by(o, names[i]);
	return n;
}

static bool has_other_keys(const struct stat_options *o, const char *const *names)
{
	int n = 0;

	for (int i = 0; i < o->by.n; i++) {
		n++;
		for (const char *at = o->by.word[i]; (at = strchr(at, ',')); at++)
			n++;
	}
	return n != count_keys(o, names);
}

static const char *const of_files[] = { "file", "path", "directory", "fstype", "mount", NULL };

/* What devices did is known of whole processes, of which the kernel counts it, and of files: not of some calls. */
static enum devices devices_of(const struct stat_options *o)
{
	static const char *const of_calls[] = { "operation", "class", NULL };

	if (!compose_takes_all_calls(&o->choice) || count_keys(o, of_calls))
		return DEVICES_UNKNOWN;
	return count_keys(o, of_files) ? DEVICES_OF_FILES : DEVICES_OF_PROCESSES;
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
	for (int i = 0; i < DEVICE_MAX; i++)
		if (query_type(query, keys + i) != QUERY_NULL) {
			l->has_device[i] = true;
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

struct cell {
	bool known;
	int64_t value;
};
#define UNKNOWN ((struct cell){ 0 })
#define KNOWN(n) ((struct cell){ true, n })

static void put_cell(struct table *table, struct cell cell)
{
	cell.known ? table_int(table, cell.value) : table_null(table);
}

static void put_row(struct table *table, const struct groups *groups, size_t group, int keys, const char *layer,
	const struct cell cells[4])
{
	groups_put(groups, group, 0, keys - 1, table);
	table_string(table, layer);
	for (int i = 0; i < 4; i++)
		put_cell(table, cells[i]);
	table_row(table);
}

static struct cell device(const struct layers *l, int column)
{
	return (struct cell){ l->has_device[column], l->device[column] };
}

static void put_layers(struct stat_run *run, const struct groups *groups, size_t group, int keys, enum devices devices)
{
	const struct layers *l = groups_data(groups, group);
	const struct cell calls[] = { KNOWN(l->calls[CALLS]), KNOWN(l->calls[CALLS_READ]), KNOWN(l->calls[CALLS_WRITTEN]),
		KNOWN(l->calls[CALLS_NS]) };
	const struct cell requests[] = { KNOWN(l->calls[REQUESTS]), KNOWN(l->calls[REQUESTS_READ]),
		KNOWN(l->calls[REQUESTS_WRITTEN]), KNOWN(l->calls[REQUESTS_NS]) };
	const struct cell cached[] = { UNKNOWN, device(l, CACHED_READ), device(l, CACHED_WRITTEN), UNKNOWN };
	const struct cell ahead[] = { UNKNOWN, device(l, AHEAD), UNKNOWN, UNKNOWN };
	const struct cell did[] = { device(l, DEVICE_OPERATIONS), device(l, DEVICE_READ), device(l, DEVICE_WRITTEN),
		device(l, DEVICE_NS) };

	if (l->has_calls)
		put_row(run->table, groups, group, keys, "calls", calls);
	if (l->has_requests)
		put_row(run->table, groups, group, keys, "requests", requests);
	if (l->has_device[CACHED_READ] || l->has_device[CACHED_WRITTEN])
		put_row(run->table, groups, group, keys, "cache", cached);
	if (l->has_device[AHEAD] && l->device[AHEAD])
		put_row(run->table, groups, group, keys, "read-ahead", ahead);
	if (devices == DEVICES_OF_PROCESSES || (devices == DEVICES_OF_FILES && l->has_device[DEVICE_OPERATIONS]))
		put_row(run->table, groups, group, keys, "device", did);
}

/* A trace of a mount has nothing about files on devices. */
static int knows_files(struct stat_run *run, bool *ret_knows)
{
	struct query *query;
	int r = traces_query(run->db, "layers.knows", "knows", &run->options->choice, &query, NULL, run->failure);

	while (r == 0 && (r = traces_next(run->db, query, run->failure)) > 0) {
		*ret_knows = true;
		r = 0;
	}
	query_end(query);
	return r;
}

static int read_devices(struct stat_run *run, enum devices devices, int *keys, struct groups **groups)
{
	int r = 0;

	if (devices == DEVICES_OF_PROCESSES)
		return read_layer(run, "layers.device", DEVICE_COLUMNS, add_device, keys, groups);
	if (devices == DEVICES_OF_FILES)
		r = read_layer(run, "layers.disk", DEVICE_COLUMNS, add_device, keys, groups);
	if (r == 0 && devices == DEVICES_OF_FILES && !has_other_keys(run->options, of_files))
		r = read_layer(run, "layers.kept", DEVICE_COLUMNS, add_device, keys, groups);
	return r;
}

static void put_notes(struct table *table, enum devices devices)
{
	table_note(table, "calls: what the programs asked, also of pipes and sockets; requests: what a mount was asked; cache: bytes of "
		"files that no device moved%s; read-ahead: bytes that devices read beyond what calls asked, also pages of mapped files "
		"and of programs.", devices == DEVICES_OF_PROCESSES ? " in the process's name" : "");
	if (devices == DEVICES_OF_PROCESSES)
		table_note(table, "device: bytes that the kernel counts as read for the process, or as changed by it and to be written.");
	else if (devices == DEVICES_OF_FILES)
		table_note(table, "device: requests to block devices for the files, until their end; what is written back after the record is not "
			"there.");
	else
		table_note(table, "What devices did is known of whole processes, and of files in a record by the kernel; not of some of the calls.");
}

static int fill(struct stat_run *run)
{
	enum devices devices = devices_of(run->options);
	struct groups *groups = NULL;
	bool knows = false;
	int keys = 0, r = read_layer(run, "layers.calls", CALLS_COLUMNS, add_calls, &keys, &groups);

	if (r == 0)
		r = knows_files(run, &knows);
	if (devices == DEVICES_OF_FILES && !knows)
		devices = DEVICES_UNKNOWN;
	if (r == 0)
		r = read_devices(run, devices, &keys, &groups);
	table_columns(run->table, "layer operations read_bytes written_bytes latency_ns");
	for (size_t i = 0; r == 0 && i < groups_count(groups); i++)
		put_layers(run, groups, i, keys, devices);
	groups_destroy(groups);
	put_notes(run->table, devices);
	if (!run->has_ops)
		stat_note_no_ops(run, "Calls and requests are");
	return r;
}

const struct stat_table stat_layers_table = {
	.name = "layers",
	.fill = fill,
	.needs_ops = true,
	.options = STAT_BY | STAT_CHOICE | STAT_OPERATION,
	.queries = "layers.calls layers.device layers.disk layers.kept layers.knows",
	.help = "what programs, file system and devices did, and what lies between",
};
