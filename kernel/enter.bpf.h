/* SPDX-License-Identifier: MIT */
#ifndef KERNEL_ENTER_BPF_H
#define KERNEL_ENTER_BPF_H

/*
 * System calls at their entry: the arguments, and what the call itself may change: which file a descriptor leads to, its
 * position, whether it is the last one.
 */

#include "call.bpf.h"
#include "process.bpf.h"

#define MAP_ANONYMOUS 0x20
#define TS_COMPAT 2

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
	uint64_t replaced = to && arg(state, to) != arg(state, 1) ? file_at(task, arg(state, to)) : 0;

	if (!replaced)
		return;
	take_other(state, replaced);
	if (handle_last(replaced))
		state->flags |= WIRE_LAST;
}

struct mapping {
	uint64_t file;
	uint64_t start, end;
	uint64_t page; /* of the file, at the start */
};

static long look_at_mapping(struct task_struct *task, struct vm_area_struct *area, struct mapping *mapping)
{
	mapping->file = number(area->vm_file);
	mapping->start = area->vm_start;
	mapping->end = area->vm_end;
	mapping->page = area->vm_pgoff;
	return 0;
}

/* Of the calls about memory those about files are recorded: by the place in the file. */
inlined void enter_unmap(struct task_state *state, struct task_struct *task)
{
	struct mapping mapping = { 0 };

	bpf_find_vma(task, arg(state, 1), look_at_mapping, &mapping, 0);
	if (!mapping.file) {
		state->call = CALL_none;
		return;
	}
	take_file(state, mapping.file);
	/* ld.so's way with its cache: the mapping is all that is left of the open */
	if (state->call == CALL_munmap && arg(state, 1) <= mapping.start && arg(state, 1) + arg(state, 2) + 4095 >= mapping.end &&
		handle_last(mapping.file))
		state->flags |= WIRE_LAST;
	state->position = mapping.page * 4096 + (arg(state, 1) - mapping.start);
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
		if (arg(state, 4) & MAP_ANONYMOUS)
			state->call = CALL_none;
		break;
	case CLASS_UNMAP:
		enter_unmap(state, task);
		break;
	case CLASS_TRANSFER:
		take_other(state, file_at(task, arg(state, row->path)));
		break;
	case CLASS_EXEC:
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

	if (!state)
		return 0;
	compat = is_compat(task);
	state->call = call_of(nr, compat);
	if (state->call == CALL_none)
		return 0;
	row = row_of(state);
	take_args(state, regs, compat);
	state->flags = compat ? WIRE_COMPAT : 0;
	state->file = state->handle = state->other_handle = 0;
	state->position = -1;
	if (row->fd && row->class != CLASS_PIPE && !(row->class == CLASS_MAP && arg(state, 4) & MAP_ANONYMOUS))
		take_file(state, file_at(task, arg(state, row->fd)));
	enter_class(state, task, row);
	state->start_ns = bpf_ktime_get_ns();
	return 0;
}

#endif
