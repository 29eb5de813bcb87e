/* SPDX-License-Identifier: MIT */
/* Calls that are added up; see inside.h and wire.h. */
#include <string.h>
#include <unistd.h>

#include "preload/inside.h"

#define CLOSE_NS 100000000
#define NO_BLOCK_NS 100000000 /* for so long a thread looks for no block after it found none */

/* ---- blocks ---- */

static struct wire_block *claim_block(const struct thread *thread)
{
	struct wire_header *header = process.header;
	uint32_t start = atomic_load_explicit(&header->block_hint, memory_order_relaxed);

	for (uint32_t i = 0; i < WIRE_BLOCKS; i++) {
		struct wire_block *block = wire_block(header, (start + i) % WIRE_BLOCKS);
		uint32_t none = 0;

		if (atomic_load_explicit(&block->caller, memory_order_relaxed) ||
			!atomic_compare_exchange_strong(&block->caller, &none, thread->caller))
			continue;
		atomic_store_explicit(&header->block_hint, (start + i + 1) % WIRE_BLOCKS, memory_order_relaxed);
		return block;
	}
	return NULL;
}

static bool has_block(struct thread *thread, int64_t now_ns)
{
	if (thread->block)
		return true;
	if (thread->no_block_until_ns > now_ns)
		return false;
	thread->block = claim_block(thread);
	if (!thread->block) {
		thread->no_block_until_ns = now_ns + NO_BLOCK_NS;
		return false;
	}
	thread->block->pid = thread->pid;
	thread->block->tid = thread->pid ? thread->tid : 0;
	return true;
}

/* The child of a vfork(2) has the memory of its parent, whose block it ends; both claim new ones. */
void sums_begin(struct thread *thread, bool same_process)
{
	if (thread->block && same_process)
		atomic_store_explicit(&thread->block->ended, 1, memory_order_release);
	thread->block = NULL;
	thread->adding = 0;
	memset(thread->copies, 0, sizeof(thread->copies));
}

void sums_forget(enum layer_call code)
{
	if (code == CALL_CLOSE || code == CALL_DUP2 || code == CALL_DUP3 || code == CALL_FCLOSE || code == CALL_FREOPEN || code == CALL_MPI_CLOSE)
		atomic_fetch_add_explicit(&process.current->epoch, 1, memory_order_relaxed);
}

/* ---- one sum ---- */

static void hand_over(const struct thread *thread, const struct wire_sum *sum, size_t place)
{
	const struct layer_sum about = { .calls = sum->calls, .measured = layer_measured(sum->calls, sum->timed), .end_ns = sum->end_ns, .least_ns = sum->least_ns,
		.most_ns = sum->most_ns, .place = (uint32_t)place };
	const struct layer_mpi mpi = { .opened = sum->opened, .order = -1, .rank = sum->rank, .size = sum->size };
	struct wire_record record = { .kind = WIRE_CALL, .known = (uint8_t)(sum->known | WIRE_HAS_SUM), .code = sum->code, .caller = thread->caller,
		.number = sum->number, .parent = sum->parent, .fd = sum->fd, .start_ns = sum->start_ns, .latency_ns = sum->latency_ns,
		.offset = sum->offset, .length = sum->length, .result = sum->bytes };

	if (sum->calls > 1)
		record.known &= ~WIRE_HAS_OFFSET;
	object_hand_over(&(struct message){ .record = &record, .mpi = record.known & WIRE_HAS_MPI ? &mpi : NULL, .sum = &about });
}

/* It is free only when it has been handed over: the reader knows by its place and number which ones it has seen. */
static void end_sum(struct thread *thread, unsigned i)
{
	struct wire_sum *sum = &thread->block->sums[i];
	size_t block = (size_t)((char *)thread->block - (char *)wire_block(process.header, 0)) / WIRE_BLOCK_BYTES;

	if (!atomic_load_explicit(&sum->number, memory_order_relaxed))
		return;
	hand_over(thread, sum, 1 + block * WIRE_SUMS + i);
	atomic_store_explicit(&sum->number, 0, memory_order_release);
}

