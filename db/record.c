/* SPDX-License-Identifier: MIT */
#include "db/record.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "db/calls.h"
#include "db/tuples.h"
#include "db/declared.h"
#include "db/metrics.h"
#include "db/missing_names.h"
#include "db/op_times.h"
#include "db/procs.h"
#include "db/record_internal.h"
#include "db/store.h"
#include "db/totals.h"
#include "db/touches.h"

#define FRESH_BYTES 128 /* of 'kept': so that each part of a long run is a short one */

/* What grows with the requests of clients, each with a bound of memory. */
static int create_bounded(struct record *record, size_t kept)
{
	struct store *store = record->store;
	int64_t start = record->options.start_ns;
	int r = paths_create(store, &record->options.paths, kept, &record->paths);

	record->most_fresh = kept / FRESH_BYTES;
	if (r == 0)
		r = touches_create(store, start, kept, &record->touches);
	if (r == 0)
		r = missing_names_create(store, start, kept, &record->missing_names);
	if (r == 0)
		r = files_create(store, record->paths, start, kept, &record->files);
	if (r == 0)
		r = handles_create(store, start, kept, &record->handles);
	if (r == 0)
		r = metrics_create(store, start, record->options.interval_ns, kept, &record->metrics);
	if (r == 0)
		metrics_add_to(record->metrics, record->options.totals);
	return r < 0 ? r : tuples_create(store, PUT_THREAD, 2, kept, &record->threads);
}

static int create_walkers(struct record *record)
{
	const struct record_options *o = &record->options;
	int r = 0;

	for (int i = 0; i < 2 && r == 0; i++)
		r = walker_create(record->files, o->probe, o->probe_arg, &record->walkers[i]);
	return r;
}

int record_create(struct store *store, const struct record_options *options,
	struct record **ret_record)
{
	struct record *record = calloc(1, sizeof(*record));
	int r;

	if (!record)
		return -ENOMEM;
	record->store = store;
	record->options = *options;
	STAILQ_INIT(&record->ending);
	r = create_bounded(record, options->kept ? options->kept : RECORD_KEPT);
	if (r == 0)
		r = create_walkers(record);
	if (r == 0)
		r = calls_create(&record->calls);
	if (r == 0)
		r = procs_create(store, record->paths,
			&(struct procs_options){ .start_ns = options->start_ns }, &record->procs);
	if (r == 0)
		r = op_times_create(store, &record->op_times);
	if (r == 0)
		r = record_layers_create(&record->layers);
	if (r < 0) {
		record_destroy(record);
		return r;
	}
	*ret_record = record;
	return 0;
}

void record_destroy(struct record *record)
{
	if (!record)
		return;
	walker_destroy(record->walkers[0]);
	walker_destroy(record->walkers[1]);
	handles_destroy(record->handles);
	files_destroy(record->files);
	procs_destroy(record->procs);
	touches_destroy(record->touches);
	missing_names_destroy(record->missing_names);
	op_times_destroy(record->op_times);
	metrics_destroy(record->metrics);
	paths_destroy(record->paths);
	tuples_destroy(record->threads);
	calls_destroy(record->calls);
	record_layers_destroy(record->layers);
	free(record);
}

struct record_counts record_counts(const struct record *record)
{
	struct record_counts counts = record->counts;

	counts.processes = procs_began(record->procs);
	counts.living = procs_living(record->procs);
	return counts;
}

bool record_is_due(const struct record *record, int64_t now_ns)
{
	return metrics_are_due(record->metrics, now_ns);
}

int record_flush(struct record *record, int64_t now_ns)
{
	int r = files_flush(record->files);

	if (r == 0)
		r = handles_flush(record->handles);
	if (r == 0)
		r = touches_flush(record->touches);
	if (r == 0)
		r = missing_names_flush(record->missing_names);
	if (r == 0)
		r = metrics_flush(record->metrics, now_ns);
	return r < 0 ? r : op_times_flush(record->op_times);
}

int record_sum(struct record *record)
{
	int r;

	if (store_fresh_rows(record->store) < record->most_fresh)
		return 0;
	r = touches_complete(record->touches);
	return r < 0 ? r : store_sum(record->store);
}

void record_prune(struct record *record, int64_t time_ns)
{
	procs_prune(record->procs, time_ns);
}

/* ---- the handlers of each operation ---- */

static const struct {
	record_by_name *by_name;
	record_by_handle *by_handle;
} handlers[OP_MAX] = {
#define X(op, name, by_name, by_handle) [OP_##op] = { by_name, by_handle },
	EVENT_OPS(X)
#undef X
};

