/* SPDX-License-Identifier: MIT */
#include "preload/drain.h"

#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "db/event.h"
#include "db/layers.h"
#include "db/ring.h"
#include "preload/left.h"
#include "preload/order.h"
#include "preload/tables.h"
#include "preload/wire.h"

#define LATE_NS 100000000 /* how long after the end of a call its record may come, of operations */
#define FEW_FREE (WIRE_CHUNKS / 4) /* with fewer, chunks of idle threads are taken back */

/* How far a claimed chunk has been read. */
struct progress {
	uint64_t claim;
	uint32_t read;
	bool was_idle; /* nothing came since the last pass */
};

struct active {
	uint64_t claim;
	uint32_t chunk;
};

struct drain {
	struct wire_header *header;
	struct left *left;
	bool has_files; /* operations are recorded.  The file may be cut off later */
	struct order *order; /* of these; NULL: none so far */
	struct tables *tables;
	int64_t ended_ns; /* when the ends of processes were last looked at */
	struct progress chunks[WIRE_CHUNKS];
	struct active active[WIRE_CHUNKS];
	_Atomic uint64_t taken, damaged, operations, failed;
	_Atomic uint64_t dropped, waited_ns; /* as the programs count them */
};

int drain_create(struct wire_header *header, struct drain **ret_drain)
{
	struct drain *drain = calloc(1, sizeof(*drain));

	if (!drain || left_create(header, &drain->left) < 0) {
		free(drain);
		return -ENOMEM;
	}
	drain->header = header;
	drain->has_files = header->files;
	*ret_drain = drain;
	return 0;
}

void drain_destroy(struct drain *drain)
{
	if (drain) {
		left_destroy(drain->left);
		order_destroy(drain->order);
		tables_destroy(drain->tables);
	}
	free(drain);
}

uint64_t drain_operations(const struct drain *drain)
{
	return atomic_load(&drain->operations);
}

uint64_t drain_taken(const struct drain *drain)
{
	return atomic_load(&drain->taken);
}

uint64_t drain_lost(const struct drain *drain)
{
	return atomic_load(&drain->damaged) + atomic_load(&drain->failed) + atomic_load(&drain->dropped);
}

uint64_t drain_waited_ns(const struct drain *drain)
{
	return atomic_load(&drain->waited_ns);
}

/* ---- the file may have been cut off ---- */

static _Thread_local sigjmp_buf *way_out;

static void on_bus_error(int sig)
{
	if (way_out)
		siglongjmp(*way_out, 1);
	signal(sig, SIG_DFL); /* the access is repeated, and ends us */
}

static void catch_bus_errors(void)
{
	struct sigaction action = { .sa_handler = on_bus_error, .sa_flags = SA_NODEFER };

	sigaction(SIGBUS, &action, NULL);
}

/* ---- records ---- */

static bool is_whole(const struct wire_record *record, uint32_t left)
{
	return record->bytes >= sizeof(*record) && record->bytes % 8 == 0 && record->bytes <= left &&
		record->text_len <= record->bytes - sizeof(*record) && record->text_len <= WIRE_TEXT;
}

static int64_t or_zero(int64_t n)
{
	return n < 0 ? 0 : n;
}

static void push_caller(struct ring *ring, const struct wire_record *record)
{
	ring_push(ring, &(struct event){ .kind = EVENT_CALLER, .tid = or_zero(record->tid), .time_ns = or_zero(record->start_ns),
		.u.caller = { .id = record->caller, .pid = (int32_t)or_zero(record->pid) } }, NULL, 0);
}

static void push_call(struct ring *ring, const struct wire_record *record, const char *text)
{
	ring_push(ring, &(struct event){ .kind = EVENT_CALL, .time_ns = or_zero(record->start_ns), .u.call = {
		.caller = record->caller, .number = record->number, .parent = record->parent, .code = record->code,
		.has_fd = (record->known & WIRE_HAS_FD) != 0, .has_offset = (record->known & WIRE_HAS_OFFSET) != 0,
		.has_length = (record->known & WIRE_HAS_LENGTH) != 0, .has_result = (record->known & WIRE_HAS_RESULT) != 0,
		.has_mpi = (record->known & WIRE_HAS_MPI) != 0, .has_sum = (record->known & WIRE_HAS_SUM) != 0,
		.fd = record->fd, .latency_ns = or_zero(record->latency_ns), .offset = record->offset, .length = record->length,
		.result = record->result } }, text, record->text_len);
}

