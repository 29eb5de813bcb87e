/* SPDX-License-Identifier: MIT */
#ifndef KERNEL_ENTER_MOUNT_BPF_H
#define KERNEL_ENTER_MOUNT_BPF_H

/*
 * System calls at their entry, of any thread: those that move data of a file of the mount, or are about a descriptor or a
 * mapping of one.  All others are requests to the daemon, which records them, or none of the mount's.  A thread has a state
 * from its first such call on.
 */

#include "enter.bpf.h"

/* The files that a call is about; those that are none of the mount's have no fuse_file. */
struct sides {
	uint64_t file, fuse_file;
	uint64_t other, other_fuse_file;
};

/* Whether the call may be recorded: by far the most are about other files. */
inlined bool is_of_mount(struct task_struct *task, struct pt_regs *regs, bool compat, uint32_t call,
	const volatile struct call_row *row, struct sides *ret_sides)
{
	switch (row->class) {
	case CLASS_SUBMIT:
		return true;
	case CLASS_UNMAP: /* the mapping says it */
		return call != CALL_mremap;
	case CLASS_REAP:
		return state_of(task);
	case CLASS_DATA:
		if (row->how & HOW_STREAM)
			return false;
		break;
	case CLASS_FD:
		if (call != CALL_lseek)
			return false;
		break;
	case CLASS_MAP:
		if (register_of(regs, compat, 4) & MAP_ANONYMOUS)
			return false;
		break;
	case CLASS_TRANSFER:
		ret_sides->other = file_at(task, register_of(regs, compat, row->path));
		ret_sides->other_fuse_file = fuse_file_of(ret_sides->other);
		break;
	case CLASS_LLSEEK:
	case CLASS_CLOSE:
	case CLASS_DUP:
	case CLASS_FCNTL:
		break;
	default:
		return false;
	}
	ret_sides->file = file_at(task, register_of(regs, compat, row->fd));
	ret_sides->fuse_file = fuse_file_of(ret_sides->file);
	return ret_sides->fuse_file || ret_sides->other_fuse_file;
}

inlined int32_t current_id(struct task_struct *task)
{
	return kernel_pid_level ? id_of(number(task)) : (int32_t)bpf_get_current_pid_tgid();
}

inlined struct task_state *begin_state(struct task_struct *task, uint32_t call, bool compat)
{
	struct task_state *state = bpf_task_storage_get(&kernel_tasks, task, NULL, BPF_LOCAL_STORAGE_GET_F_CREATE);

	if (!state)
		return NULL;
	state->call = call;
	state->flags = compat ? WIRE_COMPAT : 0;
	state->file = state->handle = state->other_file = state->other_handle = 0;
	state->position = -1;
	state->tid = current_id(task); /* changes if the thread executes a program */
	return state;
}

/* other: the node, because the handle may have ended before its mapping. */
inlined void enter_unmap_of_mount(struct task_state *state, struct task_struct *task)
{
	struct mapping mapping = { 0 };
	struct wire_opened *opened;

	bpf_find_vma(task, arg(state, 1), look_at_mapping, &mapping, 0);
	opened = mapping.file ? opened_of_mapping(mapping.file) : NULL;
	/* of what happens to private copies the file has no part */
	if (!opened || (state->call == CALL_mprotect && !(mapping.flags & VM_MAYSHARE)))
		return;
	if (state->call == CALL_mprotect)
		state->args[7] = arg(state, 3) | MAP_SHARED << 8;
	state->handle = opened->handle;
	state->other_handle = opened->node;
	state->position = mapping.page * 4096 + (arg(state, 1) - mapping.start);
}

inlined void take_files(struct task_state *state, struct task_struct *task, const volatile struct call_row *row,
	const struct sides *sides)
{
	if (row->class == CLASS_UNMAP) {
		enter_unmap_of_mount(state, task);
		return;
	}
	state->file = sides->file;
	state->handle = handle_of_fuse(sides->fuse_file);
	if (row->class == CLASS_MAP)
		state->args[7] = arg(state, 3) | arg(state, 4) << 8;
	if (row->class == CLASS_DATA && sides->file)
		state->position = FIELD(file, sides->file, f_pos);
	state->other_file = sides->other;
	state->other_handle = handle_of_fuse(sides->other_fuse_file);
}

/* Whose files were not reported is not recorded. */
inlined bool is_known(const struct task_state *state, uint32_t class)
{
	return class == CLASS_SUBMIT || class == CLASS_REAP || state->handle || state->other_handle;
}

/* The mmap() of old 32-bit programs: its arguments are in memory. */
inlined void enter_indirect_of_mount(struct task_struct *task, struct pt_regs *regs, uint32_t call, bool compat)
{
	struct task_state *state = call == CALL_mmap1 ? begin_state(task, call, compat) : NULL;
	struct sides sides = { 0 };

	if (!state)
		return;
	take_args(state, regs, compat);
	enter_indirect(state);
	if (!(arg(state, 4) & MAP_ANONYMOUS))
		sides.file = file_at(task, arg(state, 5));
	sides.fuse_file = fuse_file_of(sides.file);
	take_files(state, task, row_of(state), &sides);
	if (!state->handle)
		state->call = CALL_none;
	state->start_ns = clock_ns();
}

SEC("tp_btf/sys_enter")
int BPF_PROG(kernel_enter_mount, struct pt_regs *regs, long nr)
{
	struct task_struct *task = bpf_get_current_task_btf();
	bool compat = is_compat(task);
	uint32_t call = call_of(nr, compat);
	const volatile struct call_row *row = &kernel_rows[call & 255];
	struct task_state *state;
	struct sides sides = { 0 };

	if (call == CALL_none || !kernel_mount_device)
		return 0;
	if (row->class == CLASS_CLOSE_RANGE) {
		if (!(register_of(regs, compat, 3) & 4)) /* CLOSE_RANGE_CLOEXEC */
			walk_descriptors(WALK_CLOSE, register_of(regs, compat, 1), register_of(regs, compat, 2),
				current_id(task), call);
		return 0;
	}
	if (row->class == CLASS_INDIRECT) {
		enter_indirect_of_mount(task, regs, call, compat);
		return 0;
	}
	if (!is_of_mount(task, regs, compat, call, row, &sides))
		return 0;
	state = begin_state(task, call, compat);
	if (!state)
		return 0;
	take_args(state, regs, compat);
	if (row->class == CLASS_SUBMIT || row->class == CLASS_REAP)
		state->pid = id_of(number(task->group_leader));
	else
		take_files(state, task, row, &sides);
	if (!is_known(state, row->class))
		state->call = CALL_none;
	state->start_ns = clock_ns();
	return 0;
}

#endif
