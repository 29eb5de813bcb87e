/* SPDX-License-Identifier: MIT */
#ifndef PROCMON_SAMPLER_H
#define PROCMON_SAMPLER_H

/*
 * A thread that records, once a second, the memory and the CPU time of every process in scope that
 * is older than a second. It blocks all signals.
 */

struct sampler;
struct watch;

/* 0 or -errno. */
int sampler_start(struct watch *watch, struct sampler **ret_sampler);
void sampler_stop(struct sampler *sampler); /* NULL is fine */

#endif
