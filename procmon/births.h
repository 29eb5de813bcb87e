/* SPDX-License-Identifier: MIT */
#ifndef PROCMON_BIRTHS_H
#define PROCMON_BIRTHS_H

/*
 * Forks of ancestors. An ancestor (a shell, make or xargs outside of the traced tree) forks many
 * children, of which only some use the traced tree. Until such a child execs or ends, its parent
 * and its fork time are all there is to record. So this table keeps both, and the first request of
 * the child needs no read of /proc.
 *
 * Used only where the kernel reports forks, execs and exits. The caller clears the table when a
 * report was lost. Not thread-safe.
 */

#include <stdint.h>
#include <sys/types.h>

struct births;

struct birth {
	pid_t parent;
	/* member.serial of the parent: tells processes with the same pid apart */
	uint64_t parent_serial;
	int64_t time_ns;
	uint64_t image; /* procfs_stat.image of the parent; 0 not known */
};

/* -ENOMEM; births_destroy() takes NULL. */
int births_create(struct births **ret_births);
void births_destroy(struct births *births);
void births_clear(struct births *births);

/* Without memory the fork is not noted: the child is then discovered by reading /proc. */
void births_note(struct births *births, pid_t pid, const struct birth *birth);
void births_forget(struct births *births, pid_t pid);

/* Returns the entry and removes it. -ENOENT if there is none. */
int births_take(struct births *births, pid_t pid, struct birth *ret_birth);

#endif
