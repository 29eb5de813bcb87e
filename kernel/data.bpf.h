/* SPDX-License-Identifier: MIT */
#ifndef KERNEL_DATA_BPF_H
#define KERNEL_DATA_BPF_H

/* System calls that move data: how much was asked for, and where the data lay. */

#include "call.bpf.h"
#include "sockets.bpf.h"

#define RWF_APPEND 0x10

struct vector {
	uint64_t at;
	uint64_t n;
	uint64_t bytes;
	bool compat;
};

static long add_part(uint32_t i, struct vector *vector)
{
	uint64_t len = 0;

	if (vector->compat)
		bpf_probe_read_user(&len, 4, (const void *)(vector->at + i * 8 + 4));
	else
		bpf_probe_read_user(&len, 8, (const void *)(vector->at + i * 16 + 8));
	vector->bytes += len;
	return 0;
}

inlined uint64_t vector_bytes(const struct task_state *state, const volatile struct call_row *row)
{
	struct vector vector = { .at = arg(state, row->length), .n = arg(state, row->length + 1),
		.compat = state->flags & WIRE_COMPAT };

	bpf_loop(vector.n > 1024 ? 0 : vector.n, add_part, &vector, 0);
	return vector.bytes;
}

/* Where a write of a descriptor with O_APPEND landed: before the end. */
inlined int64_t before_end(const struct task_state *state, int64_t result)
{
	return FIELD(inode, POINTER(file, state->file, f_inode), i_size) - result;
}

/*
 * Where the data of a call without an offset lay.  The position at the end says it: at the entry another thread may have
 * been at work with the same descriptor.  A device may leave its position as it is.
 */
inlined int64_t at_position(const struct task_state *state, int64_t result)
{
	int64_t after;

	if (!state->file || !(FIELD(file, state->file, f_mode) & FMODE_LSEEK))
		return -1;
	after = FIELD(file, state->file, f_pos);
	return result <= 0 || after == state->position ? state->position : after - result;
}

inlined bool appends(const struct task_state *state, const volatile struct call_row *row)
{
	if (!(row->how & HOW_WRITE) || !state->file)
		return false;
	return FIELD(file, state->file, f_flags) & O_APPEND || arg(state, row->flags) & RWF_APPEND;
}

inlined int64_t data_offset(const struct task_state *state, const volatile struct call_row *row, int64_t result)
{
	int64_t offset = offset_arg(state, row);

	if (row->how & HOW_STREAM)
		return -1;
	if (!row->offset || (row->how & HOW_CURRENT && offset == -1))
		return at_position(state, result);
	return result > 0 && appends(state, row) ? before_end(state, result) : offset;
}

/* The address that a datagram went to, or came from, if the call has one. */
inlined void send_datagram(const struct task_state *state, uint64_t address, uint32_t length, int64_t result)
{
	if (result >= 0 && address && state->handle && !kernel_is_of_mount && is_datagram_socket(state->file))
		send_socket(state->file, state->handle, address, length, state->call);
}

/* The length of the address: sendto() passes it, recvfrom() stores it. */
inlined uint32_t datagram_address_length(const struct task_state *state)
{
	uint32_t length = 0;

	if (state->call == CALL_sendto)
		return arg(state, 6);
	bpf_probe_read_user(&length, sizeof(length), (const void *)arg(state, 6));
	return length;
}

/* vmsplice() reads from the end of a pipe that is open for reading. */
inlined bool is_read_end(uint64_t file)
{
	return file && !(FIELD(file, file, f_mode) & FMODE_WRITE);
}

__noinline int leave_data(struct task_state *state, int64_t result)
{
	const volatile struct call_row *row;
	struct wire_call *record;
	uint64_t length;

	if (!state)
		return 0;
	row = row_of(state);
	length = row->how & HOW_VECTOR ? vector_bytes(state, row) : arg(state, row->length);
	record = reserve(wire_call);
	if (!record)
		return 0;
	fill_call(record, WIRE_CALL, state, result);
	record->length = length;
	record->offset = data_offset(state, row, result);
	if (state->call == CALL_vmsplice)
		record->mode = is_read_end(state->file);
	send_reserved(record);
	if (state->call == CALL_sendto || state->call == CALL_recvfrom)
		send_datagram(state, arg(state, 5), datagram_address_length(state), result);
	return 0;
}

