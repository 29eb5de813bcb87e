/* SPDX-License-Identifier: MIT */
#ifndef KERNEL_LOAD_H
#define KERNEL_LOAD_H

/* The programs in the kernel: loads and attaches them, and says why that is not possible.  One thread. */

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct failure;
struct programs;
struct wire_counters;

/* Loads the programs with a ring buffer of that size.  0 or -errno with the reason. */
int programs_load(size_t buffer_bytes, struct programs **ret_programs, struct failure *failure);

/* Traces a process, which must have one thread, and what it forks from now on. */
int programs_add(struct programs *programs, pid_t pid, struct failure *failure);

/* Begins to record. */
int programs_attach(struct programs *programs, struct failure *failure);

/* Ends recording: when it returns, no program runs any more. */
void programs_detach(struct programs *programs);

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