static void end_all(struct thread *thread, int64_t now_ns)
{
	for (unsigned i = 0; i < WIRE_SUMS; i++)
		end_sum(thread, i);
	memset(thread->copies, 0, sizeof(thread->copies));
	thread->close_ns = now_ns + CLOSE_NS;
}

static void begin_sum(struct wire_sum *sum, const struct wire_record *record, const struct layer_mpi *mpi)
{
	uint32_t number = record->number;

	sum->calls = sum->timed = 0;
	sum->length = sum->bytes = sum->latency_ns = sum->least_ns = sum->most_ns = sum->end_ns = 0;
	sum->start_ns = record->start_ns;
	sum->offset = record->offset;
	sum->parent = record->parent;
	sum->fd = record->fd;
	sum->code = record->code;
	sum->known = record->known;
	sum->rank = mpi ? mpi->rank : -1;
	sum->size = mpi ? mpi->size : 0;
	sum->opened = mpi ? mpi->opened : 0;
	atomic_store_explicit(&sum->number, number, memory_order_release);
}

static void add(struct wire_sum *sum, const struct wire_record *record, bool measured)
{
	sum->length += record->length;
	sum->bytes += record->known & WIRE_HAS_RESULT ? record->result : 0;
	if (measured) {
		sum->latency_ns += record->latency_ns;
		sum->least_ns = sum->timed && sum->least_ns < record->latency_ns ? sum->least_ns : record->latency_ns;
		sum->most_ns = sum->most_ns > record->latency_ns ? sum->most_ns : record->latency_ns;
		sum->timed++;
	}
	sum->calls++;
}

/* ---- which one ---- */

static bool is_same(const struct wire_sum *sum, const struct wire_record *record, const struct layer_mpi *mpi)
{
	return sum->number && sum->code == record->code && sum->fd == record->fd && sum->parent == record->parent &&
		sum->known == (record->known | (sum->known & WIRE_HAS_OFFSET)) && sum->opened == (mpi ? mpi->opened : 0);
}

static enum wire_kept kind_of(const struct call *call)
{
	const struct layer_call_kind *kind = &layer_calls[call->record.code];

	if (kind->layer == LAYER_MPI)
		return kind->collective || kind->class == CLASS_ADMIN || kind->class == CLASS_OTHER || !call->mpi || call->mpi->order >= 0 ?
			WIRE_SUMS : WIRE_OF_MPI;
	if (call->record.code == CALL_FFLUSH)
		return WIRE_WRITES;
	if (kind->class == CLASS_POSITION) /* others read, too */
		return call->record.code == CALL_LSEEK || call->record.code == CALL_FTELL || call->record.code == CALL_FGETPOS ? WIRE_POSITIONS : WIRE_SUMS;
	return kind->class == CLASS_READ ? WIRE_READS : kind->class == CLASS_WRITE ? WIRE_WRITES : WIRE_SUMS;
}

static unsigned place_of_copies(struct thread *thread, const void *stream, const struct wire_record *record)
{
	uint32_t epoch = sums_epoch();
	unsigned i = 0;

	while (i < BUFFERED && !(thread->copies[i].stream == stream && thread->copies[i].code == record->code))
		i++;
	if (i == BUFFERED)
		i = thread->next_copies++ % BUFFERED;
	else if (thread->copies[i].epoch == epoch && is_same(&thread->block->sums[WIRE_BUFFERED + i], record, NULL))
		return WIRE_BUFFERED + i;
	thread->copies[i].stream = NULL;
	atomic_signal_fence(memory_order_seq_cst);
	end_sum(thread, WIRE_BUFFERED + i);
	begin_sum(&thread->block->sums[WIRE_BUFFERED + i], record, NULL);
	thread->copies[i] = (struct copies){ stream, record->code, epoch, 0 };
	return WIRE_BUFFERED + i;
}