/* ---- locks ---- */

struct lock_native {
	int16_t type, whence, pad[2];
	int64_t start, length;
};

/* Of 32-bit programs: with 32 and with 64 bits. */
struct lock_short {
	int16_t type, whence;
	int32_t start, length;
};

struct lock_long {
	int16_t type, whence;
	uint32_t start[2], length[2];
};

#define F_GETLK_NATIVE 5 /* then F_SETLK, F_SETLKW */
#define F_GETLK_LONG 12	 /* of 32-bit programs */
#define F_GETLK_OFD 36

inlined bool is_lock(uint32_t command)
{
	return command - F_GETLK_NATIVE < 3 || command - F_GETLK_LONG < 3 || command - F_GETLK_OFD < 3;
}

inlined void read_lock(struct lock_native *lock, const struct task_state *state)
{
	const void *at = (const void *)arg(state, 3);
	struct lock_short narrow = { 0 };
	struct lock_long wide = { 0 };

	if (!(state->flags & WIRE_COMPAT)) {
		bpf_probe_read_user(lock, sizeof(*lock), at);
	} else if (arg(state, 2) < F_GETLK_LONG) {
		bpf_probe_read_user(&narrow, sizeof(narrow), at);
		*lock = (struct lock_native){ .type = narrow.type, .whence = narrow.whence, .start = narrow.start,
			.length = narrow.length };
	} else {
		bpf_probe_read_user(&wide, sizeof(wide), at);
		*lock = (struct lock_native){ .type = wide.type, .whence = wide.whence,
			.start = wide.start[0] | (uint64_t)wide.start[1] << 32,
			.length = wide.length[0] | (uint64_t)wide.length[1] << 32 };
	}
}

/* Where the range begins. */
inlined int64_t start_of_lock(const struct lock_native *lock, uint64_t file)
{
	if (lock->whence == 0 || !file)
		return lock->start;
	return lock->start + (lock->whence == 1 ? FIELD(file, file, f_pos) : FIELD(inode, POINTER(file, file, f_inode), i_size));
}

/* A call about a lock has its range as offset and length, and its type as mode. */
__noinline int leave_fcntl(struct task_state *state, int64_t result)
{
	struct lock_native lock = { 0 };
	struct wire_call *record;

	if (!state)
		return 0;
	if (!is_lock(arg(state, 2)))
		return leave_plain(state, result);
	read_lock(&lock, state);
	record = reserve(wire_call);
	if (!record)
		return 0;
	fill_call(record, WIRE_CALL, state, result);
	record->offset = start_of_lock(&lock, state->file);
	record->length = lock.length;
	record->mode = lock.type;
	send_reserved(record);
	return 0;
}

/* ---- messages ---- */

struct message {
	uint64_t name, name_len, parts, n, control, control_len, flags;
};

struct message_compat {
	uint32_t name, name_len, parts, n, control, control_len, flags;
};

struct messages {
	uint64_t at;
	uint64_t n;	 /* that were moved */
	uint64_t length; /* bytes: asked for, */
	uint64_t bytes;	 /* and moved */
	uint64_t file, handle; /* the socket if it takes datagrams, else 0 */
	uint32_t call;
	bool compat;
};

__noinline uint64_t message_bytes(uint64_t at, uint32_t compat)
{
	struct message_compat narrow = { 0 };
	struct message wide = { 0 };
	struct vector vector = { .compat = compat };

	if (compat)
		bpf_probe_read_user(&narrow, sizeof(narrow), (const void *)at);
	else
		bpf_probe_read_user(&wide, sizeof(wide), (const void *)at);
	vector.at = compat ? narrow.parts : wide.parts;
	vector.n = compat ? narrow.n : wide.n;
	bpf_loop(vector.n > 1024 ? 0 : vector.n, add_part, &vector, 0);
	return vector.bytes;
}

