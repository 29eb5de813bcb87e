/* SPDX-License-Identifier: MIT */
#ifndef KERNEL_FILES_BPF_H
#define KERNEL_FILES_BPF_H

/* Open file descriptions: their handles, and when these end. */

#include "mount.bpf.h"
#include "sockets.bpf.h"
#include "tree.bpf.h"

__noinline int64_t file_references(uint64_t file)
{
	if (bpf_core_field_exists(struct file, f_ref))
		return FIELD(file, file, f_ref.refcnt.counter) + 1;
	return FIELD(file___old, file, f_count.counter);
}

inlined void send_handle(enum wire_type type, int32_t tid, uint64_t handle, uint64_t name, uint64_t file)
{
	struct wire_handle *record = reserve(wire_handle);

	if (!record)
		return;
	head_now(&record->head, type, tid);
	record->handle = handle;
	record->name = name;
	record->open_flags = file ? FIELD(file, file, f_flags) : 0;
	record->file_mode = file ? FIELD(file, file, f_mode) : 0;
	send_reserved(record);
}

/* The entry of a file that is open. */
inlined struct open_file *known_file(uint64_t file)
{
	struct open_file *known = bpf_map_lookup_elem(&kernel_files, &file);

	return known && known->handle ? known : NULL;
}

/*
 * If the address has a handle already, no end was seen: the last descriptor was closed by a process that is not traced, or
 * in a moment when another thread used it.
 */
__noinline uint64_t handle_make(uint64_t file)
{
	struct open_file *known = bpf_map_lookup_elem(&kernel_files, &file);
	struct open_file new = { .inode = POINTER(file, file, f_inode), .handle = next_id() };

	if (known && known->handle)
		send_handle(WIRE_RELEASE, 0, known->handle, 0, 0);
	else if (known)
		__sync_fetch_and_add(&kernel_ended, -1);
	if (known)
		*known = new;
	else
		bpf_map_update_elem(&kernel_files, &file, &new, BPF_ANY);
	__sync_fetch_and_add(epoch_of(file), 1);
	return new.handle;
}

inlined void end(uint64_t file, struct open_file *known)
{
	if (kernel_ended < ENDED_MOST) {
		known->handle = 0;
		__sync_fetch_and_add(&kernel_ended, 1);
	} else {
		bpf_map_delete_elem(&kernel_files, &file);
	}
}

inlined uint64_t make_and_report(uint64_t file, int32_t tid)
{
	uint64_t name = name_of_file(file), handle = handle_make(file);

	send_handle(WIRE_HANDLE, tid, handle, name, file);
	if (is_socket(file))
		send_socket(file, handle, 0, 0, CALL_none);
	return handle;
}

__noinline uint64_t handle_report(uint64_t file, int32_t tid)
{
	return make_and_report(file, tid);
}

__noinline uint64_t handle_of(uint64_t file, uint64_t inode, int32_t tid)
{
	struct open_file *known = known_file(file);

	if (known && known->inode == inode)
		return known->handle;
	return make_and_report(file, tid);
}

__noinline int handle_last(uint64_t file)
{
	struct open_file *known;

	if (!file || file_references(file) > 1)
		return 0;
	known = known_file(file);
	if (known)
		end(file, known);
	return 1;
}

/* ---- mappings that a call ends ---- */

/* More references that this walk has met. */
inlined void count_for(struct open_file *known, uint64_t walk, uint32_t n)
{
	if (known->walk != walk) {
		known->walk = walk;
		known->seen = 0;
	}
	known->seen += n;
}

__noinline int count_mapping(uint64_t file, uint64_t walk)
{
	struct open_file *known = known_file(file);

	if (known)
		count_for(known, walk, 1);
	return 0;
}

__noinline int end_mapped(uint64_t file, uint64_t walk, int32_t tid, uint32_t is_reported)
{
	struct open_file *known = known_file(file);

	if (!known || known->walk != walk || known->seen < (uint64_t)file_references(file))
		return 0;
	if (is_reported)
		send_handle(WIRE_RELEASE, tid, known->handle, 0, 0);
	end(file, known);
	return 1;
}

/* ---- walks over descriptors ---- */