static size_t len_of_parts(const struct wire_record *record)
{
	return (record->known & WIRE_HAS_MPI ? sizeof(struct layer_mpi) : 0) + (record->known & WIRE_HAS_SUM ? sizeof(struct layer_sum) : 0);
}

/* Sums are at least 0, and which one it was is noted. */
static void take_sum(struct drain *drain, const struct wire_record *record, char *text)
{
	char *at = text + (record->known & WIRE_HAS_MPI ? sizeof(struct layer_mpi) : 0);
	struct layer_sum sum;

	memcpy(&sum, at, sizeof(sum));
	left_note(drain->left, sum.place, record);
	sum.end_ns = or_zero(sum.end_ns);
	sum.least_ns = or_zero(sum.least_ns);
	sum.most_ns = or_zero(sum.most_ns);
	memcpy(at, &sum, sizeof(sum));
}

/* A record of operations, which waits for those before it. */
static bool add_operation(struct drain *drain, const struct wire_record *record, const char *text)
{
	return drain->order && order_add(drain->order, record, text) == 0;
}

static bool add_caller(struct drain *drain, struct ring *ring, const struct wire_record *record)
{
	push_caller(ring, record);
	return !drain->order || add_operation(drain, record, "");
}

/* A copy: the program may change it meanwhile. */
static bool push_record(struct drain *drain, struct ring *ring, const struct wire_record *record, const char *from)
{
	char text[WIRE_TEXT];

	memcpy(text, from, record->text_len);
	if (record->kind == WIRE_CALLER)
		return add_caller(drain, ring, record);
	if (record->kind > WIRE_CALL && record->kind < WIRE_KIND_MAX)
		return add_operation(drain, record, text);
	if (record->kind == WIRE_CALL && record->code < CALL_MAX && record->text_len >= len_of_parts(record)) {
		if (record->known & WIRE_HAS_SUM)
			take_sum(drain, record, text);
		push_call(ring, record, text);
	} else {
		return false;
	}
	return true;
}

static void take(struct drain *drain, struct ring *ring, const struct wire_record *record, const char *text)
{
	if (!push_record(drain, ring, record, text))
		atomic_fetch_add(&drain->damaged, 1);
	else if (record->kind == WIRE_CALL)
		atomic_fetch_add(&drain->taken, 1);
}

/* Up to used; the number of records. */
static int read_chunk(struct drain *drain, struct ring *ring, const struct wire_chunk *chunk, struct progress *progress, uint32_t used)
{
	struct wire_record record;
	int n = 0;

	while (progress->read < used) {
		uint32_t left = used - progress->read;
		const char *from = chunk->data + progress->read;

		if (left >= sizeof(record))
			memcpy(&record, from, sizeof(record));
		if (left < sizeof(record) || !is_whole(&record, left)) {
			atomic_fetch_add(&drain->damaged, 1);
			progress->read = used;
			break;
		}
		n++;
		progress->read += record.bytes;
		take(drain, ring, &record, from + sizeof(record));
	}
	return n;
}

/* ---- chunks ---- */

static uint32_t used_of(const struct wire_chunk *chunk)
{
	uint32_t used = atomic_load_explicit(&chunk->used, memory_order_acquire);

	return used < sizeof(chunk->data) ? used : sizeof(chunk->data);
}

static void give_back(struct drain *drain, struct wire_chunk *chunk, uint64_t claim, uint32_t i)
{
	atomic_store(&chunk->used, 0);
	atomic_store_explicit(&chunk->state, claim * WIRE_STATES + WIRE_FREE, memory_order_release);
	if (i < atomic_load(&drain->header->hint))
		atomic_store(&drain->header->hint, i);
}

/* Of a thread that has written nothing for a pass.  Afterwards it cannot write there any more. */
static bool take_back(struct wire_chunk *chunk, uint64_t claim)
{
	uint64_t owned = claim * WIRE_STATES + WIRE_OWNED;

	return atomic_compare_exchange_strong(&chunk->state, &owned, claim * WIRE_STATES + WIRE_FULL);
}

