/* SPDX-License-Identifier: MIT */
#ifndef KERNEL_LEAVE_BPF_H
#define KERNEL_LEAVE_BPF_H

/*
 * System calls at their end: the result, and what the program has in its memory.  The kernel has read it by then, so it
 * can be read without a page fault, which a program here must not take.
 */

#include "async.bpf.h"
#include "compat.bpf.h"
#include "data.bpf.h"
#include "paths.bpf.h"
#include "waits.bpf.h"

#define EINTR 4
#define ERESTARTSYS 512
#define ERESTART_RESTARTBLOCK 516

/* ---- new descriptors ---- */

inlined uint64_t report_descriptor(struct task_struct *task, struct task_state *state, int fd)
{
	uint64_t file = file_at(task, fd);

	return file ? handle_report(file, state->tid) : 0;
}

__noinline int leave_new(struct task_state *state, int64_t result)
{
	struct task_struct *task = bpf_get_current_task_btf();

	if (!state)
		return 0;
	state->other_handle = state->handle;
	state->handle = result >= 0 ? report_descriptor(task, state, result) : 0;
	return leave_plain(state, result);
}

__noinline int leave_pipe(struct task_state *state, int64_t result)
{
	struct task_struct *task = bpf_get_current_task_btf();
	int fds[2] = { -1, -1 };

	if (!state)
		return 0;
	if (result >= 0)
		bpf_probe_read_user(fds, sizeof(fds), (const void *)arg(state, row_of(state)->fd));
	state->handle = report_descriptor(task, state, fds[0]);
	state->other_handle = report_descriptor(task, state, fds[1]);
	return leave_plain(state, result);
}

__noinline int leave_address(struct task_state *state, int64_t result)
{
	bool is_given = result == 0 || result == -EINPROGRESS;

	if (!state)
		return 0;
	if (state->call != CALL_bind)
		leave_plain(state, result);
	if (is_given && state->handle && is_socket(state->file))
		send_socket(state->file, state->handle, arg(state, 2), arg(state, 3), state->call);
	return 0;
}

/* ---- which of them ---- */

/* The kernel makes EINTR of these, or starts the call again. */
inlined int64_t final_result(int64_t result)
{
	return result <= -ERESTARTSYS && result >= -ERESTART_RESTARTBLOCK ? -EINTR : result;
}

inlined int leave_class(struct task_state *state, const volatile struct call_row *row, int64_t result)
{
	switch (row->class) {
	case CLASS_DATA:
		return leave_data(state, result);
	case CLASS_MESSAGE:
		return leave_message(state, result);
	case CLASS_MESSAGES:
		return leave_messages(state, result);
	case CLASS_FD:
		return row->how & HOW_NAME ? leave_name(state, result) : leave_plain(state, result);
	case CLASS_ADDRESS:
		return leave_address(state, result);
	case CLASS_MAP:
		if (kernel_is_of_mount)
			remember_backing(state->file);
		return leave_plain(state, result < 0 && result > -4096 ? result : 0);
	case CLASS_UNMAP: /* some return an address */
		return leave_plain(state, result < 0 && result > -4096 ? result : 0);
	case CLASS_CLOSE:
	case CLASS_DUP:
		return leave_plain(state, result);
	case CLASS_OPEN:
	case CLASS_OPENAT2:
		return leave_open(state, result);
	case CLASS_STAT:
		return row->path ? leave_stat(state, result) : leave_plain(state, result);
	case CLASS_PATH:
	case CLASS_EXEC:
		return leave_path(state, result);
	case CLASS_PATHS:
		return leave_paths(state, result);
	case CLASS_TRANSFER:
		return leave_transfer(state, result);
	case CLASS_NEW:
		return leave_new(state, result);
	case CLASS_PIPE:
		return leave_pipe(state, result);
	case CLASS_FCNTL:
		return leave_fcntl(state, result);
	case CLASS_LLSEEK:
		return leave_llseek(state, result);
	case CLASS_SUBMIT:
		return leave_submit(state, result);
	case CLASS_REAP:
		return leave_reap(state, result);
	}
	return 0;
}

SEC("tp_btf/sys_exit")
int BPF_PROG(kernel_leave, struct pt_regs *regs, long result)
{
	struct task_state *state = state_of(bpf_get_current_task_btf());

	if (!state)
		return 0;
	notice_processor(state);
	state->restarts = result == -ERESTART_RESTARTBLOCK ? state->number : 0;
	state->number = 0;
	if (state->call == CALL_none)
		return 0;
	leave_class(state, row_of(state), final_result(result));
	if (state->opening_ns)
		account_open(state, result);
	state->call = CALL_none;
	return 0;
}

#endif
