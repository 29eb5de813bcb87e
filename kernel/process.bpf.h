/* SPDX-License-Identifier: MIT */
#ifndef KERNEL_PROCESS_BPF_H
#define KERNEL_PROCESS_BPF_H

/* Processes: forks, execs, ends, and what they have used.  A child of a traced thread is traced from its fork on. */

#include "attach.bpf.h"
#include "samples.bpf.h"
#include "state.bpf.h"
#include "waits.bpf.h"

#define SIGNAL_GROUP_EXIT 4
#define TASK_DEAD 0x80

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, uint32_t);
	__type(value, struct wire_text);
} kernel_text SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, uint32_t);
	__type(value, struct wire_exec);
} kernel_exec SEC(".maps");

/* Runs once, in our own process: the level of our pid namespace. */
SEC("raw_tp/sys_enter")
int kernel_look_at_us(void *context)
{
	uint64_t pid = POINTER(task_struct, bpf_get_current_task(), thread_pid);

	kernel_pid_level = FIELD(pid, pid, level);
	kernel_us = FIELD(task_struct, bpf_get_current_task(), tgid);
	return 0;
}

/* ---- what was used ---- */

/* The kernel adds up the CPU time when it switches; what came since then is added here. */
inlined uint64_t run_time(uint64_t task, const struct task_state *state)
{
	uint64_t counted = FIELD(task_struct, task, se.sum_exec_runtime);
	uint64_t since = state->since_ns ? state->ran_ns + (clock_ns() - state->since_ns) : 0;

	return since > counted ? since : counted;
}

inlined void fill_memory(struct wire_figures *figures, uint64_t task)
{
	uint64_t mm = POINTER(task_struct, task, mm);
	uint64_t signal = POINTER(task_struct, task, signal);
	uint64_t high, now;

	figures->maxrss_pages = FIELD(signal_struct, signal, maxrss);
	if (!mm) /* has been left already */
		mm = POINTER(task_struct, task, active_mm);
	if (!mm)
		return;
	high = FIELD(mm_struct, mm, hiwater_vm);
	now = FIELD(mm_struct, mm, total_vm);
	figures->peak_vm_pages = high > now ? high : now;
}

inlined void fill_figures(struct wire_figures *figures, uint64_t task, const struct task_state *state)
{
	figures->run_ns = run_time(task, state);
	figures->utime_ns = FIELD(task_struct, task, utime);
	figures->stime_ns = FIELD(task_struct, task, stime);
	figures->read_char = FIELD(task_struct, task, ioac.rchar);
	figures->write_char = FIELD(task_struct, task, ioac.wchar);
	figures->read_bytes = FIELD(task_struct, task, ioac.read_bytes);
	figures->write_bytes = FIELD(task_struct, task, ioac.write_bytes);
	figures->minflt = FIELD(task_struct, task, min_flt);
	figures->majflt = FIELD(task_struct, task, maj_flt);
	figures->nvcsw = FIELD(task_struct, task, nvcsw);
	figures->nivcsw = FIELD(task_struct, task, nivcsw);
	figures->peak_vm_pages = 0;
	fill_waits(figures, state);
	fill_memory(figures, task);
}

/* ---- fork ---- */

SEC("tp_btf/sched_process_fork")
int BPF_PROG(kernel_fork, struct task_struct *parent, struct task_struct *child)
{
	struct task_state *state = state_of(parent), *new;
	struct wire_fork *record;

	if (!state)
		return choose_child(number(parent), number(child));
	new = bpf_task_storage_get(&kernel_tasks, child, NULL, BPF_LOCAL_STORAGE_GET_F_CREATE);
	if (new) {
		begin_life(new, false);
		if (state->since_ns)
			new->off_clock_ns = state->clock_ns + (new->born_ns - state->since_ns);
		new->tid = id_of(number(child));
		new->pid = child->tgid == parent->tgid ? state->pid : new->tid;
		if (child->tgid != parent->tgid)
			sample_from_now(new->pid, child);
	}
	record = reserve(wire_fork);
	if (!record)
		return 0;
	head_now(&record->head, WIRE_FORK, new ? new->tid : 0);
	record->head.flags = POINTER(task_struct, child, mm) == POINTER(task_struct, parent, mm) ? WIRE_SHARES : 0;
	record->pid = new ? new->pid : 0;
	record->parent = state->pid;
	send_reserved(record);
	return 0;
}

