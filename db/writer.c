/* SPDX-License-Identifier: MIT */
#include "db/writer.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <time.h>

#include "base/clock.h"
#include "base/priority.h"
#include "base/saturate.h"
#include "base/vector.h"
#include "db/clock_notes.h"
#include "db/event.h"
#include "db/ring.h"
#include "db/rules.h"
#include "db/store.h"
#include "db/syncer.h"
#include "db/totals.h"

#define BATCH_EVENTS 32768
#define PIECE_EVENTS 4096 /* drained from the ring at a time */
#define BATCH_NS 200000000
#define IDLE_NS 20000000
#define SYNC_NS 1000000 /* the longest time in which a sync may fill the ring */
/* The traced programs have priority while the ring has room. */
#define NICE_IDLE 10
/* Longer than any request takes: processes that ended earlier are not looked up any more. */
#define PRUNE_AFTER_NS 10000000000

/* The text of the next event, as far as it has arrived. */
struct assembly {
	char *text;
	size_t len, room;
};

struct queued {
	struct event event;
	char *text; /* NULL: inline */
};

/* Events that wait, first in first out. */
struct waiting {
	struct queued *first;
	size_t n, room;
};

struct writer {
	struct writer_options options;
	struct record *record;
	int64_t clocks_noted_ns; /* 0: not yet */
	struct syncer *syncer; /* NULL: there is nothing to sync */
	pthread_t thread;
	_Atomic bool stop;
	_Atomic bool is_ending; /* writer_begin_end() */
	bool said_ending;	/* the trace has it */
	_Atomic int exit_status; /* -1: not known */
	struct { /* for writer_now() */
		_Atomic uint64_t ops, processes;
	} now;
	struct event *drained;
	struct waiting queue;
	struct waiting calls; /* on the files of a mount, if options.seen_until is there */
	int64_t until_ns;     /* all calls that ended before have come */
	int64_t emptied_ns;   /* all that was pushed before has come; INT64_MAX: and no call will follow */
	struct assembly assembly;
	uint64_t unstored; /* operations after recording stopped, and those of the failed batch */
	struct record_counts stored; /* as of the last commit */
	int64_t newest_ns; /* of the events so far */
	int64_t pruned_ns;
	int64_t published_ns;
	int nice;	/* of the thread at its start */
	bool is_watched;
	bool is_idle;	/* the thread runs with lower priority */
	bool may_hurry; /* the thread may raise its priority again */
	struct priority priority; /* of a writer that may wait */
	int error;
	bool is_mute; /* even the facts of the stop cannot be written; each attempt may take SQLite 10 s */
};

/* By the clock of the events. */
static int64_t now_ns(const struct writer *writer)
{
	return writer->options.is_past ? writer->newest_ns : clock_now_ns();
}

/* ---- intake ---- */

static int add_piece(struct writer *writer, struct event *piece)
{
	struct assembly *a = &writer->assembly;

	if (piece->u.text.offset == 0)
		a->len = 0;
	if (vector_fit(a->text, a->room, a->len + piece->text_len) < 0)
		return -ENOMEM;
	memcpy(a->text + a->len, event_piece(piece), piece->text_len);
	a->len += piece->text_len;
	return 0;
}

static int enqueue(struct waiting *waiting, const struct event *event, const char *text)
{
	struct queued *q;

	if (vector_fit(waiting->first, waiting->room, waiting->n + 1) < 0)
		return -ENOMEM;
	q = &waiting->first[waiting->n];
	q->event = *event;
	q->text = NULL;
	if (event->text_len > EVENT_TEXT_INLINE) {
		q->text = malloc(event->text_len);
		if (!q->text)
			return -ENOMEM;
		memcpy(q->text, text, event->text_len);
	}
	waiting->n++;
	return 0;
}

static bool is_process_event(const struct event *event)
{
	return event->kind >= EVENT_PROCESS && event->kind <= EVENT_SAMPLE;
}

