/* SPDX-License-Identifier: MIT */
#ifndef KERNEL_ENTER_BPF_H
#define KERNEL_ENTER_BPF_H

/*
 * System calls at their entry: the arguments, and what the call itself may change: which file a descriptor leads to, its
 * position, whether it is the last one.
 */

#include "compat.bpf.h"
#include "maps.bpf.h"
#include "process.bpf.h"

#define TS_COMPAT 2
#define TIF_32BIT 22

#if defined(__TARGET_ARCH_x86)
inlined bool is_compat(struct task_struct *task)
{
	return task->thread_info.status & TS_COMPAT;
}

inlined void take_args(struct task_state *state, struct pt_regs *regs, bool compat)
{
	state->args[1] = compat ? regs->bx : regs->di;
	state->args[2] = compat ? regs->cx : regs->si;
	state->args[3] = regs->dx;
	state->args[4] = compat ? regs->si : regs->r10;
	state->args[5] = compat ? regs->di : regs->r8;
	state->args[6] = compat ? regs->bp : regs->r9;
	if (compat)
		for (int i = 1; i <= 6; i++)
			state->args[i] &= 0xffffffff;
}

/* One of them, before there is a state. */
inlined uint64_t register_of(struct pt_regs *regs, bool compat, uint32_t i)
{
	switch (i) {
	case 1:
		return compat ? regs->bx : regs->di;
	case 2:
		return compat ? regs->cx : regs->si;
	case 3:
		return regs->dx;
	case 4:
		return compat ? regs->si : regs->r10;
	case 5:
		return compat ? regs->di : regs->r8;
	}
	return 0;
}
#elif defined(__TARGET_ARCH_arm64)
inlined bool is_compat(struct task_struct *task)
{
	return task->thread_info.flags >> TIF_32BIT & 1;
}

/* The registers of 32-bit programs are the lower halves of the first ones. */
inlined void take_args(struct task_state *state, struct pt_regs *regs, bool compat)
{
	for (int i = 0; i < 6; i++)
		state->args[i + 1] = compat ? regs->regs[i] & 0xffffffff : regs->regs[i];
}

inlined uint64_t register_of(struct pt_regs *regs, bool compat, uint32_t i)
{
	uint64_t value = i > 0 && i < 6 ? regs->regs[(i - 1) & 7] : 0;

	return compat ? value & 0xffffffff : value;
}
#endif

inlined uint32_t call_of(long nr, bool compat)
{
	if ((uint64_t)nr >= CALL_NUMBERS)
		return CALL_none;
	return compat ? kernel_compat[nr & (CALL_NUMBERS - 1)] : kernel_native[nr & (CALL_NUMBERS - 1)];
}

inlined void take_other(struct task_state *state, uint64_t file)
{
	state->other_file = file;
	state->other_handle = file ? handle_of(file, POINTER(file, file, f_inode), state->tid) : 0;
}

/* dup2(2) closes the descriptor that it replaces. */
inlined void enter_dup(struct task_state *state, struct task_struct *task, uint32_t to)
{
	uint64_t replaced = to && state->file && arg(state, to) != arg(state, 1) ? file_at(task, arg(state, to)) : 0;

	if (!replaced)
		return;
	take_other(state, replaced);
	if (handle_last(replaced))
		state->flags |= WIRE_LAST;
}

inlined void enter_class(struct task_state *state, struct task_struct *task, const volatile struct call_row *row)
{
	switch (row->class) {
	case CLASS_DATA:
		if (state->file)
			state->position = FIELD(file, state->file, f_pos);
		break;
	case CLASS_CLOSE:
		if (state->file && handle_last(state->file))
			state->flags |= WIRE_LAST;
		break;
	case CLASS_CLOSE_RANGE:
		if (!(arg(state, 3) & 4)) /* CLOSE_RANGE_CLOEXEC */
			walk_descriptors(WALK_CLOSE, arg(state, 1), arg(state, 2), state->tid, state->call);
		state->call = CALL_none;
		break;
	case CLASS_DUP:
		enter_dup(state, task, row->offset);
		break;
	case CLASS_MAP:
		enter_map(state);
		if (arg(state, 4) & MAP_ANONYMOUS)
			state->call = CALL_none;
		break;
	case CLASS_UNMAP:
		enter_range(state);
		break;
	case CLASS_TRANSFER:
		take_other(state, file_at(task, arg(state, row->path)));
		break;
	case CLASS_EXEC:
		state->position = FIELD(task_struct, number(task), ioac.rchar);
		walk_descriptors(WALK_EXEC, 0, UINT32_MAX, state->tid, 0);
		break;
	}
}

SEC("tp_btf/sys_enter")
int BPF_PROG(kernel_enter, struct pt_regs *regs, long nr)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct task_state *state = state_of(task);
	const volatile struct call_row *row;
	bool compat;

	if (!state && kernel_attach && attach_current())
		state = state_of(task);
	if (!state)
		return 0;
	compat = is_compat(task);
	state->number = nr == RESTART_NATIVE && !compat && state->restarts ? state->restarts : nr + 1;
	state->flags = compat ? WIRE_COMPAT : 0;
	state->call = call_of(nr, compat);
	if (state->call == CALL_none)
		return 0;
	take_args(state, regs, compat);
	if (row_of(state)->class == CLASS_INDIRECT)
		enter_indirect(state);
	row = row_of(state);
	state->file = state->handle = state->other_handle = 0;
	state->position = -1;
	if (row->fd && row->class != CLASS_PIPE && !(row->class == CLASS_MAP && arg(state, 4) & MAP_ANONYMOUS))
		take_file(state, file_at(task, arg(state, row->fd)));
	enter_class(state, task, row);
	state->start_ns = clock_ns();
	return 0;
}

#endif
