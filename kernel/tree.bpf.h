/* SPDX-License-Identifier: MIT */
#ifndef KERNEL_TREE_BPF_H
#define KERNEL_TREE_BPF_H

/*
 * The mappings of a process as the kernel keeps them, in a maple tree: a node has up to 16 slots, and between two of them the
 * last address of the first.  Slots of leaves have mappings or are empty, those of other nodes have nodes.
 *
 * The kernel's iterator over mappings takes a lock for each, which costs much more.  Reading takes none: so it is only for a
 * process with a single thread, and what walks over the tree compares the number of mappings that it has found with the kernel's.
 */

#include "state.bpf.h"

#define NODE_BITS 0xff /* of the pointer to a node: what kind it is */
#define NODE_KIND_SHIFT 3
#define NODE_KIND_MASK 15
#define DEEPEST_TREE 8
#define LEAF_PIVOTS 15
#define LEAF_SLOTS (LEAF_PIVOTS + 1)
#define BRANCH_PIVOTS 9

inlined bool has_tree(void)
{
	return bpf_core_field_exists(struct mm_struct, mm_mt) &&
		bpf_core_enum_value_exists(enum maple_type, maple_leaf_64) &&
		bpf_core_enum_value_exists(enum maple_type, maple_arange_64) &&
		bpf_core_field_exists(struct maple_range_64, meta) && bpf_core_field_exists(struct maple_arange_64, meta);
}

struct leaf {
	uint64_t slots;
	uint64_t last_address;
	uint32_t last_slot;
};

inlined uint64_t word_at(uint64_t words, uint32_t i)
{
	return POINTER(hlist_head, words + i * sizeof(uint64_t), first);
}

inlined uint32_t kind_of_node(uint64_t pointer)
{
	return pointer >> NODE_KIND_SHIFT & NODE_KIND_MASK;
}

/* A byte at an address; of a struct in a union, where FIELD() cannot read it. */
inlined uint32_t number_at(uint64_t address)
{
	return word_at(address, 0) & 0xff;
}

/* The node below, where an address is; last: of the node, then of the one below. */
inlined uint64_t node_below(uint64_t node, uint64_t address, uint64_t *last)
{
	uint64_t pivots = node + bpf_core_field_offset(struct maple_arange_64, pivot), pivot;
	uint32_t end = number_at(node + bpf_core_field_offset(struct maple_arange_64, meta.end)), i;

	for (i = 0; i < BRANCH_PIVOTS && i < end; i++) {
		pivot = word_at(pivots, i);
		if (address > pivot)
			continue;
		*last = pivot;
		break;
	}
	return word_at(node + bpf_core_field_offset(struct maple_arange_64, slot), i);
}

/* A leaf that is full has a slot where others have the number of their last one. */
inlined uint32_t last_slot(uint64_t node, uint64_t last)
{
	uint64_t pivot = word_at(node + bpf_core_field_offset(struct maple_range_64, pivot), LEAF_PIVOTS - 1);

	if (!pivot)
		return number_at(node + bpf_core_field_offset(struct maple_range_64, meta.end));
	return pivot == last ? LEAF_PIVOTS - 1 : LEAF_PIVOTS;
}

/* The leaf where an address is; 0: the tree is not as it is known here. */
__noinline int find_leaf(uint64_t root, uint64_t address, struct leaf *ret_leaf)
{
	uint64_t pointer = root, node, last = UINT64_MAX;

	if (!ret_leaf || !has_tree())
		return 0;
	for (int i = 0; i < DEEPEST_TREE; i++) {
		node = pointer & ~(uint64_t)NODE_BITS;
		if (kind_of_node(pointer) == bpf_core_enum_value(enum maple_type, maple_leaf_64)) {
			ret_leaf->slots = node + bpf_core_field_offset(struct maple_range_64, slot);
			ret_leaf->last_address = last;
			ret_leaf->last_slot = last_slot(node, last);
			return 1;
		}
		if (kind_of_node(pointer) != bpf_core_enum_value(enum maple_type, maple_arange_64))
			return 0;
		pointer = node_below(node, address, &last);
	}
	return 0;
}

#endif