static bool is_counted(const struct event *event)
{
	return event->kind == EVENT_OP || event->kind == EVENT_CALL;
}

static int take(struct writer *writer, struct event *event)
{
	const char *text = event->text_len > EVENT_TEXT_INLINE ? writer->assembly.text : event->text;

	if (event->kind == EVENT_TEXT)
		return add_piece(writer, event);
	if (event->time_ns > writer->newest_ns)
		writer->newest_ns = event->time_ns;
	if (is_process_event(event))
		return record_event(writer->record, event, text, event->text_len);
	return enqueue(writer->options.seen_until && event->kind == EVENT_OP && event->form == FORM_CALL
			? &writer->calls : &writer->queue, event, text);
}

/* What was seen, and what was pushed, before the ring was emptied has come out of it. */
static int drain(struct writer *writer)
{
	const struct writer_options *o = &writer->options;
	int64_t until_ns = o->seen_until ? o->seen_until(o->arg) : INT64_MAX, now = clock_now_ns();
	int n = (int)ring_drain(o->ring, writer->drained, PIECE_EVENTS);

	if (n < PIECE_EVENTS) {
		writer->until_ns = until_ns;
		writer->emptied_ns = until_ns == INT64_MAX ? until_ns : now;
	}
	return n;
}

static int take_piece(struct writer *writer, int n)
{
	int r = 0;

	for (int i = 0; i < n; i++) {
		bool taken = r == 0 && !writer->error && (r = take(writer, &writer->drained[i])) == 0;

		if (!taken)
			writer->unstored += is_counted(&writer->drained[i]);
	}
	return r;
}

/* Records n drained events and those that arrive meanwhile; the number of events, or -errno. */
static int intake(struct writer *writer, int n)
{
	int sum = 0, r;

	do {
		r = take_piece(writer, n);
		sum += n;
	} while (r == 0 && n == PIECE_EVENTS && sum < BATCH_EVENTS && (n = drain(writer)));
	return r < 0 ? r : sum;
}

/* ---- batches ---- */

/* When an operation ended; other events wait for nothing. */
static int64_t end_of(const struct event *event)
{
	return event->kind == EVENT_OP ? saturate_add(event->time_ns, event->u.op.latency_ns) : INT64_MIN;
}

/* How many of each are recorded in this batch. */
struct batch {
	size_t queue, calls;
};

static struct queued *at(const struct waiting *waiting, size_t i, size_t n, int64_t until_ns)
{
	return i < n && end_of(&waiting->first[i].event) <= until_ns ? &waiting->first[i] : NULL;
}

/* The next one of both; NULL: the rest has to wait. */
static struct queued *next(const struct writer *writer, struct batch *done, size_t mark, int64_t until_ns)
{
	struct queued *q = at(&writer->queue, done->queue, mark, until_ns);
	struct queued *call = at(&writer->calls, done->calls, writer->calls.n, until_ns);

	if (q && call)
		call = end_of(&call->event) < end_of(&q->event) ? call : NULL;
	if (call)
		done->calls++;
	else if (q)
		done->queue++;
	return call ? call : q;
}

static void drop_first(struct waiting *waiting, size_t n)
{
	waiting->n -= n;
	if (waiting->n)
		memmove(waiting->first, waiting->first + n, waiting->n * sizeof(*waiting->first));
}

/* mark: so many of the queue may be recorded. */
static int apply(struct writer *writer, size_t mark, int64_t until_ns)
{
	struct batch done = { 0 };
	struct queued *q;
	int r = 0;

	while ((q = next(writer, &done, mark, until_ns))) {
		if (r == 0)
			r = record_event(writer->record, &q->event, q->text ? q->text : q->event.text,
				q->event.text_len);
		if (r < 0)
			writer->unstored += is_counted(&q->event);
		free(q->text);
	}
	drop_first(&writer->queue, done.queue);
	drop_first(&writer->calls, done.calls);
	return r;
}

