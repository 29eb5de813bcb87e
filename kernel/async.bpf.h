/* SPDX-License-Identifier: MIT */
#ifndef KERNEL_ASYNC_BPF_H
#define KERNEL_ASYNC_BPF_H

/* Linux AIO: what was asked for at io_submit(2), what came of it at io_getevents(2). */

#include "data.bpf.h"

struct iocb {
	uint64_t data;
	uint32_t key, rw_flags;
	uint16_t opcode, priority;
	uint32_t fd;
	uint64_t buffer, bytes;
	int64_t offset;
};

struct io_event {
	uint64_t data, object;
	int64_t result, result2;
};

enum { IOCB_PREAD, IOCB_PWRITE, IOCB_FSYNC, IOCB_FDSYNC, IOCB_PREADV = 7, IOCB_PWRITEV };

inlined uint32_t call_of_iocb(uint32_t opcode)
{
	switch (opcode) {
	case IOCB_PREAD:
		return CALL_pread64;
	case IOCB_PWRITE:
		return CALL_pwrite64;
	case IOCB_FSYNC:
		return CALL_fsync;
	case IOCB_FDSYNC:
		return CALL_fdatasync;
	case IOCB_PREADV:
		return CALL_preadv;
	case IOCB_PWRITEV:
		return CALL_pwritev;
	}
	return CALL_none;
}

struct submission {
	uint64_t at; /* array of pointers to struct iocb */
	struct task_state *state;
};

inlined uint64_t iocb_length(const struct task_state *state, const struct iocb *iocb)
{
	struct vector vector = { .at = iocb->buffer, .n = iocb->bytes, .compat = state->flags & WIRE_COMPAT };

	if (iocb->opcode < IOCB_PREADV)
		return iocb->bytes;
	bpf_loop(vector.n > 1024 ? 0 : vector.n, add_part, &vector, 0);
	return vector.bytes;
}

static long submit_one(uint32_t i, struct submission *submission)
{
	struct task_state *state = submission->state;
	uint32_t size = state->flags & WIRE_COMPAT ? 4 : 8;
	struct wire_call *record;
	struct iocb iocb = { 0 };
	uint64_t object = 0, length, file;

	bpf_probe_read_user(&object, size, (const void *)(submission->at + i * size));
	if (bpf_probe_read_user(&iocb, sizeof(iocb), (const void *)object) != 0 || !call_of_iocb(iocb.opcode))
		return 0;
	length = iocb_length(state, &iocb);
	file = file_at(bpf_get_current_task_btf(), iocb.fd);
	take_file(state, file);
	if (kernel_is_of_mount && !state->handle)
		return 0;
	record = reserve(wire_call);
	if (!record)
		return 0;
	fill_call(record, WIRE_PENDING, state, object);
	record->head.call = call_of_iocb(iocb.opcode);
	record->offset = iocb.offset;
	record->length = length;
	record->flags = iocb.rw_flags;
	record->other = state->pid;
	send_reserved(record);
	return 0;
}

__noinline int leave_submit(struct task_state *state, int64_t result)
{
	struct submission submission = { .state = state };

	if (!state || result <= 0)
		return 0;
	submission.at = arg(state, 3);
	bpf_loop(result > 4096 ? 4096 : result, submit_one, &submission, 0);
	return 0;
}

static long reap_one(uint32_t i, struct submission *submission)
{
	struct wire_reaped *record;
	struct io_event event = { 0 };

	if (bpf_probe_read_user(&event, sizeof(event), (const void *)(submission->at + i * sizeof(event))) != 0)
		return 0;
	record = reserve(wire_reaped);
	if (!record)
		return 0;
	*record = (struct wire_reaped){ 0 };
	head_now(&record->head, WIRE_REAPED, submission->state->tid);
	record->pid = submission->state->pid;
	record->key = event.object;
	record->result = event.result;
	send_reserved(record);
	return 0;
}

__noinline int leave_reap(struct task_state *state, int64_t result)
{
	struct submission reaped = { .state = state };

	if (!state || result <= 0)
		return 0;
	reaped.at = arg(state, 4);
	bpf_loop(result > 4096 ? 4096 : result, reap_one, &reaped, 0);
	return 0;
}

#endif