struct descriptors {
	uint64_t files; /* array of pointers */
	uint64_t bits, mask_bits; /* bitmaps: open ones; of these only; 0: all */
	uint64_t id;
	uint32_t what;
	uint32_t first, last;
	int32_t tid;
	uint32_t call;
	uint32_t base; /* the first descriptor of the word */
	uint64_t word;
	uint64_t mapped;   /* the file of the last mapping, */
	uint32_t mappings; /* and how many of it came one after the other */
	uint64_t root;	   /* of the tree of mappings */
	uint64_t address;  /* the mappings before were met; */
	int32_t areas;	   /* so many */
	struct leaf leaf;
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, uint32_t);
	__type(value, struct descriptors);
} kernel_descriptors SEC(".maps");

inlined struct descriptors *descriptors_of_processor(void)
{
	uint32_t zero = 0;

	return bpf_map_lookup_elem(&kernel_descriptors, &zero);
}

inlined void send_close(struct descriptors *walk, uint64_t handle, bool last)
{
	struct wire_call *record = reserve(wire_call);

	if (!record)
		return;
	*record = (struct wire_call){ .handle = handle };
	head_now(&record->head, WIRE_CALL, walk->tid);
	record->head.call = walk->call;
	record->head.flags = last ? WIRE_LAST : 0;
	send_reserved(record);
}

inlined void close_in_mount(struct descriptors *walk, uint64_t file)
{
	uint64_t handle = handle_in_mount(file);

	if (handle)
		send_close(walk, handle, false);
}

/* If the walk has found all references to the file, it ends with them. */
inlined void end_if_unused(struct descriptors *walk, uint64_t file, struct open_file *known)
{
	bool last;

	if (known->walk != walk->id)
		return;
	last = known->seen >= (uint64_t)file_references(file);
	if (walk->what == WALK_CLOSE)
		send_close(walk, known->handle, last);
	else if (last)
		send_handle(walk->what == WALK_EXEC ? WIRE_EXPIRE : WIRE_RELEASE, walk->tid, known->handle, 0, 0);
	if (last && walk->what != WALK_EXEC)
		end(file, known);
}

/* n: how often it was met. */
inlined void walk_file(struct descriptors *walk, uint64_t file, uint32_t n)
{
	uint64_t inode = POINTER(file, file, f_inode);
	struct open_file *known;

	if (walk->what == WALK_CLOSE)
		handle_of(file, inode, walk->tid);
	known = known_file(file);
	if (!known)
		return;
	if (known->inode == inode)
		count_for(known, walk->id, n);
	end_if_unused(walk, file, known);
}

inlined uint32_t lowest_bit(uint64_t word)
{
	uint32_t n = 0;

	if (!(word & 0xffffffff))
		n += 32, word >>= 32;
	if (!(word & 0xffff))
		n += 16, word >>= 16;
	if (!(word & 0xff))
		n += 8, word >>= 8;
	if (!(word & 0xf))
		n += 4, word >>= 4;
	if (!(word & 3))
		n += 2, word >>= 2;
	return n + !(word & 1);
}

static long walk_bit(uint32_t i, void *context)
{
	struct descriptors *walk = descriptors_of_processor();
	uint64_t file;
	uint32_t fd;

	if (!walk || !walk->word)
		return 1;
	fd = walk->base + lowest_bit(walk->word);
	walk->word &= walk->word - 1;
	if (fd < walk->first || fd > walk->last)
		return 0;
	file = word_at(walk->files, fd);
	if (!file)
		return 0;
	if (kernel_is_of_mount)
		close_in_mount(walk, file);
	else
		walk_file(walk, file, 1);
	return 0;
}

static long walk_word(uint32_t i, void *context)
{
	struct descriptors *walk = descriptors_of_processor();

	if (!walk)
		return 1;
	walk->base = i * 64;
	if (walk->base > walk->last)
		return 1;
	if (walk->base + 63 < walk->first)
		return 0;
	walk->word = word_at(walk->bits, i);
	if (walk->mask_bits)
		walk->word &= word_at(walk->mask_bits, i);
	if (walk->word)
		bpf_loop(64, walk_bit, NULL, 0);
	return 0;
}

inlined void begin_mappings(struct descriptors *walk)
{
	walk->mapped = 0;
	walk->mappings = 0;
}

