/* SPDX-License-Identifier: MIT */
#include "dag/container/sparse.h"

#include <errno.h>
#include <stdlib.h>
#include <uthash.h>

#define BLOCK 64 /* a power of two */

struct block {
	int64_t number;
	UT_hash_handle hh;
	_Alignas(max_align_t) char elements[];
};

struct sparse {
	size_t element_size;
	struct block *blocks, *last;
};

int sparse_create(size_t element_size, struct sparse **ret_sparse)
{
	struct sparse *sparse = calloc(1, sizeof(*sparse));

	*ret_sparse = sparse;
	if (!sparse)
		return -ENOMEM;
	sparse->element_size = element_size;
	return 0;
}

void sparse_destroy(struct sparse *sparse, void (*each)(void *element))
{
	struct block *block, *next;

	if (!sparse)
		return;
	HASH_ITER(hh, sparse->blocks, block, next) {
		for (int i = 0; each && i < BLOCK; i++)
			each(block->elements + i * sparse->element_size);
		HASH_DEL(sparse->blocks, block);
		free(block);
	}
	free(sparse);
}

static struct block *add_block(struct sparse *sparse, int64_t number)
{
	struct block *block = calloc(1, sizeof(*block) + BLOCK * sparse->element_size);

	if (!block)
		return NULL;
	block->number = number;
	HASH_ADD(hh, sparse->blocks, number, sizeof(number), block);
	if (!block->hh.tbl) {
		free(block);
		return NULL;
	}
	return block;
}

void *sparse_at(struct sparse *sparse, int64_t index)
{
	int64_t number = index / BLOCK - (index % BLOCK < 0);
	struct block *block = sparse->last;

	if (!block || block->number != number) {
		HASH_FIND(hh, sparse->blocks, &number, sizeof(number), block);
		if (!block)
			block = add_block(sparse, number);
		if (!block)
			return NULL;
		sparse->last = block;
	}
	return block->elements + (index & (BLOCK - 1)) * sparse->element_size;
}