/* If events were lost, and so the handle is not known, the request counts as one by name. */
static int call_handler(struct record *record, struct work *w)
{
	unsigned op = w->ev->op;
	struct handle *h;

	if (w->op->handle == 0 || !handlers[op].by_handle)
		return handlers[op].by_name(record, w);
	h = handles_find(record->handles, w->op->handle);
	return h ? handlers[op].by_handle(record, w, h) : record_node(record, w);
}

static void find_requester(struct record *record, struct work *w)
{
	w->image = procs_find(record->procs, w->ev->tid, w->ev->time_ns);
	w->process = w->image ? w->image->process : NULL;
}

static struct work begin_work(const struct event *ev, const char *text, size_t len)
{
	struct work w = { .ev = ev, .op = &ev->u.op, .name = text, .ok = ev->u.op.result >= 0 };

	w.name_len = strnlen(text, len);
	if (w.name_len < len) {
		w.name2 = text + w.name_len + 1;
		w.name2_len = len - w.name_len - 1;
	}
	return w;
}

static int on_op(struct record *record, const struct event *ev, const char *text, size_t len)
{
	struct work w = begin_work(ev, text, len);

	find_requester(record, &w);
	if (ev->aside && ev->op != OP_LOOKUP)
		return 0;
	return call_handler(record, &w);
}

static bool is_open(struct record *record, int64_t handle)
{
	return handles_find(record->handles, handle);
}

static int on_call(struct record *record, const struct event *ev, const char *text, size_t len)
{
	struct work w = begin_work(ev, text, len);
	struct places places = { 0 };
	int r;

	if (ev->op == OP_LOOKUP)
		return record_learn(record, &w);
	if (ev->aside && is_open(record, ev->u.op.handle) == (ev->op == OP_OPEN))
		return 0;
	find_requester(record, &w);
	r = record_resolve(record, &w, &places);
	return r < 0 ? r : call_handler(record, &w);
}

/* Puts the pieces of a read or write together first; these have no text. */
static int on_request(struct record *record, const struct event *ev, const char *text, size_t len)
{
	struct event broken, whole = *ev;
	int r = 0;

	while (r == 0 && calls_take_interrupted(record->calls, ev, &broken))
		r = on_op(record, &broken, "", 0);
	if (r < 0 || calls_take(record->calls, &whole) == CALLS_KEPT)
		return r;
	return on_op(record, &whole, text, len);
}

/* Empty ones are not known. */
static int add_mount(struct record *record, uint64_t id, const char *text, size_t len)
{
	struct totals *totals = record->options.totals;
	const char *texts[MOUNT_TEXTS] = { NULL }, *end = text + len;
	int r;

	if (len == 0 || end[-1])
		return 0;
	for (int i = 0; i < MOUNT_TEXTS && text < end; i++, text += strlen(text) + 1)
		texts[i] = *text ? text : NULL;
	r = totals ? totals_mount(totals, (int64_t)id, texts[MOUNT_TYPE], texts[MOUNT_PATH]) : 0;
	return r < 0 ? r : files_add_mount(record->files, id, texts);
}

int record_event(struct record *record, const struct event *ev, const char *text, size_t len)
{
	switch (ev->kind) {
	case EVENT_OP:
		return ev->form == FORM_CALL ? on_call(record, ev, text, len)
					     : on_request(record, ev, text, len);
	case EVENT_NODE:
		return files_add_node(record->files, &ev->u.node);
	case EVENT_FORGET:
		files_forget_node(record->files, ev->u.node.id);
		return 0;
	case EVENT_MOUNT:
		return add_mount(record, ev->u.mount.id, text, len);
	case EVENT_SOCKET:
		return record_socket(record, ev, text, len);
	case EVENT_DEVICE:
		return record_device(record, ev);
	case EVENT_CALLER:
		return record_caller(record, ev);
	case EVENT_CALL:
		return record_layer_call(record, ev, text, len);
	default:
		if (ev->kind == EVENT_EXIT && ev->u.process.tid > 0)
			calls_end(record->calls, ev->u.process.tid, ev->time_ns);
		return procs_event(record->procs, ev, text, len);
	}
}

static void finish_handle(void *arg, struct handle *handle)
{
	record_assume_read(arg, handle);
}

int record_finish(struct record *record)
{
	const char *declared = record->options.declared;
	struct event rest;
	int r = 0;

	while (r == 0 && calls_take_remaining(record->calls, &rest))
		r = on_op(record, &rest, "", 0);
	if (r == 0)
		r = record_end_handles(record, INT64_MAX);
	if (r < 0)
		return r;
	handles_each(record->handles, finish_handle, record);
	handles_end(record->handles);
	return declared ? declared_store(record->store, record->paths, declared) : 0;
}