/* ---- exec ---- */

struct pieces {
	uint64_t from;
	uint32_t len;
	int32_t tid;
	uint32_t part;
};

static long send_piece(uint32_t i, struct pieces *pieces)
{
	uint32_t zero = 0, offset = i * WIRE_TEXT_MOST;
	struct wire_text *record = bpf_map_lookup_elem(&kernel_text, &zero);
	uint64_t len;

	if (!record || offset >= pieces->len)
		return 1;
	len = at_most(pieces->len - offset, WIRE_TEXT_MOST);
	head_now(&record->head, WIRE_TEXT, pieces->tid);
	record->head.call = pieces->part;
	record->offset = offset;
	record->len = len;
	if (bpf_probe_read_user(record->text, len, (const void *)(pieces->from + offset)) != 0)
		return 0;
	send_copy(record, offsetof(struct wire_text, text) + len);
	return 0;
}

inlined uint32_t send_text(int32_t tid, enum wire_text_part part, uint64_t from, uint64_t end, uint32_t most)
{
	struct pieces pieces = { .from = from, .tid = tid, .part = part };

	if (end < from)
		return 0;
	pieces.len = at_most(end - from, most);
	bpf_loop((pieces.len + WIRE_TEXT_MOST - 1) / WIRE_TEXT_MOST, send_piece, &pieces, 0);
	return pieces.len;
}

inlined void send_texts(struct wire_exec *record, int32_t tid, uint64_t mm)
{
	record->argv_len = send_text(tid, WIRE_ARGV, FIELD(mm_struct, mm, arg_start), FIELD(mm_struct, mm, arg_end),
		WIRE_ARGV_MOST);
	record->environ_len = send_text(tid, WIRE_ENVIRON, FIELD(mm_struct, mm, env_start), FIELD(mm_struct, mm, env_end),
		WIRE_ENVIRON_MOST);
}

struct found_file {
	uint64_t file;
};

static long look_at_code(struct task_struct *task, struct vm_area_struct *area, struct found_file *found)
{
	found->file = POINTER(vm_area_struct, area, vm_file);
	return 0;
}

/* The file whose code the process begins with: ld.so, or the program itself. */
inlined uint64_t first_code(struct task_struct *task)
{
	struct pt_regs *regs = (struct pt_regs *)bpf_task_pt_regs(task);
	struct found_file found = { 0 };

	bpf_find_vma(task, code_address(regs), look_at_code, &found, 0);
	return found.file;
}

/* A script: the path that was executed is not that of the program. */
inlined void fill_script(struct wire_exec *record, struct linux_binprm *program, struct task_struct *task)
{
	uint64_t script = POINTER(linux_binprm, program, filename);
	long n;

	record->script_base = 0;
	record->len = 0;
	if (script == POINTER(linux_binprm, program, interp))
		return;
	n = bpf_probe_read_kernel_str(record->text, 4096, (const void *)script);
	if (n <= 1 || n > 4096)
		return;
	record->len = n;
	record->script_base = record->text[0] == '/' ? name_of_root(task) : name_of_pwd(task);
}

inlined uint64_t parent_group(uint64_t node)
{
	if (bpf_core_field_exists(struct kernfs_node, __parent))
		return POINTER(kernfs_node, node, __parent);
	return POINTER(kernfs_node___old, node, parent);
}

