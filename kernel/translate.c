/* SPDX-License-Identifier: MIT */
#include "kernel/translate.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "db/event.h"
#include "db/ring.h"
#include "kernel/names.h"
#include "kernel/translate_internal.h"
#include "kernel/wire.h"

int translate_create(const struct translate_options *options, struct translate **ret_translate)
{
	struct translate *translate = calloc(1, sizeof(*translate));

	if (!translate)
		return -ENOMEM;
	translate->options = *options;
	if (names_create(options->ring, options->each_mount, &translate->names) < 0) {
		free(translate);
		return -ENOMEM;
	}
	*ret_translate = translate;
	return 0;
}

static void forget_handles(struct translate *translate)
{
	struct handle *handle, *next;

	HASH_ITER(hh, translate->handles, handle, next) {
		HASH_DEL(translate->handles, handle);
		free(handle);
	}
}

void translate_destroy(struct translate *translate)
{
	if (!translate)
		return;
	translate_end(translate);
	forget_handles(translate);
	translate_forget_processes(translate);
	names_destroy(translate->names);
	free(translate);
}

uint64_t translate_failed(const struct translate *translate)
{
	return translate->failed;
}

/* ---- what all records use ---- */

void translate_push(struct translate *translate, const struct event *event, const void *text, size_t len)
{
	ring_push(translate->options.ring, event, text, len);
}

struct event translate_event(const struct wire_head *head, enum op op)
{
	return (struct event){ .kind = EVENT_OP, .op = op, .form = FORM_CALL, .tid = head->tid,
		.time_ns = head->time_ns };
}

struct handle *translate_handle(const struct translate *translate, uint64_t id)
{
	struct handle *handle;

	HASH_FIND(hh, translate->handles, &id, sizeof(id), handle);
	return handle;
}

int translate_add_handle(struct translate *translate, uint64_t id, uint64_t node)
{
	struct handle *handle = calloc(1, sizeof(*handle));

	if (!handle)
		return -ENOMEM;
	handle->id = id;
	handle->node = node;
	HASH_ADD(hh, translate->handles, id, sizeof(handle->id), handle);
	if (handle->hh.tbl)
		return 0;
	free(handle);
	return -ENOMEM;
}

void translate_release(struct translate *translate, uint64_t id, int32_t tid, int64_t time_ns)
{
	struct handle *handle = translate_handle(translate, id);
	struct event ev = { .kind = EVENT_OP, .op = OP_RELEASE, .form = FORM_CALL, .aside = 1, .tid = tid,
		.time_ns = time_ns, .u.op.handle = id };

	if (!handle)
		return;
	ev.u.op.node = handle->node;
	translate_push(translate, &ev, NULL, 0);
	HASH_DEL(translate->handles, handle);
	free(handle);
}

/* ---- records ---- */

/* A description that was open before tracing began, or of something that has no path. */
static int open_before(struct translate *translate, const struct wire_handle *record)
{
	struct event ev = translate_event(&record->head, OP_OPEN);
	uint64_t node = names_node(translate->names, record->name);

	if (S_ISDIR(names_mode(translate->names, record->name)))
		ev.op = OP_OPENDIR;
	ev.aside = 1;
	ev.fidelity = FIDELITY_CALL;
	ev.u.op.node = ev.u.op.other = node;
	ev.u.op.handle = record->handle;
	ev.u.op.flags = record->open_flags;
	if (translate_add_handle(translate, record->handle, node) < 0)
		return -ENOMEM;
	names_push_removed(translate->names, record->name, record->head.time_ns);
	translate_push(translate, &ev, NULL, 0);
	return 0;
}

static int release(struct translate *translate, const struct wire_handle *record)
{
	translate_release(translate, record->handle, record->head.tid, record->head.time_ns);
	return 0;
}

static int add_name(struct translate *translate, const struct wire_name *record, size_t size)
{
	size_t before = offsetof(struct wire_name, text);

	if (size < before + record->len || record->len > sizeof(record->text))
		return -EBADMSG;
	return names_add(translate->names, record, record->len);
}