static uint64_t ask(uint64_t (*what)(void *arg), void *arg)
{
	return what ? what(arg) : 0;
}

static uint64_t count_lost(const struct writer *writer)
{
	const struct writer_options *o = &writer->options;

	return ring_lost(o->ring) + writer->unstored + ask(o->ops_lost, o->arg);
}

/* Each minute, and at the end. */
static int note_clocks(struct writer *writer, bool is_end)
{
	const struct writer_options *o = &writer->options;
	int64_t now = clock_now_ns();

	if (o->is_past)
		return 0;
	if (!is_end && writer->clocks_noted_ns && now - writer->clocks_noted_ns < CLOCK_NOTES_NS)
		return 0;
	writer->clocks_noted_ns = now;
	return clock_notes_put(o->store, o->record.start_ns, o->epoch_offset_ns);
}

/* What the record has cost the run. */
static int put_costs(struct writer *writer)
{
	const struct writer_options *o = &writer->options;
	int64_t waited_ns = (int64_t)(ask(o->waited_ns, o->arg) + ring_waited_ns(o->ring));
	int r = store_put_meta(o->store, "waited_ns", V_INT(waited_ns));

	return r < 0 ? r : store_put_meta(o->store, "tracer_cpu_ns", V_INT(clock_read_ns(CLOCK_PROCESS_CPUTIME_ID)));
}

static int put_figures(struct writer *writer)
{
	const struct writer_options *o = &writer->options;
	struct record_counts counts =
		writer->error ? writer->stored : record_counts(writer->record);
	const struct {
		const char *key;
		uint64_t value;
	} figures[] = {
		{ "ops_recorded", counts.ops },
		{ "ops_excluded", counts.excluded },
		{ "ops_lost", count_lost(writer) },
		{ "bytes_recorded", counts.bytes },
		{ "bytes_mount", counts.mount_bytes },
		{ "bytes_paged", counts.paged_bytes },
		{ "bytes_mapped", counts.mapped_bytes },
		{ "process_events_lost", ask(o->events_lost, o->arg) },
		{ "end_ns", (uint64_t)(now_ns(writer) + o->epoch_offset_ns) },
		{ "ending", writer->said_ending },
	};
	int r = o->is_past ? 0 : put_costs(writer);

	for (size_t i = 0; i < sizeof(figures) / sizeof(figures[0]) && r == 0; i++)
		r = store_put_meta(o->store, figures[i].key, V_INT((int64_t)figures[i].value));
	if (r == 0 && counts.calls)
		r = store_put_meta(o->store, "calls_recorded", V_INT((int64_t)counts.calls));
	if (r == 0 && counts.mixed)
		r = store_put_meta(o->store, "mixed_writes", V_INT((int64_t)counts.mixed));
	if (r == 0 && counts.mixed)
		r = store_put_meta(o->store, "mixed_file", V_INT(counts.mixed_file));
	if (r == 0 && atomic_load(&writer->exit_status) >= 0)
		r = store_put_meta(o->store, "exit_status",
			V_INT(atomic_load(&writer->exit_status)));
	return r;
}

/* Rolls back, and stores the facts of the stop. */
static void stop_recording(struct writer *writer, int error)
{
	struct store *store = writer->options.store;
	char text[256];

	store_fail(store, error); /* sets store_error() if the error came from elsewhere */
	snprintf(text, sizeof(text), "%s", store_error(store));
	writer->error = error;
	store_rollback(store);
	store_release_reserve(store);
	if (store_begin(store) == 0 &&
		store_put_meta(store, "recording_stopped_ns",
			V_INT(now_ns(writer) + writer->options.epoch_offset_ns)) == 0 &&
		store_put_meta(store, "recording_error", V_STR(text)) == 0 &&
		store_put_meta(store, "ops_lost", V_INT((int64_t)count_lost(writer))) == 0 &&
		store_commit(store) == 0)
		return;
	store_rollback(store);
	writer->is_mute = true;
}

