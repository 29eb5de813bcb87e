/* SPDX-License-Identifier: MIT */
#ifndef KERNEL_MOUNTS_H
#define KERNEL_MOUNTS_H

/*
 * The file systems of nodes.  The kernel sends the id of a node's mount; type and mount point come from mountinfo, when the
 * id is first met.  A mount that this process does not see has the type that its magic number tells, and no mount point.
 *
 * One thread.
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/mountinfo.h"

#define PIPE_MAGIC 0x50495045
#define SOCKET_MAGIC 0x534f434b
#define ANON_MAGIC 0x09041934
#define PIDFD_MAGIC 0x50494446
#define NAMESPACE_MAGIC 0x6e736673

struct mounts;
struct ring;

/* Calls take() for each mount, until it returns false: mountinfo_each(). */
typedef void mounts_each(bool (*take)(void *arg, const struct mountinfo *mount), void *arg);

/* each NULL: no mounts are seen.  0 or -ENOMEM. */
int mounts_create(struct ring *ring, mounts_each *each, struct mounts **ret_mounts);
void mounts_destroy(struct mounts *mounts);

/* Pushes MOUNT if the mount is new.  id 0: not known, then it is the first mount of the device.  Returns its id; 0: none. */
uint64_t mounts_find(struct mounts *mounts, uint64_t id, uint64_t dev, uint32_t magic);

#endif
