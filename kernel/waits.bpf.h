/* SPDX-License-Identifier: MIT */
#ifndef KERNEL_WAITS_BPF_H
#define KERNEL_WAITS_BPF_H

/*
 * Where the time of a thread goes.  It leaves the processor for one of two reasons: another thread gets it, or it waits; the
 * system call that it is inside of tells for what.  From its wake-up on, it waits for a processor.
 */

#include "call.bpf.h"
#include "sockets.bpf.h"

#define PF_WORKER (0x10 | 0x4000) /* of io_uring: PF_IO_WORKER, PF_USER_WORKER */
#define TASK_INTERRUPTIBLE 1
#define TASK_STOPPED_OR_TRACED (4 | 8)
#define S_IFIFO 0010000
#define S_IFCHR 0020000
#define F_SETLKW_NATIVE 7
#define F_SETLKW_OFD 38

const volatile uint8_t kernel_waits[CALL_NUMBERS + 1] = {
#define X(number, reason) [number] = WAIT_##reason,
	CALLS_WAITING(X)
#undef X
};

inlined enum wire_wait wait_for_kind(uint32_t mode)
{
	switch (mode & S_IFMT) {
	case S_IFIFO:
		return WAIT_PIPE;
	case S_IFSOCK:
		return WAIT_SOCKET;
	case 0: /* eventfd, epoll, timerfd */
	case S_IFCHR:
		return WAIT_EVENT;
	}
	return WAIT_FILE;
}

inlined bool is_open_row(const volatile struct call_row *row)
{
	return row->class == CLASS_OPEN || row->class == CLASS_OPENAT2;
}

/* An open that sleeps so that a signal may wake it waits for the other side of a FIFO, or for a server (account_open()). */
inlined enum wire_wait wait_for_path(const volatile struct call_row *row, uint32_t task_state)
{
	return is_open_row(row) && task_state & TASK_INTERRUPTIBLE ? WAIT_PIPE : WAIT_FILE;
}

inlined bool is_lock_call(const struct task_state *state, const volatile struct call_row *row)
{
	return row->class == CLASS_FCNTL && (arg(state, 2) == F_SETLKW_NATIVE || arg(state, 2) == F_SETLKW_OFD);
}

inlined uint32_t mode_of(uint64_t file)
{
	return FIELD(inode, POINTER(file, file, f_inode), i_mode);
}

/* From one file to another: a regular file makes no thread sleep so that a signal may wake it. */
inlined enum wire_wait wait_for_either(const struct task_state *state, uint32_t task_state)
{
	enum wire_wait from = wait_for_kind(mode_of(state->file));

	if (from == WAIT_FILE && state->other_file && task_state & TASK_INTERRUPTIBLE)
		return wait_for_kind(mode_of(state->other_file));
	return from;
}

inlined enum wire_wait wait_of(const struct task_state *state, uint32_t task_state)
{
	const volatile struct call_row *row = row_of(state);
	uint8_t reason;

	if (task_state & TASK_STOPPED_OR_TRACED)
		return WAIT_STOP;
	if (!state->number)
		return WAIT_MEMORY;
	reason = state->flags & WIRE_COMPAT ? WAIT_OTHER : kernel_waits[at_most(state->number - 1, CALL_NUMBERS)];
	if (reason != WAIT_OTHER || state->call == CALL_none)
		return reason;
	if (is_lock_call(state, row))
		return WAIT_LOCK;
	if (state->file)
		return wait_for_either(state, task_state);
	return row->path ? wait_for_path(row, task_state) : WAIT_OTHER;
}

inlined void begin_life(struct task_state *state, bool runs)
{
	state->born_ns = clock_ns();
	state->off_ns = runs ? 0 : state->born_ns;
	state->off_ran_ns = state->off_clock_ns = 0;
	state->why = WAIT_PROCESSOR;
	__builtin_memset(state->waits_ns, 0, sizeof(state->waits_ns));
}

inlined void leave_processor(struct task_state *state, const struct task_struct *task, bool is_preempted, uint32_t task_state)
{
	state->off_ns = clock_ns();
	state->off_ran_ns = task->se.sum_exec_runtime;
	state->off_clock_ns = task->se.exec_start;
	if (is_preempted || !task_state)
		state->why = WAIT_PROCESSOR;
	else
		state->why = task->flags & PF_WORKER ? WAIT_OTHER : wait_of(state, task_state);
}

inlined void get_processor(struct task_state *state, uint64_t now)
{
	uint64_t woken = state->woken_ns;
	uint32_t why = at_most(state->why, WAIT_MAX - 1);

	if (!state->off_ns)
		return;
	if (woken < state->off_ns || why == WAIT_PROCESSOR)
		woken = why == WAIT_PROCESSOR ? state->off_ns : now;
	woken = woken < now ? woken : now;
	state->waits_ns[why] += woken - state->off_ns;
	state->waits_ns[WAIT_PROCESSOR] += now - woken;
	if (why == WAIT_PIPE && is_open_row(row_of(state)))
		state->opening_ns += woken - state->off_ns;
	state->off_ns = 0;
}

/*
 * Of a thread that runs: not each switch to a thread reaches the tracepoint.  The scheduler counts what the thread has run, and
 * has the time until which it has counted: what has gone by, and was not run, is how long the thread was away.
 */
inlined void notice_processor(struct task_state *state)
{
	const struct task_struct *task;
	uint64_t now, ran, went;

	if (!state->off_ns)
		return;
	task = bpf_get_current_task_btf();
	now = clock_ns();
	ran = task->se.sum_exec_runtime - state->off_ran_ns;
	went = now - state->off_ns;
	if (state->off_clock_ns)
		went = task->se.exec_start - state->off_clock_ns;
	went = went > ran ? went - ran : 0;
	went = went < now - state->off_ns ? went : now - state->off_ns;
	if (state->off_clock_ns)
		state->clock_ns = state->off_clock_ns + went;
	state->since_ns = state->off_ns + went;
	state->ran_ns = state->off_ran_ns;
	get_processor(state, state->since_ns);
}

/* What was opened tells what the open has waited for: another file than a FIFO for its server, or for the holder of a lease. */
inlined void account_open(struct task_state *state, int64_t result)
{
	uint64_t file = result >= 0 ? file_at(bpf_get_current_task_btf(), result) : 0;

	if (file && (mode_of(file) & S_IFMT) != S_IFIFO) {
		state->waits_ns[WAIT_PIPE] -= state->opening_ns;
		state->waits_ns[WAIT_FILE] += state->opening_ns;
	}
	state->opening_ns = 0;
}

inlined void fill_waits(struct wire_figures *figures, const struct task_state *state)
{
	figures->life_ns = clock_ns() - state->born_ns;
	__builtin_memcpy(figures->waits_ns, state->waits_ns, sizeof(figures->waits_ns));
}

SEC("tp_btf/sched_wakeup")
int BPF_PROG(kernel_wakeup, struct task_struct *task)
{
	struct task_state *state = any_state_of(task);

	if (state)
		state->woken_ns = clock_ns();
	return 0;
}

#endif