static void drop_waiting(struct writer *writer, struct waiting *waiting)
{
	for (size_t i = 0; i < waiting->n; i++) {
		writer->unstored += is_counted(&waiting->first[i].event);
		free(waiting->first[i].text);
	}
	waiting->n = 0;
}

static void take_counts(struct writer *writer)
{
	writer->stored = record_counts(writer->record);
	atomic_store(&writer->now.ops, writer->stored.ops);
	atomic_store(&writer->now.processes, writer->stored.processes);
}

struct writer_now writer_now(struct writer *writer)
{
	return (struct writer_now){ .ops = atomic_load(&writer->now.ops), .processes = atomic_load(&writer->now.processes),
		.lost = ring_lost(writer->options.ring) + ask(writer->options.ops_lost, writer->options.arg) };
}

static int store_batch(struct writer *writer, size_t mark, int64_t until_ns)
{
	int r = apply(writer, mark, until_ns);

	writer->said_ending = atomic_load(&writer->is_ending);
	if (r == 0)
		r = record_flush(writer->record, now_ns(writer));
	if (r == 0)
		r = record_sum(writer->record);
	if (r == 0)
		r = put_figures(writer);
	if (r == 0)
		r = note_clocks(writer, false);
	if (r == 0)
		r = store_commit(writer->options.store);
	if (r == 0)
		take_counts(writer);
	return r;
}

/*
 * Has the monitor push what it knows, and takes in what comes meanwhile, and then all that the ring has: the events of the
 * monitor are the last ones.  The number of events, or -errno.
 */
static int sync_processes(struct writer *writer)
{
	bool done = !writer->syncer;
	int sum = 0, r;

	if (writer->syncer)
		syncer_ask(writer->syncer);
	do {
		done = done || syncer_wait(writer->syncer, clock_now_ns() + SYNC_NS);
		r = intake(writer, drain(writer));
		sum += r;
	} while (r >= 0 && (!done || r >= BATCH_EVENTS));
	return r < 0 ? r : sum;
}

/* The same of a writer that has nothing to do: it takes nothing in.  A ring that fills is reason enough to go on. */
static void sync_idle(struct writer *writer)
{
	if (!writer->syncer)
		return;
	syncer_ask(writer->syncer);
	while (!syncer_wait(writer->syncer, clock_now_ns() + SYNC_NS) && !ring_is_filling(writer->options.ring))
		;
}

static int store_round(struct writer *writer, int n)
{
	int r = store_begin(writer->options.store), more = 0, taken;
	int64_t until_ns; /* what is recorded ended before: then the requests before it are in front of the mark */
	size_t mark;

	if (r < 0)
		writer->error = r; /* then drained operations are only counted */
	taken = intake(writer, n);
	r = r < 0 ? r : taken;
	mark = writer->queue.n;
	until_ns = writer->emptied_ns;
	if (r >= 0)
		more = sync_processes(writer);
	if (writer->until_ns < until_ns)
		until_ns = writer->until_ns;
	r = r < 0 ? r : more < 0 ? more : store_batch(writer, mark, until_ns);
	if (r < 0) {
		writer->unstored += record_counts(writer->record).ops - writer->stored.ops +
			record_counts(writer->record).calls - writer->stored.calls;
		drop_waiting(writer, &writer->queue);
		drop_waiting(writer, &writer->calls);
		stop_recording(writer, r);
	}
	return (taken > 0 ? taken : n) + (more > 0 ? more : 0);
}

static bool must_say_ending(const struct writer *writer)
{
	return atomic_load(&writer->is_ending) && !writer->said_ending && !writer->error;
}

/* Something is to be written, also without new events. */
static bool is_waiting(const struct writer *writer)
{
	return writer->queue.n || writer->calls.n || must_say_ending(writer) ||
		(!writer->error && record_is_due(writer->record, now_ns(writer)));
}