/* How many groups there are above; WIRE_CGROUPS: that many, or more. */
__noinline uint32_t depth_of_group(uint64_t node)
{
	uint32_t depth = 0;

	for (uint32_t i = 0; node && i < WIRE_CGROUPS; i++) {
		node = parent_group(node);
		depth += node != 0;
	}
	return depth;
}

/* The group of the second hierarchy, or, if that is its root, the deepest one that a controller of the first has. */
__noinline uint64_t group_of(uint64_t groups)
{
	uint64_t node = POINTER(cgroup, POINTER(css_set, groups, dfl_cgrp), kn), found, state;
	uint32_t n = bpf_core_field_size(struct css_set, subsys) / sizeof(uint64_t), deepest = 0, depth;

	if (parent_group(node))
		return node;
	for (uint32_t i = 0; i < 16 && i < n; i++) {
		state = 0;
		bpf_probe_read_kernel(&state, sizeof(state),
			(const void *)(groups + bpf_core_field_offset(struct css_set, subsys) + i * sizeof(state)));
		found = state ? POINTER(cgroup, POINTER(cgroup_subsys_state, state, cgroup), kn) : 0;
		depth = depth_of_group(found);
		if (depth <= deepest)
			continue;
		deepest = depth;
		node = found;
	}
	return node;
}

inlined void fill_cgroups(struct wire_exec *record, struct task_struct *task)
{
	uint64_t node = group_of(POINTER(task_struct, task, cgroups)), parent;

	record->n_cgroups = 0;
	for (uint32_t i = 0; i < WIRE_CGROUPS; i++) {
		parent = parent_group(node);
		if (!parent) {
			record->n_cgroups = i;
			return;
		}
		if (bpf_probe_read_kernel_str(record->cgroups[i], WIRE_CGROUP_NAME,
			    (const void *)POINTER(kernfs_node, node, name)) >= WIRE_CGROUP_NAME)
			return;
		node = parent;
	}
}

inlined void fill_names(struct wire_exec *record, struct task_struct *task, uint64_t file)
{
	uint64_t code = first_code(task);

	record->exe = name_of_file(file);
	record->loader = code && code != file ? name_of_file(code) : 0;
	record->cwd = name_of_pwd(task);
	for (int i = 0; i < 3; i++)
		record->standard[i] = name_of_file(file_at(task, i));
}

/* Setuid, setgid, or capabilities of the file: what the program does next is not the user's. */
inlined void spare(struct task_state *state, struct linux_binprm *program)
{
	if (!kernel_spares_others || !BPF_CORE_READ_BITFIELD(program, secureexec))
		return;
	state->is_spared = true;
	sample_no_more(state->pid);
	count_spared();
}

inlined void fill_start(struct wire_exec *record, struct task_struct *task)
{
	uint64_t leader = POINTER(task_struct, task, group_leader);

	record->parent = id_of(POINTER(task_struct, POINTER(task_struct, task, real_parent), group_leader));
	record->start_ns = FIELD(task_struct, leader, start_time) + kernel_clock_offset;
	record->loaded = record->handles = record->script_base = record->len = 0;
}

inlined void fill_program(struct wire_exec *record, struct linux_binprm *program, struct task_struct *task,
	const struct task_state *state)
{
	fill_script(record, program, task);
	fill_figures(&record->before, number(task), state);
	record->loaded = state->position < 0 ? 0 : record->before.read_char - (uint64_t)state->position;
	record->handles = __sync_fetch_and_add(&kernel_next_id, 3);
}

