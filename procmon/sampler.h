/* SPDX-License-Identifier: MIT */
#ifndef PROCMON_SAMPLER_H
#define PROCMON_SAMPLER_H

/*
 * A thread that calls a function once a second, which records the memory and the CPU time of every process in scope that is
 * older than a second.  The thread blocks all signals.
 */

struct sampler;

/* 0 or -errno. */
int sampler_start(void (*sample)(void *arg), void *arg, struct sampler **ret_sampler);
void sampler_stop(struct sampler *sampler); /* NULL is fine */

/* Such a function, of a struct watch. */
void sampler_of_watch(void *watch);

#endif
