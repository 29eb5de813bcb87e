/* SPDX-License-Identifier: MIT */
#ifndef KERNEL_MOUNT_BPF_H
#define KERNEL_MOUNT_BPF_H

/*
 * Files of a mount.  The kernel keeps the daemon's number of each open with the open file description, and the daemon has
 * told what it means (kernel_add_file()).  So nothing is followed here: no descriptors, no names.
 *
 * A mapping of a file that the mount passes through holds the source's file instead: what it means is kept from the mmap()
 * on.
 */

#include "state.bpf.h"

#define S_IFREG 0100000
#define S_IFDIR 0040000

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 1); /* set before loading */
	__type(key, uint64_t);
	__type(value, struct wire_opened);
} kernel_opened SEC(".maps");

struct backing {
	struct wire_opened opened;
	uint64_t inode; /* the address may be used again */
};

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 16384);
	__type(key, uint64_t);
	__type(value, struct backing);
} kernel_backing SEC(".maps");

/* FUSE may be a module, whose types bpf_rdonly_cast() does not know: so a copy. */
#define FUSE_FIELD(address, member)                                                                            \
	({                                                                                                     \
		uint64_t member_ = 0;                                                                          \
		bpf_core_read(&member_, sizeof(member_), &((struct fuse_file *)(const void *)(address))->member); \
		member_;                                                                                       \
	})

/* The struct fuse_file of a file or directory of the mount; 0: it is none. */
inlined uint64_t fuse_file_of(uint64_t file)
{
	uint64_t inode = file ? POINTER(file, file, f_inode) : 0;
	uint32_t kind;

	if (!inode || FIELD(super_block, POINTER(inode, inode, i_sb), s_dev) != kernel_mount_device)
		return 0;
	kind = FIELD(inode, inode, i_mode) & S_IFMT;
	return kind == S_IFREG || kind == S_IFDIR ? POINTER(file, file, private_data) : 0;
}

/* What the daemon has told of it; NULL: it is not recorded. */
inlined struct wire_opened *opened_of(uint64_t fuse_file)
{
	uint64_t fh;

	if (!fuse_file)
		return NULL;
	fh = FUSE_FIELD(fuse_file, fh);
	return bpf_map_lookup_elem(&kernel_opened, &fh);
}

inlined uint64_t handle_of_fuse(uint64_t fuse_file)
{
	struct wire_opened *opened = opened_of(fuse_file);

	return opened ? opened->handle : 0;
}

inlined uint64_t handle_in_mount(uint64_t file)
{
	return handle_of_fuse(fuse_file_of(file));
}

inlined void remember_backing(uint64_t file)
{
	uint64_t fuse_file = fuse_file_of(file), passed = fuse_file ? FUSE_FIELD(fuse_file, passthrough) : 0;
	struct wire_opened *opened = opened_of(fuse_file);
	struct backing backing = { 0 };

	if (!opened || !passed)
		return;
	backing.opened = *opened;
	backing.inode = POINTER(file, passed, f_inode);
	bpf_map_update_elem(&kernel_backing, &passed, &backing, BPF_ANY);
}

/* The same of the file of a mapping. */
inlined struct wire_opened *opened_of_mapping(uint64_t file)
{
	struct backing *backing = bpf_map_lookup_elem(&kernel_backing, &file);

	if (backing && backing->inode == POINTER(file, file, f_inode))
		return &backing->opened;
	return opened_of(fuse_file_of(file));
}

#endif