/* The address of a message; 0: none. */
inlined uint64_t message_address(uint64_t at, bool compat, uint32_t *ret_length)
{
	uint64_t name = 0;

	*ret_length = 0;
	bpf_probe_read_user(&name, compat ? 4 : 8, (const void *)at);
	bpf_probe_read_user(ret_length, 4, (const void *)(at + (compat ? 4 : 8)));
	return name;
}

/* What did not fit into the parts is lost, whatever the call says of its length. */
static long add_message(uint32_t i, struct messages *messages)
{
	uint32_t size = messages->compat ? sizeof(struct message_compat) : sizeof(struct message);
	uint64_t at = messages->at + i * (messages->compat ? size + 4 : size + 8);
	uint64_t length = message_bytes(at, messages->compat), address;
	uint32_t moved = 0, address_length;

	messages->length += length;
	if (i >= messages->n)
		return 0;
	bpf_probe_read_user(&moved, sizeof(moved), (const void *)(at + size));
	messages->bytes += moved < length ? moved : length;
	address = messages->file ? message_address(at, messages->compat, &address_length) : 0;
	if (address)
		send_socket(messages->file, messages->handle, address, address_length, messages->call);
	return 0;
}

/* The kernel returns the number of messages that it has moved; the record has their bytes. */
__noinline int leave_messages(struct task_state *state, int64_t result)
{
	struct messages messages = { .n = result > 0 ? result : 0 };
	struct wire_call *record;
	uint32_t n;

	if (!state)
		return 0;
	messages.at = arg(state, row_of(state)->length);
	messages.compat = state->flags & WIRE_COMPAT;
	messages.call = state->call;
	if (state->handle && !kernel_is_of_mount && is_datagram_socket(state->file)) {
		messages.file = state->file;
		messages.handle = state->handle;
	}
	n = arg(state, row_of(state)->length + 1);
	bpf_loop(n > 1024 ? 1024 : n, add_message, &messages, 0);
	record = reserve(wire_call);
	if (!record)
		return 0;
	fill_call(record, WIRE_CALL, state, result > 0 ? (int64_t)messages.bytes : result);
	record->length = messages.length;
	record->offset = -1;
	send_reserved(record);
	return 0;
}

__noinline int leave_message(struct task_state *state, int64_t result)
{
	struct wire_call *record;
	uint64_t length, address;
	uint32_t address_length;

	if (!state)
		return 0;
	length = message_bytes(arg(state, row_of(state)->length), state->flags & WIRE_COMPAT);
	record = reserve(wire_call);
	if (!record)
		return 0;
	fill_call(record, WIRE_CALL, state, result);
	record->length = length;
	record->offset = -1;
	send_reserved(record);
	address = message_address(arg(state, row_of(state)->length), state->flags & WIRE_COMPAT, &address_length);
	send_datagram(state, address, address_length, result);
	return 0;
}

/* ---- from one descriptor to another ---- */

/* Where the data of one side of a transfer lay: at the offset that the program passed, which the kernel has advanced. */
inlined int64_t transfer_offset(const struct task_state *state, uint64_t pointer, uint64_t file, int64_t result)
{
	int64_t offset = 0;
	uint32_t size = state->flags & WIRE_COMPAT && state->call == CALL_sendfile ? 4 : 8;

	if (result < 0)
		result = 0;
	if (pointer && bpf_probe_read_user(&offset, size, (const void *)pointer) == 0)
		return offset - result;
	if (!file || !(FIELD(file, file, f_mode) & FMODE_LSEEK))
		return -1;
	return FIELD(file, file, f_pos) - result;
}

__noinline int leave_transfer(struct task_state *state, int64_t result)
{
	const volatile struct call_row *row;
	struct wire_call *record;
	int64_t from, to;

	if (!state)
		return 0;
	row = row_of(state);
	from = transfer_offset(state, row->offset ? arg(state, row->offset) : 0, state->file, result);
	to = transfer_offset(state, row->dir ? arg(state, row->dir) : 0, state->other_file, result);
	record = reserve(wire_call);
	if (!record)
		return 0;
	fill_call(record, WIRE_CALL, state, result);
	record->handle = state->other_handle;
	record->other = state->handle;
	record->offset = to;
	record->from = from;
	send_reserved(record);
	return 0;
}

#endif
