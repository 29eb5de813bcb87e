/* SPDX-License-Identifier: MIT */

/* How a closed descriptor is opened again: see pins.h. */

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/fd_path.h"
#include "base/rights.h"
#include "base/vector.h"
#include "ftrac/creds.h"
#include "ftrac/pins_internal.h"

#define MAX_DEPTH 100000 /* of directories; a loop of names would be deeper */

static bool is_same(const struct entry *entry, const struct statx *sx)
{
	const struct inode *inode = &entry->inode;

	/* The same file in another mount may have other mount flags. */
	if (sx->stx_mnt_id != inode->mount_id)
		return false;
	if (inode->mount->named)
		return (sx->stx_mode & S_IFMT) == inode->type &&
			(inode->mount->proc || stat_digest(sx) == entry->digest ||
				(sx->stx_ino == inode->ino && birth_of(sx) == entry->birth_ns));
	return sx->stx_ino == inode->ino && birth_of(sx) == entry->birth_ns &&
		makedev(sx->stx_dev_major, sx->stx_dev_minor) == inode->dev;
}

/* Returns fd, or the descriptor that replaces it, if it is our file; else closes it. */
static int check(struct inode_table *table, const struct entry *entry, int fd)
{
	struct statx sx;
	struct mount *mount;
	int r = fd;

	if (fd >= 0)
		r = table_stat(table, &entry->inode, &fd, &sx, &mount);
	if (r == 0 && !is_same(entry, &sx))
		r = -ESTALE;
	if (r < 0 && fd >= 0)
		close(fd);
	return r < 0 ? r : fd;
}

/* Returns what open(2) returns. */
static int by_file(struct inode_table *table, struct entry *entry)
{
	struct shard *shard = table_shard(table, &entry->inode);
	int fd = -1;

	errno = ESTALE;
	pthread_mutex_lock(&shard->lock);
	if (entry->opened && entry->opened->links)
		fd = open(fd_path(entry->opened->links->fd).text, O_PATH | O_CLOEXEC);
	pthread_mutex_unlock(&shard->lock);
	return fd;
}

static int by_handle(struct inode_table *table, struct entry *entry);

struct way {
	struct pin_step *steps; /* from the file upwards */
	size_t n;
};

static void free_way(struct inode_table *table, struct way *way)
{
	for (size_t i = 0; i < way->n; i++) {
		entry_unref(table, way->steps[i].entry);
		free(way->steps[i].name);
	}
	free(way->steps);
}

/* Name and parent of the last step; the parent with a reference. */
int pin_step_up(struct inode_table *table, struct pin_step *step, struct entry **ret_parent)
{
	struct shard *shard = table_shard(table, &step->entry->inode);
	int r = -ESTALE;

	pthread_mutex_lock(&shard->lock);
	*ret_parent = step->entry->parent;
	if (*ret_parent) {
		step->name = strdup(step->entry->name);
		r = step->name ? 0 : -ENOMEM;
	}
	if (r == 0)
		entry_ref(*ret_parent);
	pthread_mutex_unlock(&shard->lock);
	return r;
}

static struct pin_step *add_step(struct way *way, struct entry *entry)
{
	int r = vector_push(way->steps, way->n, (struct pin_step){ .entry = entry });

	return r < 0 ? NULL : &way->steps[way->n - 1];
}

/* Whether the entry, which is in use, has a descriptor or could be opened by its handle. */
static bool is_open_now(struct inode_table *table, struct entry *entry)
{
	int fd;

	if (atomic_load(&entry->fd) >= 0)
		return true;
	if (pin_is_away(table, entry)) /* its mount must be found first, by names */
		return false;
	fd = by_handle(table, entry);
	if (fd >= 0)
		pins_install(table, entry, fd);
	return fd >= 0;
}

/* Finds the names from the nearest directory with a descriptor; that directory is then in use and
 * referenced. */