static unsigned place_of(struct thread *thread, const struct call *call, enum wire_kept kind)
{
	uint32_t epoch = sums_epoch();

	if (thread->epoch[kind] == epoch && is_same(&thread->block->sums[kind], &call->record, call->mpi))
		return kind;
	end_sum(thread, kind);
	begin_sum(&thread->block->sums[kind], &call->record, call->mpi);
	thread->epoch[kind] = epoch;
	return kind;
}

/* ---- calls ---- */

/* Of a signal handler that interrupted the change of a sum: it leaves them alone.  One that was left by longjmp(3) is not on the stack. */
static void end_adding(struct thread *thread)
{
	atomic_signal_fence(memory_order_seq_cst);
	thread->adding = 0;
}

static bool begin_adding(struct thread *thread, int64_t now_ns)
{
	uintptr_t user = (uintptr_t)__builtin_frame_address(0);

	if (thread->adding > user)
		return false;
	thread->adding = user;
	atomic_signal_fence(memory_order_seq_cst);
	if (has_block(thread, now_ns))
		return true;
	end_adding(thread);
	return false;
}

void sums_end_inner(struct thread *thread, uint32_t number)
{
	if (!thread->block || !begin_adding(thread, 0))
		return;
	for (unsigned i = 0; i < WIRE_SUMS; i++)
		if (thread->block->sums[i].parent == number)
			end_sum(thread, i);
	end_adding(thread);
}

bool sums_take(struct thread *thread, const struct call *call)
{
	const struct wire_record *record = &call->record;
	enum wire_kept kind = kind_of(call);
	int64_t end_ns = record->start_ns + record->latency_ns;
	unsigned i;

	if (record->latency_ns > process.header->detail_above_ns || kind == WIRE_SUMS || call->text || thread->vforked ||
		(record->known & WIRE_HAS_RESULT && record->result < 0) || !begin_adding(thread, end_ns))
		return false;
	if (end_ns >= thread->close_ns)
		end_all(thread, end_ns);
	i = call->stream ? place_of_copies(thread, call->stream, record) : place_of(thread, call, kind);
	add(&thread->block->sums[i], record, true);
	if (!call->stream)
		thread->block->sums[i].end_ns = end_ns;
	end_adding(thread);
	return true;
}

/* ---- calls that were not measured ---- */

static bool begin_other(struct call *call, enum layer_call code, int fd, uint64_t asked, int64_t result)
{
	if (!object_enter(call, code))
		return false;
	object_fd(call, fd);
	object_length(call, asked);
	object_result(call, result);
	return true;
}

void sums_copied(enum layer_call code, const void *stream, int fd, uint64_t asked, uint64_t moved)
{
	struct call call;

	if (!begin_other(&call, code, fd, asked, (int64_t)moved))
		return;
	if (begin_adding(call.thread, call.record.start_ns)) {
		add(&call.thread->block->sums[place_of_copies(call.thread, stream, &call.record)], &call.record, false);
		end_adding(call.thread);
	} else {
		call.record.known |= WIRE_HAS_SUM;
		object_hand_over(&(struct message){ .record = &call.record, .sum = &(struct layer_sum){ .calls = 1 } });
	}
	object_leave(&call);
}

/* It began after the last call that was measured: what was done below since then was done in it.  The sum of its kind ends, so that each
 * operation below lies in the time of one sum alone. */
void sums_not_measured(enum layer_call code, int fd, uint64_t asked, int64_t result)
{
	struct layer_sum one = { .calls = 1 };
	struct call call;

	if (!begin_other(&call, code, fd, asked, result))
		return;
	if (begin_adding(call.thread, call.record.start_ns)) {
		end_sum(call.thread, kind_of(&call));
		end_adding(call.thread);
	}
	one.end_ns = call.record.start_ns;
	call.record.start_ns = call.thread->measured_ns;
	call.record.known |= WIRE_HAS_SUM;
	object_hand_over(&(struct message){ .record = &call.record, .sum = &one });
	object_leave(&call);
}
