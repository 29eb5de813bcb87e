/* SPDX-License-Identifier: MIT */
#ifndef KERNEL_ATTACH_BPF_H
#define KERNEL_ATTACH_BPF_H

/*
 * Processes that run already: a thread is traced from its next system call on, if its process is one of those wanted.  So
 * nothing is sought, and a fork, which is a system call, is seen by the thread's own state.
 */

#include "samples.bpf.h"
#include "state.bpf.h"

#define CHOSEN_MOST 65536

uint32_t kernel_attach = ATTACH_NONE;
int32_t kernel_us = 0; /* the thread group that the programs belong to: it is not traced */

/* ATTACH_CHOOSING, ATTACH_CHOSEN: numbers of processes as our pid namespace has them, until they end. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, CHOSEN_MOST);
	__type(key, int32_t);
	__type(value, uint8_t);
} kernel_chosen SEC(".maps");

/* ATTACH_CGROUP: its only one, of the second hierarchy. */
struct {
	__uint(type, BPF_MAP_TYPE_CGROUP_ARRAY);
	__uint(max_entries, 1);
	__uint(key_size, sizeof(uint32_t));
	__uint(value_size, sizeof(uint32_t));
} kernel_cgroup SEC(".maps");

/* ---- the chosen ones ---- */

#define ANCESTORS_MOST 1024

struct ancestry {
	uint64_t task;
	uint64_t is_chosen;
};

static long ask_ancestor(uint32_t i, struct ancestry *ancestry)
{
	uint64_t leader = POINTER(task_struct, ancestry->task, group_leader);
	int32_t pid = id_of(leader);

	if (!pid)
		return 1;
	ancestry->is_chosen = bpf_map_lookup_elem(&kernel_chosen, &pid) ? 1 : 0;
	ancestry->task = POINTER(task_struct, leader, real_parent);
	return ancestry->is_chosen;
}

inlined bool is_choosing(void)
{
	return kernel_attach == ATTACH_CHOOSING || kernel_attach == ATTACH_CHOSEN;
}

/* A fork by a thread that is not traced yet: its process, or an ancestor that has not been found yet, may be chosen. */
__noinline int choose_child(uint64_t parent, uint64_t child)
{
	struct ancestry ancestry = { .task = parent, .is_chosen = kernel_none };
	int32_t pid = id_of(child);
	uint8_t one = 1;

	if (!is_choosing() || !pid || FIELD(task_struct, child, tgid) == FIELD(task_struct, parent, tgid))
		return 0;
	bpf_loop(ANCESTORS_MOST, ask_ancestor, &ancestry, 0);
	if (ancestry.is_chosen && bpf_map_update_elem(&kernel_chosen, &pid, &one, BPF_ANY) != 0)
		count_lost();
	return 0;
}

/* Its number may be given to a stranger. */
inlined void choose_no_more(struct task_struct *task)
{
	int32_t pid;

	if (!is_choosing() || FIELD(signal_struct, POINTER(task_struct, task, signal), live.counter) != 0)
		return;
	pid = id_of(POINTER(task_struct, task, group_leader));
	bpf_map_delete_elem(&kernel_chosen, &pid);
}

/* ---- a thread ---- */

inlined bool is_wanted(int32_t pid)
{
	if (kernel_attach == ATTACH_CHOSEN)
		return bpf_map_lookup_elem(&kernel_chosen, &pid);
	if (kernel_attach == ATTACH_CGROUP)
		return bpf_current_task_under_cgroup(&kernel_cgroup, 0) == 1;
	return kernel_attach == ATTACH_ALL;
}

inlined void send_thread(const struct task_state *state)
{
	struct wire_fork *record = reserve(wire_fork);

	if (!record)
		return;
	head_now(&record->head, WIRE_FORK, state->tid);
	record->pid = record->parent = state->pid;
	send_reserved(record);
}

/* The first thread of a process has the process described. */
__noinline int attach_current(void)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct living living = { .signal = POINTER(task_struct, task, signal), .start_ns = clock_ns() };
	int32_t pid = id_of(POINTER(task_struct, task, group_leader)), tid;
	struct task_state *state;

	if (!pid || task->tgid == kernel_us || !is_wanted(pid) || any_state_of(task))
		return 0;
	tid = id_of(number(task));
	if (!tid)
		return 0;
	state = bpf_task_storage_get(&kernel_tasks, task, NULL, BPF_LOCAL_STORAGE_GET_F_CREATE);
	if (!state)
		return 0;
	state->pid = pid;
	state->tid = tid;
	state->born_ns = clock_ns();
	if (bpf_map_update_elem(&kernel_living, &pid, &living, BPF_NOEXIST) == 0)
		send_image(state, 0);
	if (tid != pid)
		send_thread(state);
	return 1;
}

#endif
