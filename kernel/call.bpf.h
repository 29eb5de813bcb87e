/* SPDX-License-Identifier: MIT */
#ifndef KERNEL_CALL_BPF_H
#define KERNEL_CALL_BPF_H

/* What is known of a system call: its line of the table, its arguments, its descriptor; and the plain record of it. */

#include "mount.bpf.h"

#define O_APPEND 02000
#define FMODE_WRITE 2
#define FMODE_LSEEK 4
#define AT_FDCWD (-100)
#define AT_SYMLINK_FOLLOW 0x400
#define AT_EMPTY_PATH 0x1000
#define PATH_MOST 4096

/* Numbers of other architectures fill the place behind the last number. */
#define AT_NUMBER(number) ((number) == CALL_NO ? CALL_NUMBERS : (number))
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Winitializer-overrides"

const volatile uint8_t kernel_native[CALL_NUMBERS + 1] = {
#define X(name, x86_64, ...) [AT_NUMBER(x86_64)] = CALL_##name,
	CALLS(X, CALL_NO)
#undef X
};

const volatile uint8_t kernel_compat[CALL_NUMBERS + 1] = {
#define X(name, x86_64, i386, ...) [AT_NUMBER(i386)] = CALL_##name,
	CALLS(X, CALL_NO)
#undef X
};

#pragma clang diagnostic pop

const volatile struct call_row kernel_rows[256] = {
#define X(name, x86_64, i386, kind, how, op, fd, path, dir, offset, length, flags)                  \
	[CALL_##name] = { CLASS_##kind, how, fd, path, dir, offset, length, flags },
	CALLS(X, CALL_NO)
#undef X
};

_Static_assert(CALL_MAX <= 256, "a call fits into a byte");

inlined const volatile struct call_row *row_of(const struct task_state *state)
{
	return &kernel_rows[state->call & 255];
}

inlined uint64_t arg(const struct task_state *state, uint32_t i)
{
	return state->args[i & 7];
}

/* An argument that 32-bit calls pass as two. */
inlined uint64_t wide_arg(const struct task_state *state, uint32_t i, bool is_wide)
{
	uint64_t low = arg(state, i);

	return is_wide && (state->flags & WIRE_COMPAT) ? low | arg(state, i + 1) << 32 : low;
}

inlined uint64_t offset_arg(const struct task_state *state, const volatile struct call_row *row)
{
	uint64_t offset = wide_arg(state, row->offset, row->how & HOW_WIDE);

	return row->how & HOW_PAGES ? offset * 4096 : offset;
}

inlined uint64_t length_arg(const struct task_state *state, const volatile struct call_row *row)
{
	return wide_arg(state, row->length, row->how & HOW_WIDER);
}

inlined void remember_file(struct task_state *state, uint64_t file, uint64_t inode, uint64_t handle)
{
	state->cached_file = file;
	state->cached_inode = inode;
	state->cached_handle = handle;
	state->cached_epoch = *epoch_of(file);
}

inlined void take_file(struct task_state *state, uint64_t file)
{
	uint64_t inode = file ? POINTER(file, file, f_inode) : 0;

	state->file = file;
	state->handle = 0;
	if (!file)
		return;
	if (kernel_is_of_mount) {
		state->handle = handle_in_mount(file);
		return;
	}
	if (state->cached_file != file || state->cached_inode != inode || state->cached_epoch != *epoch_of(file))
		remember_file(state, file, inode, handle_of(file, inode, state->tid));
	state->handle = state->cached_handle;
}

inlined void fill_call(struct wire_call *record, enum wire_type type, const struct task_state *state, int64_t result)
{
	const volatile struct call_row *row = row_of(state);

	record->head.type = type;
	record->head.flags = state->flags;
	record->head.call = state->call;
	record->head.tid = state->tid;
	record->head.time_ns = state->start_ns;
	record->latency_ns = clock_ns() - state->start_ns;
	record->result = result;
	record->handle = state->handle;
	record->other = state->other_handle;
	record->offset = offset_arg(state, row);
	record->length = length_arg(state, row);
	record->flags = arg(state, row->flags);
	record->mode = 0;
}

__noinline int leave_plain(struct task_state *state, int64_t result)
{
	struct wire_call *record;

	if (!state)
		return 0;
	record = reserve(wire_call);
	if (!record)
		return 0;
	fill_call(record, WIRE_CALL, state, result);
	if (row_of(state)->class == CLASS_UNMAP) {
		record->offset = state->position;
		if (!kernel_is_of_mount)
			record->other = arg(state, row_of(state)->dir);
	}
	send_reserved(record);
	return 0;
}

#endif
