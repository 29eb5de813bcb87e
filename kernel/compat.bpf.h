/* SPDX-License-Identifier: MIT */
#ifndef KERNEL_COMPAT_BPF_H
#define KERNEL_COMPAT_BPF_H

/* Calls that 32-bit programs make in a way of their own: with all arguments in memory, or with a result there. */

#include "call.bpf.h"

inlined uint32_t call_of_socketcall(uint64_t number)
{
	switch (number) {
	case 1:
		return CALL_socket;
	case 2:
		return CALL_bind;
	case 3:
		return CALL_connect;
	case 5:
		return CALL_accept;
	case 8:
		return CALL_socketpair;
	case 9: /* send(2) */
	case 11:
		return CALL_sendto;
	case 10: /* recv(2) */
	case 12:
		return CALL_recvfrom;
	case 16:
		return CALL_sendmsg;
	case 17:
		return CALL_recvmsg;
	case 18:
		return CALL_accept4;
	case 19:
		return CALL_recvmmsg;
	case 20:
		return CALL_sendmmsg;
	}
	return CALL_none;
}

/* Puts the call that is meant, and its arguments, in the place of this one. */
__noinline int enter_indirect(struct task_state *state)
{
	uint32_t value;
	uint64_t at;

	if (!state)
		return 0;
	at = arg(state, row_of(state)->length);
	state->call = state->call == CALL_mmap1 ? (uint32_t)CALL_mmap : call_of_socketcall(arg(state, 1));
	for (uint32_t i = 1; i <= 6; i++) {
		value = 0;
		/* the program has just written what the call needs; the rest may not be there */
		bpf_probe_read_user(&value, sizeof(value), (const void *)(at + (i - 1) * sizeof(value)));
		state->args[i] = value;
	}
	return 0;
}

__noinline int leave_llseek(struct task_state *state, int64_t result)
{
	struct wire_call *record;
	int64_t position = 0;

	if (!state)
		return 0;
	if (result == 0 && bpf_probe_read_user(&position, sizeof(position), (const void *)arg(state, row_of(state)->length)) == 0)
		result = position;
	record = reserve(wire_call);
	if (!record)
		return 0;
	fill_call(record, WIRE_CALL, state, result);
	record->offset = arg(state, 2) << 32 | arg(state, 3);
	record->length = 0;
	send_reserved(record);
	return 0;
}

#endif
