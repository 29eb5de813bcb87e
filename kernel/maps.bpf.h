/* SPDX-License-Identifier: MIT */
#ifndef KERNEL_MAPS_BPF_H
#define KERNEL_MAPS_BPF_H

/*
 * Calls about memory that name a range of addresses: which file is mapped there, and which files have no mapping and no
 * descriptor behind the call.  A call is that of the first file in its range; of what is no file it is not recorded.
 */

#include "call.bpf.h"

#define VM_MAYSHARE 0x80 /* also of a file that is not open for writing */
#define PAGE 4096
#define MAP_SHARED 1
#define MAP_PRIVATE 2
#define MAP_FIXED 0x10
#define MAP_ANONYMOUS 0x20
#define RANGE_STEPS 256 /* mappings and pages without one that are looked at */

struct mapping {
	uint64_t file;
	uint64_t start, end;
	uint64_t page; /* of the file, at the start */
	uint64_t flags;
};

struct range {
	uint64_t start, end;
	uint64_t at; /* looked at so far */
	struct mapping first; /* that of a file */
	uint64_t ends;	      /* the call ends these mappings, as this walk */
	uint64_t former;      /* the file of the mapping before */
	bool is_unmap;	      /* the end of the first file is that of the call */
	bool is_last;	      /* and it does end */
	int32_t tid;
};

static long look_at_mapping(struct task_struct *task, struct vm_area_struct *area, struct mapping *mapping)
{
	mapping->file = number(area->vm_file);
	mapping->start = area->vm_start;
	mapping->end = area->vm_end;
	mapping->page = area->vm_pgoff;
	mapping->flags = area->vm_flags;
	return 0;
}

/* Memory that processes share (MAP_SHARED | MAP_ANONYMOUS) has a file inside the kernel: without a path, of this name. */
inlined bool is_anonymous(uint64_t file)
{
	const union {
		char text[8];
		uint64_t value;
	} wanted = { .text = "dev/zero" };
	uint64_t dentry = POINTER(file, file, f_path.dentry), name = 0;

	if (POINTER(dentry, dentry, d_parent) != dentry || FIELD(dentry, dentry, d_name.len) != sizeof(name))
		return false;
	bpf_probe_read_kernel(&name, sizeof(name), (const void *)POINTER(dentry, dentry, d_name.name));
	return name == wanted.value;
}

/* The mappings of a file that were met are all that holds it. */
inlined void end_former_mapping(struct range *range)
{
	uint64_t file = range->former;
	bool is_first = range->is_unmap && file == range->first.file;

	range->former = 0;
	if (file && end_mapped(file, range->ends, range->tid, !is_first) && is_first)
		range->is_last = true;
}

inlined void take_mapping(struct range *range, const struct mapping *mapping)
{
	if (range->former != mapping->file)
		end_former_mapping(range);
	if (!mapping->file || is_anonymous(mapping->file))
		return;
	if (!range->first.file)
		range->first = *mapping;
	if (!range->ends || mapping->start < range->start || mapping->end > range->end)
		return;
	count_mapping(mapping->file, range->ends);
	range->former = mapping->file;
}

static long step_range(uint32_t i, struct range *range)
{
	struct mapping mapping = { 0 };

	if (range->at >= range->end)
		return 1;
	if (bpf_find_vma(bpf_get_current_task_btf(), range->at, look_at_mapping, &mapping, 0) != 0) {
		range->at += PAGE;
		return 0;
	}
	take_mapping(range, &mapping);
	range->at = mapping.end;
	return !range->ends && range->first.file;
}

/* ends: the mappings that lie in the range as a whole end. */
inlined void look_at_range(struct range *range, uint64_t start, uint64_t length, int32_t tid, bool ends)
{
	range->start = range->at = start;
	range->end = start + (length + PAGE - 1) / PAGE * PAGE;
	range->tid = tid;
	range->ends = ends ? next_id() : 0;
	range->former = kernel_none;
	bpf_loop(RANGE_STEPS, step_range, range, 0);
	if (ends)
		end_former_mapping(range);
}

inlined void take_first(struct task_state *state, const struct range *range)
{
	const struct mapping *first = &range->first;
	uint64_t into = range->start > first->start ? range->start - first->start : 0;

	take_file(state, first->file);
	state->position = first->page * PAGE + into;
	if (state->call == CALL_mprotect)
		state->args[7] = arg(state, 3) | MAP_SHARED << 8;
}

/* Of what happens to private copies the file has no part. */
inlined bool is_of_file(const struct task_state *state, const struct range *range)
{
	return range->first.file && (state->call != CALL_mprotect || range->first.flags & VM_MAYSHARE);
}

__noinline int enter_range(struct task_state *state)
{
	struct range range = { 0 };

	if (!state)
		return 0;
	look_at_range(&range, arg(state, 1), arg(state, 2), state->tid, false);
	if (!is_of_file(state, &range)) {
		state->call = CALL_none;
		return 0;
	}
	take_first(state, &range);
	if (state->call != CALL_munmap)
		return 0;
	range.is_unmap = true;
	look_at_range(&range, arg(state, 1), arg(state, 2), state->tid, true);
	if (range.is_last)
		state->flags |= WIRE_LAST;
	return 0;
}

/* A mapping may take the place of others. */
__noinline int enter_map(struct task_state *state)
{
	struct range range = { 0 };

	if (!state)
		return 0;
	state->args[7] = arg(state, 3) | arg(state, 4) << 8;
	if (!(arg(state, 4) & MAP_FIXED))
		return 0;
	look_at_range(&range, arg(state, 1), arg(state, 2), state->tid, true);
	return 0;
}

#endif
