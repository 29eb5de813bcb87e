/* SPDX-License-Identifier: MIT */
#ifndef DAG_CONTAINER_SPARSE_H
#define DAG_CONTAINER_SPARSE_H

/*
 * An array whose indexes are ids of a trace: as a rule they are small and close together, but a made-up trace may have
 * any.  Memory is that of the used elements, and at worst of 63 more for each of them.
 * Elements are zero at first and stay where they are.
 */

#include <stddef.h>
#include <stdint.h>

struct sparse;

int sparse_create(size_t element_size, struct sparse **ret_sparse); /* 0 or -ENOMEM */
/* each: what an element holds is given back, also of such as were never used; may be NULL.  NULL is fine. */
void sparse_destroy(struct sparse *sparse, void (*each)(void *element));

/* NULL: out of memory. */
void *sparse_at(struct sparse *sparse, int64_t index);

#endif
