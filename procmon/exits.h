/* SPDX-License-Identifier: MIT */
#ifndef PROCMON_EXITS_H
#define PROCMON_EXITS_H

/*
 * Pairs what two sources say of the end of a thread: the exit record of taskstats, and the news
 * that it has ended (connector, ptrace).  The kernel makes the record first; so whoever hears of
 * an end finds the record at the socket already, unless it was lost.  Ids come back, but the records
 * of one id come in the order of its lives.
 *
 * Not thread-safe: the caller's lock.
 */

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct exits;
struct taskstats_record;

/* 0, or why there are no records: see taskstats_create(). */
int exits_create(struct exits **ret_exits);
void exits_destroy(struct exits *exits); /* NULL is fine */

/* The record of the oldest life of tid that has ended and was not taken.  False if there is none. */
bool exits_take(struct exits *exits, pid_t tid, struct taskstats_record *ret_record);

/* After news of ends were lost: what is left belongs to nobody. */
void exits_forget(struct exits *exits);

/* Times that records did not fit the socket's buffer.  Without the lock. */
uint64_t exits_lost(const struct exits *exits);

#endif
