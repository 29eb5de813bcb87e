/* SPDX-License-Identifier: MIT */
#ifndef KERNEL_DEVICES_BPF_H
#define KERNEL_DEVICES_BPF_H

/*
 * What block devices read and write of files, summed up for each file and process.  A request to a device (struct bio) has pages:
 * those of the page cache tell the file, those of a program belong to the call with O_DIRECT that the thread is inside of.  A
 * thread of the kernel asks for no process: it writes back, or reads for all.
 *
 * A request that a device passes on to another one (device mapper, loop) counts once, at the device of the file system.  What
 * is not of a regular file, as the metadata of a file system, does not count.
 *
 * Requests end in interrupts, so nothing here uses the ring buffer, whose counters are for the threads that send.
 */

#include "call.bpf.h"
#include "names.bpf.h"

#define REQUEST_MASK 0xff
#define REQUEST_READ 0
#define REQUEST_WRITE 1
#define BIO_IS_CLONE 2 /* of bi_flags */
#define MAPPING_FLAGS 3
#define S_IFREG 0100000
#define OF_KERNEL 0x00200000 /* PF_KTHREAD */
#if defined(__TARGET_ARCH_arm64)
#define DIRECT 0200000 /* O_DIRECT */
#else
#define DIRECT 040000
#endif

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 1 << 20);
	__type(key, struct wire_device);
	__type(value, struct wire_device_io);
} kernel_devices SEC(".maps");

struct device_request {
	struct wire_device of;
	uint64_t since_ns;
};

/* Requests that have not ended, by the address of the bio. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 1 << 16);
	__type(key, uint64_t);
	__type(value, struct device_request);
} kernel_bios SEC(".maps");

/* ---- the file ---- */

/* The inode whose cache has the first page; 0: the page is a program's, or of the kernel. */
inlined uint64_t inode_of_page(uint64_t bio)
{
	uint64_t pages = POINTER(bio, bio, bi_io_vec), page, head, mapping;

	if (!pages)
		return 0;
	page = POINTER(bio_vec, pages + FIELD(bio, bio, bi_iter.bi_idx) * (uint64_t)bpf_core_type_size(struct bio_vec), bv_page);
	head = page ? number((const void *)FIELD(page, page, compound_head)) : 0; /* in a union with a pointer */
	mapping = page ? POINTER(folio, head & 1 ? head - 1 : page, mapping) : 0;
	return mapping && !(mapping & MAPPING_FLAGS) ? POINTER(address_space, mapping, host) : 0;
}

inlined uint64_t inode_of_call(const struct task_state *state)
{
	uint64_t file = state && state->call != CALL_none && row_of(state)->class == CLASS_DATA ? state->file : 0;

	return file && FIELD(file, file, f_flags) & DIRECT ? POINTER(file, file, f_inode) : 0;
}

/* File systems that have devices of their own, as btrfs, show a device number without a device. */
inlined bool is_of_device(uint64_t bio, uint32_t dev)
{
	if (dev >> 20 == 0)
		return !(FIELD(bio, bio, bi_flags) & BIO_IS_CLONE);
	return FIELD(block_device, POINTER(bio, bio, bi_bdev), bd_dev) == dev;
}

inlined bool is_regular(uint64_t inode)
{
	return (FIELD(inode, inode, i_mode) & S_IFMT) == S_IFREG;
}

/* The memory of a program may be a mapping of another file. */
inlined uint64_t inode_of(uint64_t bio, const struct task_state *state)
{
	uint64_t cached = inode_of_page(bio), direct = inode_of_call(state);

	return direct && (!cached || is_regular(cached)) ? direct : cached;
}

inlined bool identify(uint64_t bio, const struct task_state *state, struct wire_device *ret_of)
{
	uint64_t inode = inode_of(bio, state), super = inode ? POINTER(inode, inode, i_sb) : 0;

	if (!super || !is_regular(inode) || !is_of_device(bio, FIELD(super_block, super, s_dev)))
		return false;
	ret_of->dev = device_of(inode, super);
	ret_of->ino = FIELD(inode, inode, i_ino);
	ret_of->generation = FIELD(inode, inode, i_generation);
	return true;
}

/* ---- sums ---- */

inlined void add_request(const struct wire_device *of, uint64_t bytes, uint64_t now)
{
	struct wire_device_io *io = bpf_map_lookup_elem(&kernel_devices, of), first = { .first_ns = now };

	if (!io) {
		bpf_map_update_elem(&kernel_devices, of, &first, BPF_NOEXIST);
		io = bpf_map_lookup_elem(&kernel_devices, of);
	}
	if (!io) {
		count_lost();
		return;
	}
	__sync_fetch_and_add(&io->operations, 1);
	__sync_fetch_and_add(&io->bytes, bytes);
	io->last_ns = now;
}

SEC("tp_btf/block_bio_queue")
int BPF_PROG(kernel_bio_queued, struct bio *arg)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct task_state *state = any_state_of(task);
	struct device_request request = { .since_ns = clock_ns() };
	uint64_t bio = number(arg), bytes = FIELD(bio, bio, bi_iter.bi_size);
	uint32_t operation = FIELD(bio, bio, bi_opf) & REQUEST_MASK;

	if ((!state && !(task->flags & OF_KERNEL)) || operation > REQUEST_WRITE || !bytes || !identify(bio, state, &request.of))
		return 0;
	request.of.writes = operation == REQUEST_WRITE;
	request.of.pid = state && !(task->flags & OF_KERNEL) ? state->pid : 0;
	add_request(&request.of, bytes, request.since_ns);
	if (bpf_map_update_elem(&kernel_bios, &bio, &request, BPF_ANY) != 0)
		count_lost();
	return 0;
}

/* ---- ends ---- */

#define MERGED_MOST 1024

inlined void end_request(uint64_t bio)
{
	struct device_request *request = bpf_map_lookup_elem(&kernel_bios, &bio);
	struct wire_device_io *io = request ? bpf_map_lookup_elem(&kernel_devices, &request->of) : NULL;

	if (io) {
		__sync_fetch_and_add(&io->completed, 1);
		__sync_fetch_and_add(&io->latency_ns, clock_ns() - request->since_ns);
	}
	if (request)
		bpf_map_delete_elem(&kernel_bios, &bio);
}

static long end_next(uint32_t i, uint64_t *bio)
{
	if (!*bio)
		return 1;
	end_request(*bio);
	*bio = POINTER(bio, *bio, bi_next);
	return 0;
}

/* A driver with a queue ends several at once, which were merged. */
SEC("tp_btf/block_rq_complete")
int BPF_PROG(kernel_rq_completed, struct request *arg)
{
	uint64_t bio = POINTER(request, number(arg), bio);

	bpf_loop(MERGED_MOST, end_next, &bio, 0);
	return 0;
}

/* Of devices without a queue. */
SEC("tp_btf/block_bio_complete")
int BPF_PROG(kernel_bio_completed, const void *queue, struct bio *arg)
{
	end_request(number(arg));
	return 0;
}

#endif