/* Frees the memory of a burst of events while the ring is empty. */
static void free_waiting(struct writer *writer)
{
	free(writer->queue.first);
	free(writer->calls.first);
	writer->queue = writer->calls = (struct waiting){ 0 };
}

/* One round; returns the number of events.  Without events nothing is written. */
static int one_batch(struct writer *writer)
{
	int n = drain(writer);

	if (n == 0 && !is_waiting(writer)) {
		sync_idle(writer);
		n = drain(writer);
	}
	if (writer->error)
		return intake(writer, n);
	if (n || is_waiting(writer))
		return store_round(writer, n);
	free_waiting(writer);
	return 0;
}

static void prune(struct writer *writer)
{
	int64_t now = now_ns(writer), until = now;

	if (writer->error || now - writer->pruned_ns < PRUNE_AFTER_NS / 10)
		return;
	/* What waits may be old, and what comes: system calls may come late into the ring. */
	if (writer->queue.n && writer->queue.first[0].event.time_ns < now)
		until = writer->queue.first[0].event.time_ns;
	if (writer->until_ns < until)
		until = writer->until_ns;
	record_prune(writer->record, saturate_subtract(until, PRUNE_AFTER_NS));
	writer->pruned_ns = now;
}

static void publish(struct writer *writer, bool is_end)
{
	const struct writer_options *o = &writer->options;
	int64_t now = clock_now_ns();

	if (o->record.totals)
		totals_now(o->record.totals, writer->error ? 0 : record_counts(writer->record).living, count_lost(writer));
	if (!o->publish || (!is_end && now - writer->published_ns < o->publish_ns))
		return;
	writer->published_ns = now;
	o->publish(o->publish_arg);
}

static void nap(int64_t ns)
{
	const struct timespec ts = { .tv_nsec = ns };

	nanosleep(&ts, NULL);
}

/* Lets events gather: a large batch costs less than many small ones. */
static void wait_for_events(struct writer *writer)
{
	for (int64_t slept = 0; slept < BATCH_NS && !atomic_load(&writer->stop) && !must_say_ending(writer); slept += IDLE_NS) {
		nap(IDLE_NS);
		if (ring_is_filling(writer->options.ring))
			return;
	}
}

/* Raising the priority again needs a privilege.  Without it the thread never lowers its priority. */
static void find_nice(struct writer *writer)
{
	writer->nice = getpriority(PRIO_PROCESS, 0);
	writer->may_hurry = setpriority(PRIO_PROCESS, 0, writer->nice - 1) == 0;
	if (writer->may_hurry)
		setpriority(PRIO_PROCESS, 0, writer->nice);
}

static void set_nice(struct writer *writer, bool idle)
{
	if (writer->options.may_wait)
		return priority_wait(&writer->priority, idle && writer->options.may_wait(writer->options.arg));
	if (!writer->may_hurry || idle == writer->is_idle)
		return;
	setpriority(PRIO_PROCESS, 0, writer->nice + (idle ? NICE_IDLE : 0));
	writer->is_idle = idle;
}

static void find_watchers(struct writer *writer)
{
	bool is_watched = writer->options.may_wait && writer->options.set_watched && store_is_watched(writer->options.store);

	if (is_watched != writer->is_watched)
		writer->options.set_watched(writer->options.arg, is_watched);
	writer->is_watched = is_watched;
}

static void *writer_main(void *arg)
{
	struct writer *writer = arg;

	prctl(PR_SET_NAME, "ftrac-writer");
	find_nice(writer);
	priority_init(&writer->priority);
	for (;;) {
		bool stop = atomic_load(&writer->stop);
		int n;

		find_watchers(writer);
		set_nice(writer, !stop && (writer->options.may_wait || !ring_is_half_full(writer->options.ring)));
		n = one_batch(writer);

		prune(writer);
		publish(writer, false);
		/* Empty twice: the events of the last sync are recorded, too. */
		if (stop && n == 0 && !is_waiting(writer))
			return NULL;
		if (!stop && n < BATCH_EVENTS / 2)
			wait_for_events(writer);
	}
}

