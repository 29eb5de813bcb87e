/* SPDX-License-Identifier: MIT */
#ifndef PROCMON_SAMPLER_H
#define PROCMON_SAMPLER_H

/*
 * A thread that looks each second at the memory and the CPU time of every process in scope that has
 * lived for a second.  It blocks all signals.
 */

struct sampler;
struct watch;

/* 0 or -errno. */
int sampler_start(struct watch *watch, struct sampler **ret_sampler);
void sampler_stop(struct sampler *sampler); /* NULL is fine */

#endif