static int visit(struct drain *drain, struct ring *ring, const struct active *active, bool few_free)
{
	struct wire_chunk *chunk = wire_chunk(drain->header, active->chunk);
	struct progress *progress = &drain->chunks[active->chunk];
	uint64_t state = atomic_load_explicit(&chunk->state, memory_order_acquire);
	int n;

	if (state / WIRE_STATES != active->claim)
		return 0;
	if (progress->claim != active->claim)
		*progress = (struct progress){ .claim = active->claim };
	n = read_chunk(drain, ring, chunk, progress, used_of(chunk));
	if (state % WIRE_STATES == WIRE_FULL)
		give_back(drain, chunk, active->claim, active->chunk);
	else if (few_free && n == 0 && progress->was_idle)
		take_back(chunk, active->claim); /* and read it in the next pass */
	progress->was_idle = n == 0;
	return n;
}

static int by_claim(const void *a, const void *b)
{
	const struct active *x = a, *y = b;

	return (x->claim > y->claim) - (x->claim < y->claim);
}

/* In the order of their claims, in which each thread filled its own. */
static uint32_t find_active(struct drain *drain)
{
	uint32_t n = 0, first = WIRE_CHUNKS;

	for (uint32_t i = 0; i < WIRE_CHUNKS; i++) {
		uint64_t state = atomic_load_explicit(&wire_chunk(drain->header, i)->state, memory_order_acquire);

		if (state % WIRE_STATES != WIRE_FREE)
			drain->active[n++] = (struct active){ state / WIRE_STATES, i };
		else if (first == WIRE_CHUNKS)
			first = i;
	}
	atomic_store(&drain->header->hint, first);
	qsort(drain->active, n, sizeof(drain->active[0]), by_claim);
	return n;
}

struct target {
	struct drain *drain;
	struct ring *ring;
};

static void take_left(void *arg, const struct wire_record *record, const char *text)
{
	const struct target *target = arg;

	take(target->drain, target->ring, record, text);
}

static int pass(struct drain *drain, struct ring *ring, bool last)
{
	uint32_t n = find_active(drain);
	bool few_free = WIRE_CHUNKS - n < FEW_FREE;
	int sum = 0;

	for (uint32_t i = 0; i < n; i++) {
		atomic_store(&drain->header->beat_ns, clock_now_ns());
		sum += visit(drain, ring, &drain->active[i], few_free);
	}
	if (drain->header->detail_above_ns)
		sum += left_take(drain->left, last && sum == 0, take_left, &(struct target){ drain, ring });
	atomic_store(&drain->header->beat_ns, clock_now_ns());
	atomic_store(&drain->dropped, atomic_load(&drain->header->lost));
	atomic_store(&drain->waited_ns, atomic_load(&drain->header->waited_ns));
	return sum;
}

/* ---- operations ---- */

static int prepare_operations(struct drain *drain, struct ring *ring)
{
	if (!drain->has_files || drain->tables)
		return 0;
	if (!drain->order && order_create(&drain->order) < 0)
		return -ENOMEM;
	return tables_create(ring, &drain->tables);
}

static void take_operation(void *arg, const struct wire_record *record, char *text)
{
	tables_take(arg, record, text);
}

static void take_operations(struct drain *drain, int64_t until_ns)
{
	order_take(drain->order, until_ns, take_operation, drain->tables);
	atomic_store(&drain->operations, tables_taken(drain->tables));
	atomic_store(&drain->failed, tables_failed(drain->tables));
}

static void pass_operations(struct drain *drain, int64_t now_ns)
{
	if (!drain->tables)
		return;
	take_operations(drain, now_ns - LATE_NS);
	if (now_ns - drain->ended_ns < LATE_NS)
		return;
	tables_end(drain->tables, now_ns - 10 * (int64_t)LATE_NS, false);
	drain->ended_ns = now_ns;
}

void drain_end(struct drain *drain)
{
	if (!drain->tables)
		return;
	take_operations(drain, INT64_MAX);
	tables_end(drain->tables, clock_now_ns(), true);
}

int drain_pass(struct drain *drain, struct ring *ring, bool last)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	sigjmp_buf out;
	int n;

	int64_t now_ns = clock_now_ns();

	pthread_once(&once, catch_bus_errors);
	if (prepare_operations(drain, ring) < 0)
		return -ENOMEM;
	if (sigsetjmp(out, 1))
		n = -EIO;
	else {
		way_out = &out;
		if (last)
			atomic_store(&drain->header->over, 1);
		n = pass(drain, ring, last);
	}
	way_out = NULL;
	pass_operations(drain, now_ns);
	return n;
}
