/* SPDX-License-Identifier: MIT */
#ifndef PROCMON_EXITS_H
#define PROCMON_EXITS_H

/*
 * Pairs the two reports of the end of a thread: the exit record of taskstats, and the exit event
 * (connector or ptrace). The kernel sends the record first. So when the exit event arrives, the
 * record is at the socket already, unless it was lost. A thread id may be reused; the records of
 * one id come in the order of its threads.
 *
 * Not thread-safe: the caller holds a lock.
 */

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct exits;
struct taskstats_record;

/* 0, or the -errno of taskstats_create(). */
int exits_create(struct exits **ret_exits);
void exits_destroy(struct exits *exits); /* NULL is fine */

/* The oldest record of tid that was not taken yet. False if there is none. */
bool exits_take(struct exits *exits, pid_t tid, struct taskstats_record *ret_record);

/* Drops all records. Called after exit events were lost: the remaining records cannot be paired. */
void exits_forget(struct exits *exits);

/* How often records did not fit into the socket's buffer. Needs no lock. */
uint64_t exits_lost(const struct exits *exits);

#endif
