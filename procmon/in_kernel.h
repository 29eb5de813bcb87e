/* SPDX-License-Identifier: MIT */
#ifndef PROCMON_IN_KERNEL_H
#define PROCMON_IN_KERNEL_H

/*
 * A command that is recorded in the kernel: kernel/kernel.h with the rights, the environment variables and the counts of
 * this program.  See monitor_start_in_kernel().
 */

#include <stdbool.h>
#include <stdint.h>

struct failure;
struct in_kernel;
struct monitor_in_kernel;
struct store;

/* 0, or -errno with the reason. */
int in_kernel_start(const struct monitor_in_kernel *options, struct in_kernel **ret_in_kernel, struct failure *failure);
/* As monitor_attach(). */
struct monitor_attach;
int in_kernel_attach(struct in_kernel *in_kernel, const struct monitor_attach *wanted, struct failure *failure);
void in_kernel_finish(struct in_kernel *in_kernel);
void in_kernel_destroy(struct in_kernel *in_kernel);

/* A function of sampler.h, of a struct in_kernel. */
void in_kernel_sample(void *in_kernel);

/* As monitor_began_ns(). */
int64_t in_kernel_began_ns(const struct in_kernel *in_kernel);
uint64_t in_kernel_lost(const struct in_kernel *in_kernel);
bool in_kernel_may_wait(const struct in_kernel *in_kernel);
void in_kernel_set_watched(struct in_kernel *in_kernel, bool is_watched);
uint64_t in_kernel_left(const struct in_kernel *in_kernel);
/* 0 or -errno. */
int in_kernel_put_facts(const struct in_kernel *in_kernel, struct store *store);

#endif