/* Each file is examined when all mappings of it that follow each other were met. */
inlined void take_area(struct descriptors *walk, uint64_t file)
{
	uint64_t former = walk->mapped;

	if (former && former != file)
		walk_file(walk, former, walk->mappings);
	if (former != file)
		walk->mappings = 0;
	walk->mapped = file;
	walk->mappings++;
}

inlined void end_mappings(struct descriptors *walk)
{
	if (walk->mapped)
		walk_file(walk, walk->mapped, walk->mappings);
}

static long walk_slot(uint32_t i, void *context)
{
	struct descriptors *walk = descriptors_of_processor();
	uint64_t area;

	if (!walk || i > walk->leaf.last_slot)
		return 1;
	area = word_at(walk->leaf.slots, i);
	if (!area || area & 3) /* the tree's own */
		return 0;
	walk->areas++;
	take_area(walk, POINTER(vm_area_struct, area, vm_file));
	return 0;
}

static long walk_leaf(uint32_t i, void *context)
{
	struct descriptors *walk = descriptors_of_processor();

	if (!walk || !find_leaf(walk->root, walk->address, &walk->leaf))
		return 1;
	bpf_loop(LEAF_SLOTS, walk_slot, NULL, 0);
	walk->address = walk->leaf.last_address + 1;
	return !walk->address;
}

#define LEAVES_MOST 65536
bool kernel_is_strange_tree; /* another number of mappings was found than there are */

/* Whether that were all mappings. */
inlined bool walk_tree(struct descriptors *walk, uint64_t mm)
{
	walk->root = POINTER(mm_struct, mm, mm_mt.ma_root);
	walk->address = 0;
	walk->areas = 0;
	begin_mappings(walk);
	bpf_loop(LEAVES_MOST, walk_leaf, NULL, 0);
	end_mappings(walk);
	return walk->areas == FIELD(mm_struct, mm, map_count);
}

/* The iterator may hold the file of the mapping that it is at. */
inlined void iterate(struct descriptors *walk, struct task_struct *task)
{
	struct bpf_iter_task_vma iterator;
	struct vm_area_struct *area;

	begin_mappings(walk);
	bpf_iter_task_vma_new(&iterator, task, 0);
	while ((area = bpf_iter_task_vma_next(&iterator)))
		take_area(walk, POINTER(vm_area_struct, area, vm_file));
	bpf_iter_task_vma_destroy(&iterator);
	end_mappings(walk);
}

/* A mapping holds its file as a descriptor does.  Memory that another process uses, too, does not end. */
inlined void walk_mappings(struct descriptors *walk)
{
	struct task_struct *task = bpf_get_current_task_btf();
	uint64_t mm = POINTER(task_struct, task, mm);
	int users = mm ? FIELD(mm_struct, mm, mm_users.counter) : 0;

	if (!users || users > FIELD(signal_struct, POINTER(task_struct, task, signal), nr_threads))
		return;
	if (has_tree() && users == 1 && !kernel_is_strange_tree) {
		if (walk_tree(walk, mm))
			return;
		kernel_is_strange_tree = true;
		walk->id = next_id(); /* what was counted may be wrong */
	}
	if (kernel_has_mappings)
		iterate(walk, task);
}

inlined uint32_t fill_walk(struct descriptors *walk, bool at_exec)
{
	uint64_t task = bpf_get_current_task();
	uint64_t files = POINTER(task_struct, task, files);
	uint64_t table = files ? POINTER(files_struct, files, fdt) : 0;

	if (!table)
		return 0;
	walk->files = POINTER(fdtable, table, fd);
	walk->bits = POINTER(fdtable, table, open_fds);
	walk->mask_bits = at_exec ? POINTER(fdtable, table, close_on_exec) : 0;
	return FIELD(fdtable, table, max_fds) / 64;
}

__noinline int walk_descriptors(uint32_t what, uint32_t first, uint32_t last, int32_t tid, uint32_t call)
{
	struct descriptors *walk = descriptors_of_processor();
	uint32_t words;

	if (!walk)
		return 0;
	words = fill_walk(walk, what == WALK_EXEC);
	walk->id = next_id();
	walk->what = what;
	walk->first = first;
	walk->last = last;
	walk->tid = tid;
	walk->call = call;
	bpf_loop(words, walk_word, NULL, 0);
	if (!kernel_is_of_mount && what != WALK_CLOSE)
		walk_mappings(walk);
	return 0;
}

#endif