__noinline int send_image(struct task_state *state, uint64_t program)
{
	struct task_struct *task = bpf_get_current_task_btf();
	uint64_t mm = POINTER(task_struct, task, mm), cred = POINTER(task_struct, task, cred);
	uint32_t zero = 0;
	struct wire_exec *record = bpf_map_lookup_elem(&kernel_exec, &zero);

	if (!state || !record)
		return 0;
	record->old_tid = state->tid;
	state->tid = program ? state->pid : state->tid; /* a thread that executes a program becomes the first thread */
	send_texts(record, state->pid, mm);
	fill_names(record, task, program ? POINTER(linux_binprm, program, file) : POINTER(mm_struct, mm, exe_file));
	if (program)
		fill_program(record, (struct linux_binprm *)program, task, state);
	else
		fill_start(record, task);
	fill_cgroups(record, task);
	record->uid = FIELD(cred, cred, euid.val);
	record->gid = FIELD(cred, cred, egid.val);
	record->pid = state->pid;
	bpf_probe_read_kernel(record->comm, sizeof(record->comm), task->comm);
	head_now(&record->head, WIRE_EXEC, state->pid);
	record->head.flags = program ? 0 : WIRE_ATTACHED;
	send_copy(record, offsetof(struct wire_exec, text) + at_most(record->len, 4096));
	return 0;
}

SEC("tp_btf/sched_process_exec")
int BPF_PROG(kernel_executed, struct task_struct *task, int old_pid, struct linux_binprm *program)
{
	struct task_state *state = state_of(task);

	if (!state)
		return 0;
	if (row_of(state)->class != CLASS_EXEC) /* its beginning was not seen */
		state->position = -1;
	state->call = CALL_none;
	if (!state->born_ns) /* the command itself */
		begin_life(state, true);
	sample_from_now(state->pid, task); /* the command itself, of which there was no fork */
	send_image(state, number(program));
	spare(state, program);
	return 0;
}

/* ---- end ---- */

inlined int status_of_process(struct task_struct *task, uint64_t signal)
{
	return FIELD(signal_struct, signal, flags) & SIGNAL_GROUP_EXIT ? FIELD(signal_struct, signal, group_exit_code) :
		FIELD(task_struct, POINTER(task_struct, task, group_leader), exit_code);
}

inlined void send_exit(enum wire_type type, struct task_struct *task, struct task_state *state)
{
	uint64_t signal = POINTER(task_struct, task, signal);
	struct wire_exit *record = reserve(wire_exit);

	if (!record)
		return;
	head_now(&record->head, type, state->tid);
	record->pid = state->pid;
	record->status = task->exit_code;
	record->process_status = status_of_process(task, signal);
	record->last = FIELD(signal_struct, signal, live.counter) == 0;
	fill_figures(&record->figures, number(task), state);
	send_reserved(record);
}

SEC("tp_btf/sched_process_exit")
int BPF_PROG(kernel_exit, struct task_struct *task)
{
	struct task_state *state = any_state_of(task);

	choose_no_more(task);
	if (!state)
		return 0;
	state->call = CALL_none;
	if (FIELD(signal_struct, POINTER(task_struct, task, signal), live.counter) == 0)
		sample_no_more(state->pid);
	if (FIELD(files_struct, POINTER(task_struct, task, files), count.counter) == 1)
		walk_descriptors(WALK_EXIT, 0, UINT32_MAX, state->tid, 0);
	send_exit(WIRE_EXIT, task, state);
	return 0;
}

/* A thread that has ended runs on until all that it had is freed; this is its last switch. */
inlined void switch_for_ever(struct task_struct *task)
{
	struct task_state *state = any_state_of(task);

	if (!state)
		return;
	state->since_ns = 0; /* its time has been added up */
	send_exit(WIRE_DEAD, task, state);
}

SEC("tp_btf/sched_switch")
int BPF_PROG(kernel_switch, bool preempt, struct task_struct *former, struct task_struct *next, unsigned int former_state)
{
	struct task_state *state = any_state_of(former);

	if (former->__state == TASK_DEAD)
		switch_for_ever(former);
	else if (state)
		leave_processor(state, former, preempt, former_state);
	state = any_state_of(next);
	if (!state)
		return 0;
	state->since_ns = clock_ns();
	state->ran_ns = next->se.sum_exec_runtime;
	state->clock_ns = next->se.exec_start;
	get_processor(state, state->since_ns);
	return 0;
}

#endif
