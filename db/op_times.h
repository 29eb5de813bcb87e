/* SPDX-License-Identifier: MIT */
#ifndef DB_OP_TIMES_H
#define DB_OP_TIMES_H

/*
 * The number of operations of each process, and the sum of their latencies.  All recorded operations count, whether or
 * not they have a row of their own.
 *
 * Memory holds the sums of a few processes until they are written; the database adds them to its rows.  One thread.
 * Memory: 6 KiB.
 */

#include <stdint.h>

struct op_times;
struct store;

/* 0 or -ENOMEM. */
int op_times_create(struct store *store, struct op_times **ret_times);
void op_times_destroy(struct op_times *times); /* NULL is fine */

/* Counts an operation of that process that took ns.  process 0: not known.  0 or -errno. */
int op_times_add(struct op_times *times, int64_t process, int64_t ns);

/* Writes the sums to the database and clears them.  0 or -errno. */
int op_times_flush(struct op_times *times);

#endif