static int find_way(struct inode_table *table, struct entry *entry, struct way *way,
	struct entry **ret_start)
{
	struct entry *at = entry, *parent;
	int r = 0;

	entry_ref(at);
	for (; way->n < MAX_DEPTH; at = parent) {
		struct pin_step *step = add_step(way, at);

		if (!step) {
			entry_unref(table, at);
			return -ENOMEM;
		}
		r = pin_step_up(table, step, &parent);
		if (r < 0)
			return r;
		pin_use(&table->pins, parent);
		if (is_open_now(table, parent)) {
			*ret_start = parent;
			return 0;
		}
		pin_unuse(parent);
	}
	entry_unref(table, at);
	return -ESTALE;
}

/* Opens each step and installs its descriptor. Returns that of the last. */
static int walk(struct inode_table *table, const struct way *way, struct entry *start)
{
	struct entry *at = start, *next;
	int fd = atomic_load(&at->fd);

	for (size_t i = way->n; i-- > 0; at = next) {
		int dir = fd;

		next = way->steps[i].entry;
		fd = WITH_ROOM(table,
			openat(dir, way->steps[i].name, O_PATH | O_NOFOLLOW | O_CLOEXEC));
		fd = check(table, next, fd);
		if (fd < 0) {
			pin_unuse(at);
			return fd;
		}
		pin_use(&table->pins, next);
		pins_install(table, next, fd);
		fd = atomic_load(&next->fd);
		pin_unuse(at);
	}
	pin_unuse(at);
	return 0;
}

static int by_name(struct inode_table *table, struct entry *entry)
{
	struct way way = { 0 };
	struct entry *start;
	int r = find_way(table, entry, &way, &start);

	if (r == 0) {
		r = walk(table, &way, start);
		entry_unref(table, start);
	}
	free_way(table, &way);
	return r;
}

/* A descriptor on the mount for open_by_handle_at(2), which accepts no O_PATH descriptor. */
static int open_mount(struct inode_table *table, struct entry *entry)
{
	struct mount *mount = entry->inode.mount;
	struct entry *top = NULL;
	int fd;

	if (!pin_is_away(table, entry))
		return fcntl(table->pins.root_dir, F_DUPFD_CLOEXEC, 3);
	pthread_mutex_lock(&table->mounts.lock);
	if (mount->top && mount->top != &entry->inode && pin_try_ref(entry_of(mount->top)))
		top = entry_of(mount->top);
	pthread_mutex_unlock(&table->mounts.lock);
	if (!top)
		return -1;
	pin_use(&table->pins, top);
	if (atomic_load(&top->fd) < 0)
		by_name(table, top);
	fd = openat(atomic_load(&top->fd), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	pin_unuse(top);
	entry_unref(table, top);
	return fd;
}

static int by_handle(struct inode_table *table, struct entry *entry)
{
	cleanup_fd int mount = -1;
	int fd;

	if (!entry->handle)
		return -ESTALE;
	mount = WITH_ROOM(table, open_mount(table, entry));
	if (mount < 0)
		return -ESTALE;
	fd = WITH_ROOM(table,
		open_by_handle_at(mount, entry->handle, O_PATH | O_NOFOLLOW | O_CLOEXEC));
	return fd < 0 ? fd : check(table, entry, fd);
}

static int come_back(struct inode_table *table, struct entry *entry)
{
	int fd = WITH_ROOM(table, by_file(table, entry));

	if (fd < 0)
		fd = by_handle(table, entry);
	if (fd < 0) /* also opens each directory on the path */
		return by_name(table, entry);
	pins_install(table, entry, fd);
	return 0;
}

/*
 * With the daemon's own rights: the requester's access to the path does not matter, because the
 * kernel has the inode. The source checks what the request then does with the descriptor.
 */
int pin_reopen(struct inode_table *table, struct entry *entry)
{
	uint64_t before = creds_raise(RIGHT(CAP_DAC_READ_SEARCH));
	int r = come_back(table, entry);

	creds_drop(before);
	return r;
}