static int path(struct translate *translate, const struct wire_path *record, size_t size)
{
	if (size < offsetof(struct wire_path, text) + record->len + record->len2)
		return -EBADMSG;
	return translate_path(translate, record);
}

static int text(struct translate *translate, const struct wire_text *record, size_t size)
{
	if (size < offsetof(struct wire_text, text) + record->len || record->head.call > WIRE_ENVIRON)
		return -EBADMSG;
	return translate_text(translate, record);
}

static int exec(struct translate *translate, const struct wire_exec *record, size_t size)
{
	if (size < offsetof(struct wire_exec, text) + record->len)
		return -EBADMSG;
	return translate_exec(translate, record);
}

/* Of a file that no process has used, there is no node: it is of others. */
static int device(struct translate *translate, const struct wire_device_record *record)
{
	const struct wire_device *of = &record->of;
	struct event ev = { .kind = EVENT_DEVICE, .time_ns = record->head.time_ns, .u.device = {
		.node = names_find_file(translate->names, of->dev, of->ino, of->generation), .pid = of->pid, .writes = of->writes,
		.operations = record->io.operations, .bytes = record->io.bytes, .completed = record->io.completed,
		.latency_ns = (int64_t)record->io.latency_ns, .first_ns = (int64_t)record->io.first_ns } };

	if (ev.u.device.node)
		translate_push(translate, &ev, NULL, 0);
	return 0;
}

/* The least size of a record of each type. */
static const size_t least[WIRE_MAX] = {
	[WIRE_NAME] = offsetof(struct wire_name, text),
	[WIRE_HANDLE] = sizeof(struct wire_handle),
	[WIRE_RELEASE] = sizeof(struct wire_handle),
	[WIRE_EXPIRE] = sizeof(struct wire_handle),
	[WIRE_CALL] = sizeof(struct wire_call),
	[WIRE_PATH] = offsetof(struct wire_path, text),
	[WIRE_PENDING] = sizeof(struct wire_call),
	[WIRE_REAPED] = sizeof(struct wire_reaped),
	[WIRE_FORK] = sizeof(struct wire_fork),
	[WIRE_TEXT] = offsetof(struct wire_text, text),
	[WIRE_EXEC] = offsetof(struct wire_exec, text),
	[WIRE_EXIT] = sizeof(struct wire_exit),
	[WIRE_DEAD] = sizeof(struct wire_exit),
	[WIRE_SAMPLE] = sizeof(struct wire_sample),
	[WIRE_SOCKET] = sizeof(struct wire_socket),
	[WIRE_DEVICE] = sizeof(struct wire_device_record),
};

static int dispatch(struct translate *translate, const void *record, size_t size)
{
	switch (((const struct wire_head *)record)->type) {
	case WIRE_NAME: return add_name(translate, record, size);
	case WIRE_HANDLE: return open_before(translate, record);
	case WIRE_RELEASE: return release(translate, record);
	case WIRE_EXPIRE: return translate_expire(translate, record);
	case WIRE_CALL: return translate_call(translate, record);
	case WIRE_PATH: return path(translate, record, size);
	case WIRE_PENDING: return translate_pending(translate, record);
	case WIRE_REAPED: return translate_reaped(translate, record);
	case WIRE_FORK: return translate_fork(translate, record);
	case WIRE_TEXT: return text(translate, record, size);
	case WIRE_EXEC: return exec(translate, record, size);
	case WIRE_EXIT: return translate_exit(translate, record);
	case WIRE_DEAD: return translate_dead(translate, record);
	case WIRE_SAMPLE: return translate_sample(translate, record);
	case WIRE_SOCKET: return translate_socket(translate, record);
	case WIRE_DEVICE: return device(translate, record);
	}
	return -EBADMSG;
}

int translate_record(struct translate *translate, const void *record, size_t size)
{
	const struct wire_head *head = record;
	int r = -EBADMSG;

	if (size >= sizeof(*head) && head->type < WIRE_MAX && least[head->type] && size >= least[head->type])
		r = dispatch(translate, record, size);
	if (r < 0)
		translate->failed++;
	return r;
}

void translate_end(struct translate *translate)
{
	translate_end_processes(translate);
	while (translate->pendings)
		translate_give_up(translate, translate->pendings);
}