int writer_start(const struct writer_options *options, struct writer **ret_writer)
{
	struct writer *writer = calloc(1, sizeof(*writer));
	int r = -ENOMEM;

	if (!writer)
		return -ENOMEM;
	writer->options = *options;
	writer->exit_status = -1;
	writer->until_ns = options->seen_until ? INT64_MIN : INT64_MAX;
	writer->emptied_ns = writer->until_ns;
	writer->drained = malloc(PIECE_EVENTS * sizeof(*writer->drained));
	if (writer->drained)
		r = record_create(options->store, &writer->options.record, &writer->record);
	if (r == 0 && options->sync)
		r = syncer_start(options->sync, options->arg, &writer->syncer);
	if (r == 0)
		r = -pthread_create(&writer->thread, NULL, writer_main, writer);
	if (r < 0) {
		syncer_destroy(writer->syncer);
		record_destroy(writer->record);
		free(writer->drained);
		free(writer);
		return r;
	}
	*ret_writer = writer;
	return 0;
}

static void writer_free(struct writer *writer)
{
	free(writer->assembly.text);
	record_destroy(writer->record);
	free_waiting(writer);
	free(writer->drained);
	free(writer);
}

static int put_end(struct writer *writer)
{
	struct store *store = writer->options.store;
	int r = store_begin(store);

	if (r < 0)
		return r;
	r = record_finish(writer->record);
	if (r == 0)
		r = record_flush(writer->record, INT64_MAX);
	return r < 0 ? r : store_commit(store);
}

/* Without the indexes (conclude false) a trace is slow to read, but complete. */
static int put_complete(struct writer *writer, bool conclude)
{
	const struct writer_options *o = &writer->options;
	struct store *store = writer->options.store;
	int r = store_begin_conclusion(store);

	if (r == 0 && conclude)
		r = rules_store(store, o->record.start_ns + o->epoch_offset_ns);
	if (r == 0 && conclude)
		r = store_conclude(store);
	if (r == 0)
		r = put_figures(writer);
	if (r == 0)
		r = note_clocks(writer, true);
	if (r == 0)
		r = store_put_bytes_kernel(store);
	if (r == 0 && o->put_facts)
		r = o->put_facts(o->arg, store);
	if (r == 0)
		r = store_put_meta(store, "complete", V_INT(1));
	if (r == 0)
		r = store_put_meta(store, "ending", V_INT(0));
	return r < 0 ? r : store_commit(store);
}

void writer_exit_status(struct writer *writer, int status)
{
	atomic_store(&writer->exit_status, status);
}

void writer_begin_end(struct writer *writer)
{
	if (!writer)
		return;
	atomic_store(&writer->is_ending, true);
	if (writer->options.may_wait)
		priority_hurry(&writer->priority, writer->thread);
}

int writer_stop(struct writer *writer)
{
	struct store *store = writer->options.store;
	int r;

	writer_begin_end(writer);
	atomic_store(&writer->stop, true);
	pthread_join(writer->thread, NULL);
	syncer_destroy(writer->syncer);
	r = writer->error;
	if (r == 0) {
		r = put_end(writer);
		if (r == 0 && put_complete(writer, true) < 0) {
			store_rollback(store);
			store_release_reserve(store);
			r = put_complete(writer, false);
		}
		if (r < 0)
			stop_recording(writer, r);
	} else if (!writer->is_mute && store_begin(store) == 0) { /* store the final number of lost operations */
		if (put_figures(writer) < 0 || store_commit(store) < 0)
			store_rollback(store);
	}
	publish(writer, true);
	if (!writer->is_mute) {
		int folded = store_fold(store);

		r = r < 0 ? r : folded;
	}
	writer_free(writer);
	return r;
}
