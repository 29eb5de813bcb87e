/* SPDX-License-Identifier: MIT */
#ifndef PROCMON_BIRTHS_H
#define PROCMON_BIRTHS_H

/*
 * Children of the ancestors of those who touch: a shell, make or xargs outside makes many, of which
 * some touch and then have to be told of.  Until they exec or end, all that there is to tell is who
 * made them and when; so the first touch of such a child costs no look at /proc.
 *
 * Only where the kernel reports forks, execs and ends; to be cleared when a report was lost.
 * Not thread-safe.
 */

#include <stdint.h>
#include <sys/types.h>

struct births;

struct birth {
	pid_t parent;
	uint64_t parent_serial; /* which of those that had this number */
	int64_t time_ns;
	uint64_t image; /* procfs_stat.image of the parent; 0 not known */
};

/* -ENOMEM; births_destroy() takes NULL. */
int births_create(struct births **ret_births);
void births_destroy(struct births *births);
void births_clear(struct births *births);

/* A child that there is no memory for is not noted: it will be looked at. */
void births_note(struct births *births, pid_t pid, const struct birth *birth);
void births_forget(struct births *births, pid_t pid);

/* -ENOENT if there is none; it is forgotten. */
int births_take(struct births *births, pid_t pid, struct birth *ret_birth);

#endif
