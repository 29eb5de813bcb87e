/* SPDX-License-Identifier: MIT */
#include "kernel/mounts.h"

#include <errno.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <uthash.h>

#include "db/event.h"
#include "db/ring.h"

/* Of ids, and of devices of which the id was not known. */
struct mount {
	struct {
		uint64_t id, dev; /* one of them is 0 */
	} key;
	uint64_t id; /* 0: none */
	UT_hash_handle hh;
};

struct mounts {
	struct ring *ring;
	mounts_each *each;
	struct mount *all;
};

int mounts_create(struct ring *ring, mounts_each *each, struct mounts **ret_mounts)
{
	struct mounts *mounts = calloc(1, sizeof(*mounts));

	if (!mounts)
		return -ENOMEM;
	mounts->ring = ring;
	mounts->each = each;
	*ret_mounts = mounts;
	return 0;
}

void mounts_destroy(struct mounts *mounts)
{
	struct mount *mount, *next;

	if (!mounts)
		return;
	HASH_ITER(hh, mounts->all, mount, next) {
		HASH_DEL(mounts->all, mount);
		free(mount);
	}
	free(mounts);
}

static const char *type_of(uint32_t magic)
{
	static const struct {
		uint32_t magic;
		const char *type;
	} types[] = { { PIPE_MAGIC, "pipefs" }, { SOCKET_MAGIC, "sockfs" }, { ANON_MAGIC, "anon_inodefs" },
		{ PIDFD_MAGIC, "pidfs" }, { NAMESPACE_MAGIC, "nsfs" }, { TMPFS_MAGIC, "tmpfs" }, { PROC_SUPER_MAGIC, "proc" },
		{ SYSFS_MAGIC, "sysfs" }, { OVERLAYFS_SUPER_MAGIC, "overlay" }, { EXT4_SUPER_MAGIC, "ext4" },
		{ BTRFS_SUPER_MAGIC, "btrfs" }, { XFS_SUPER_MAGIC, "xfs" }, { FUSE_SUPER_MAGIC, "fuse" },
		{ NFS_SUPER_MAGIC, "nfs" }, { DEVPTS_SUPER_MAGIC, "devpts" }, { CGROUP2_SUPER_MAGIC, "cgroup2" } };

	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
		if (types[i].magic == magic)
			return types[i].type;
	return NULL;
}

struct search {
	uint64_t id, dev;
	struct mountinfo found;
	bool is_found;
};

static bool is_it(void *arg, const struct mountinfo *mount)
{
	struct search *search = arg;

	if (search->id ? mount->id != search->id : makedev(mount->major, mount->minor) != search->dev)
		return true;
	search->found = *mount;
	search->is_found = true;
	return false;
}

static void push(const struct mounts *mounts, uint64_t id, const char *text, size_t len)
{
	ring_push(mounts->ring, &(struct event){ .kind = EVENT_MOUNT, .u.mount.id = id }, text, len);
}

static void push_line(const struct mounts *mounts, uint64_t id, const struct mountinfo *line)
{
	char text[MOUNTINFO_TEXT], fsid[MOUNTINFO_FSID];

	push(mounts, id, text, mountinfo_text(line, mountinfo_fsid(line, -1, fsid) ? fsid : NULL, text));
}

static struct mount *find(const struct mounts *mounts, uint64_t id, uint64_t dev)
{
	struct mount *mount, key = { .key = { id, dev } };

	HASH_FIND(hh, mounts->all, &key.key, sizeof(key.key), mount);
	return mount;
}

static struct mount *add(struct mounts *mounts, uint64_t id, uint64_t dev)
{
	struct mount *mount = calloc(1, sizeof(*mount));

	if (!mount)
		return NULL;
	mount->key.id = mount->id = id;
	mount->key.dev = dev;
	HASH_ADD(hh, mounts->all, key, sizeof(mount->key), mount);
	if (mount->hh.tbl)
		return mount;
	free(mount);
	return NULL;
}

/* Without memory for the entry the next node asks again. */
uint64_t mounts_find(struct mounts *mounts, uint64_t id, uint64_t dev, uint32_t magic)
{
	struct search search = { .id = id, .dev = dev };
	struct mount *mount = find(mounts, id, id ? 0 : dev);

	if (mount)
		return mount->id;
	if (mounts->each)
		mounts->each(is_it, &search);
	mount = add(mounts, id, id ? 0 : dev);
	if (id && search.is_found)
		push_line(mounts, id, &search.found);
	else if (id && type_of(magic))
		push(mounts, id, type_of(magic), strlen(type_of(magic)) + 1);
	else if (!id && search.is_found)
		id = mounts_find(mounts, search.found.id, dev, magic);
	if (mount)
		mount->id = id;
	return id;
}
