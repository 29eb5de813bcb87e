/* SPDX-License-Identifier: MIT */
#ifndef KERNEL_LOAD_H
#define KERNEL_LOAD_H

/* The programs in the kernel: loads and attaches them, and says why that is not possible.  One thread. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct failure;
struct programs;
struct wire_counters;
struct wire_opened;

/*
 * Loads the programs with a ring buffer of that size: those for processes that are added, or, with most_files not 0, those
 * for the files of a mount, of which so many may be open at once.  0 or -errno with the reason.
 */
int programs_load(size_t buffer_bytes, size_t most_files, struct programs **ret_programs, struct failure *failure);

/* Traces a process, which must have one thread, and what it forks from now on. */
int programs_add(struct programs *programs, pid_t pid, struct failure *failure);

/* See kernel_choose(), kernel_reject(), kernel_attach(). */
int programs_choose(struct programs *programs, pid_t pid);
void programs_reject(struct programs *programs, pid_t pid);
int programs_attach_to(struct programs *programs, bool all, int cgroup);

/* Of a mount: records calls on files of this device from now on; 0: none.  Any thread. */
void programs_set_device(struct programs *programs, uint32_t major, uint32_t minor);

/* Of a mount: what the daemon's number of an open file means, until it is removed.  0 or -errno.  Any thread. */
int programs_add_file(struct programs *programs, uint64_t number, const struct wire_opened *opened);
void programs_remove_file(struct programs *programs, uint64_t number);

/* Begins to record. */
int programs_attach(struct programs *programs, struct failure *failure);

/* Ends recording: when it returns, no program runs any more. */
void programs_detach(struct programs *programs);

/* Sends a sample of each process that has been traced for more than a second.  0 or -errno.  Any thread. */
int programs_sample(const struct programs *programs);

/* Whether they see what devices do; and what devices did, for each file and process, when the programs are detached.  Ends with
 * the first error of each(), which it returns. */
bool programs_have_devices(const struct programs *programs);
struct wire_device_record;
int programs_each_device(const struct programs *programs, int (*each)(void *arg, const struct wire_device_record *record), void *arg);

/* The descriptor of the ring buffer, and its size. */
int programs_ring(const struct programs *programs);
size_t programs_ring_bytes(const struct programs *programs);

/* The counters of all processors, which the caller frees; their number, or -errno. */
int programs_count(const struct programs *programs, struct wire_counters **ret_counters);

/* How often the kernel did not run a program, because one was running on that processor. */
uint64_t programs_missed(const struct programs *programs);

/* Unloads them.  NULL is fine. */
void programs_destroy(struct programs *programs);

#endif
