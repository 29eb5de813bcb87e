/* SPDX-License-Identifier: MIT */
#ifndef KERNEL_TRANSLATE_H
#define KERNEL_TRANSLATE_H

/*
 * Records of the programs in the kernel (wire.h) -> events (db/event.h), in the same order.
 *
 * Pure but for the ring that the events go to.  One thread.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kernel/mounts.h"

struct ring;
struct translate;

struct translate_options {
	struct ring *ring;
	/* Keeps those variables of an environment (NAME=VALUE, each ended by NUL) that may be stored, in place, and
	 * returns the new length.  NULL: none is kept. */
	size_t (*keep_environ)(char *vars, size_t len, void *arg);
	void *arg;
	mounts_each *each_mount; /* NULL: file systems are known by their magic numbers only */
	bool is_of_mount; /* handles are those of a mount, which reports what is a request to it */
};

/* 0 or -ENOMEM. */
int translate_create(const struct translate_options *options, struct translate **ret_translate);
void translate_destroy(struct translate *translate);

/*
 * One record.  The bytes are copied where they are kept.  0; -EBADMSG: it is not one of ours; -ENOMEM: its events are
 * missing.  Both are counted.
 */
int translate_record(struct translate *translate, const void *record, size_t size);

/* What is waited for will not come: results of asynchronous I/O that were not fetched, the last figures of threads. */
void translate_end(struct translate *translate);

/* Records that became no event, for lack of memory or because they cannot be understood. */
uint64_t translate_failed(const struct translate *translate);

#endif
