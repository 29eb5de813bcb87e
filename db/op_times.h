/* SPDX-License-Identifier: MIT */
#ifndef DB_OP_TIMES_H
#define DB_OP_TIMES_H

/*
 * How many operations each process did, and how long they took in all: recorded operations of every kind, whether
 * or not they have a row of their own.
 *
 * Memory holds what the database has not been told yet, of a few processes; the database adds that to the rows it
 * has.  One thread.  Memory: 6 KiB.
 */

#include <stdint.h>

struct op_times;
struct store;

/* 0 or -ENOMEM. */
int op_times_create(struct store *store, struct op_times **ret_times);
void op_times_destroy(struct op_times *times); /* NULL is fine */

/* One more operation of that process, which took so long.  process 0: not known.  0 or -errno. */
int op_times_add(struct op_times *times, int64_t process, int64_t ns);

/* Tells the database, and forgets.  0 or -errno. */
int op_times_flush(struct op_times *times);

#endif
