/* SPDX-License-Identifier: MIT */
#include "ftrac/pins.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "ftrac/pins_internal.h"

#define MOST (1u << 30)

/* ---- in use ---- */

/* If a thread is closing its descriptor now, waits for some microseconds. */
void pin_use(struct pins *pins, struct entry *entry)
{
	uint32_t now = atomic_load_explicit(&pins->now, memory_order_relaxed);
	int32_t users = atomic_load(&entry->users);

	for (;;) {
		if (users < 0) {
			sched_yield();
			users = atomic_load(&entry->users);
		} else if (atomic_compare_exchange_weak(&entry->users, &users, users + 1)) {
			break;
		}
	}
	if (atomic_load_explicit(&entry->used, memory_order_relaxed) != now)
		atomic_store_explicit(&entry->used, now, memory_order_relaxed);
	if (!atomic_load_explicit(&entry->referenced, memory_order_relaxed))
		atomic_store_explicit(&entry->referenced, true, memory_order_relaxed);
}

void pin_unuse(struct entry *entry)
{
	atomic_fetch_sub(&entry->users, 1);
}

bool pin_is_away(const struct inode_table *table, const struct entry *entry)
{
	return entry->inode.mount_id != table->root.inode.mount_id;
}

/* ---- the lists: circular, the head is next ---- */

static struct entry **list_of(struct inode_table *table, const struct entry *entry)
{
	return pin_is_away(table, entry) ? &table->pins.away : &table->pins.home;
}

static void list_add(struct entry **head, struct entry *entry)
{
	if (*head) {
		entry->next = *head;
		entry->prev = (*head)->prev;
		entry->prev->next = entry->next->prev = entry;
	} else {
		*head = entry->next = entry->prev = entry;
	}
	entry->is_listed = true;
}

static void list_remove(struct entry **head, struct entry *entry)
{
	if (*head == entry)
		*head = entry->next == entry ? NULL : entry->next;
	entry->prev->next = entry->next;
	entry->next->prev = entry->prev;
	entry->is_listed = false;
}

/* ---- closing descriptors ---- */

/* Takes a reference, unless there is none left: then the entry is being freed. */
bool pin_try_ref(struct entry *entry)
{
	uint32_t refs = atomic_load(&entry->refs);

	while (refs > 0)
		if (atomic_compare_exchange_weak(&entry->refs, &refs, refs + 1))
			return true;
	return false;
}

/* Called with the lock: from here on no thread can use the entry. */
bool pin_claim(struct inode_table *table, struct entry *entry)
{
	int32_t unused = 0;

	if (!pin_try_ref(entry))
		return false;
	if (atomic_compare_exchange_strong(&entry->users, &unused, PINS_CLAIMED)) {
		list_remove(list_of(table, entry), entry);
		return true;
	}
	atomic_fetch_sub(&entry->refs, 1); /* not the last: is_listed holds under the lock */
	return false;
}

static void make_handle(struct inode_table *table, struct entry *entry, int fd)
{
	char room[sizeof(struct file_handle) + MAX_HANDLE_SZ] = { 0 };
	struct file_handle *handle = (struct file_handle *)room;
	size_t size;
	int mount;

	if (entry->handle || table->pins.root_dir < 0 ||
		atomic_load(&entry->inode.mount->no_handles))
		return;
	handle->handle_bytes = MAX_HANDLE_SZ;
	if (name_to_handle_at(fd, "", handle, &mount, AT_EMPTY_PATH) < 0) {
		atomic_store(&entry->inode.mount->no_handles, errno == EOPNOTSUPP);
		return;
	}
	size = sizeof(*handle) + handle->handle_bytes;
	entry->handle = malloc(size);
	if (entry->handle)
		memcpy(entry->handle, handle, size);
}

bool pin_has_name_or_file(struct inode_table *table, struct entry *entry, bool *ret_open)
{
	struct shard *shard = table_shard(table, &entry->inode);
	bool has_name;

	pthread_mutex_lock(&shard->lock);
	has_name = entry->parent;
	*ret_open = entry->opened && entry->opened->links;
	pthread_mutex_unlock(&shard->lock);
	return has_name || *ret_open;
}

/* FNV-1a. */
uint64_t stat_digest(const struct statx *sx)
{
	const uint64_t digest[] = { sx->stx_mode, sx->stx_uid, sx->stx_gid, sx->stx_size,
		sx->stx_mtime.tv_sec, sx->stx_mtime.tv_nsec };
	uint64_t hash = 14695981039346656037u;

	for (size_t i = 0; i < sizeof(digest) / sizeof(digest[0]); i++)
		hash = (hash ^ digest[i]) * 1099511628211u;
	return hash;
}

/* Whether its descriptor may be closed. */
static bool may_close(struct inode_table *table, struct entry *entry, int fd)
{
	struct statx sx;
	bool is_open, has_way = pin_has_name_or_file(table, entry, &is_open);

	if (is_open)
		return true;
	if (statx(fd, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, STATX_BASIC_STATS, &sx) < 0)
		return false;
	/* another program removed the known name: the kernel looks it up again */
	if (sx.stx_nlink == 0)
		return has_way;
	entry->digest = stat_digest(&sx);
	make_handle(table, entry, fd);
	return has_way || entry->handle;
}

void pin_unclaim(struct entry *entry)
{
	atomic_store(&entry->users, 0);
}

void pin_put_back(struct inode_table *table, struct entry *entry)
{
	pthread_mutex_lock(&table->pins.lock);
	list_add(list_of(table, entry), entry);
	pthread_mutex_unlock(&table->pins.lock);
	pin_unclaim(entry);
}

/* Called for a claimed entry; the caller keeps its reference. */
bool pin_close(struct inode_table *table, struct entry *entry)
{
	struct pins *pins = &table->pins;
	int fd = atomic_load(&entry->fd);

	if (!may_close(table, entry, fd)) {
		pin_put_back(table, entry);
		return false;
	}
	atomic_store(&pins->any_gone, true);
	atomic_fetch_sub(&pins->count, 1);
	atomic_store(&entry->fd, -1);
	close(fd);
	pin_unclaim(entry);
	return true;
}

/* The clock algorithm: claims the next entry in the list that was not held since the hand
 * passed. */
static struct entry *next_victim(struct inode_table *table, struct entry **head, unsigned tries)
{
	struct entry *entry;

	for (; tries && *head; tries--, *head = (*head)->next) {
		entry = *head;
		if (!atomic_exchange(&entry->referenced, false) && pin_claim(table, entry))
			return entry;
	}
	return NULL;
}

bool pins_make_room(struct inode_table *table)
{
	struct pins *pins = &table->pins;
	int saved = errno;
	struct entry *victim;
	bool gone = false;

	/* Some descriptors must stay open; a few of them in a row do not mean that all must. */
	for (int i = 0; i < 64 && !gone; i++) {
		unsigned tries = 2 * atomic_load(&pins->count) + 2;

		pthread_mutex_lock(&pins->lock);
		victim = next_victim(table, &pins->home, tries);
		if (!victim)
			victim = next_victim(table, &pins->away, tries);
		pthread_mutex_unlock(&pins->lock);
		if (!victim)
			break;
		gone = pin_close(table, victim);
		entry_unref(table, victim);
	}
	errno = saved;
	return gone;
}

int pins_keep(struct inode_table *table, int fd)
{
	int lower;

	while (fd >= table->pins.last) {
		lower = pins_make_room(table) ? fcntl(fd, F_DUPFD_CLOEXEC, 3) : -1;
		close(fd);
		if (lower < 0)
			return -EMFILE;
		fd = lower;
	}
	return fd;
}

/* ---- holding ---- */

/* Replaces the descriptor unless it is in use. Returns the one to close. */
static int replace(struct entry *entry, int fd)
{
	int32_t unused = 0;

	if (!atomic_compare_exchange_strong(&entry->users, &unused, PINS_CLAIMED))
		return fd;
	if (atomic_load(&entry->fd) >= 0)
		fd = atomic_exchange(&entry->fd, fd);
	pin_unclaim(entry);
	return fd;
}

void pins_install(struct inode_table *table, struct entry *entry, int fd)
{
	struct pins *pins = &table->pins;
	int none = -1;

	if (entry == &table->root) {
		close(fd);
		return;
	}
	pin_use(pins, entry);
	if (atomic_compare_exchange_strong(&entry->fd, &none, fd)) {
		pthread_mutex_lock(&pins->lock);
		list_add(list_of(table, entry), entry);
		pthread_mutex_unlock(&pins->lock);
		atomic_fetch_add(&pins->count, 1);
		while (atomic_load(&pins->count) > pins->max && pins_make_room(table))
			;
		fd = -1;
	}
	pin_unuse(entry);
	/* On a network file system an open descriptor may not keep the inode number from being
	 * reused. */
	if (fd >= 0 && entry->inode.mount->remote)
		fd = replace(entry, fd);
	if (fd >= 0)
		close(fd);
}

void pins_drop(struct inode_table *table, struct entry *entry)
{
	struct pins *pins = &table->pins;
	int fd;

	pthread_mutex_lock(&pins->lock);
	if (entry->is_listed)
		list_remove(list_of(table, entry), entry);
	pthread_mutex_unlock(&pins->lock);
	fd = atomic_load(&entry->fd);
	if (fd >= 0) {
		atomic_fetch_sub(&pins->count, 1);
		close(fd);
	}
	pthread_mutex_lock(&table->mounts.lock);
	if (entry->inode.mount->top == &entry->inode)
		entry->inode.mount->top = NULL;
	pthread_mutex_unlock(&table->mounts.lock);
}

int pins_hold(struct inode_table *table, struct entry *entry)
{
	int r = 0;

	entry_ref(entry);
	pin_use(&table->pins, entry);
	if (atomic_load(&entry->fd) < 0)
		r = pin_reopen(table, entry);
	if (r == 0)
		return atomic_load(&entry->fd);
	pins_release(table, entry);
	/* These errors are about names on the path, which the requester has not named. */
	return r == -ENOENT || r == -ENOTDIR || r == -EACCES ? -ESTALE : r;
}

void pins_release(struct inode_table *table, struct entry *entry)
{
	pin_unuse(entry);
	entry_unref(table, entry);
}

void pins_release_closed(struct inode_table *table, struct entry *entry, bool goes)
{
	int32_t only_us = 1;
	int fd;

	if (goes && atomic_compare_exchange_strong(&entry->users, &only_us, PINS_CLAIMED)) {
		pthread_mutex_lock(&table->pins.lock);
		if (entry->is_listed)
			list_remove(list_of(table, entry), entry);
		pthread_mutex_unlock(&table->pins.lock);
		fd = atomic_exchange(&entry->fd, -1);
		if (fd >= 0) {
			atomic_fetch_sub(&table->pins.count, 1);
			close(fd);
		}
		pin_unclaim(entry);
	} else {
		pin_unuse(entry);
	}
	entry_unref(table, entry);
}

bool pins_need_names(struct inode_table *table, const struct entry *entry)
{
	const struct pins *pins = &table->pins;

	return table->options.names || entry->inode.mount->remote || pins->root_dir < 0 ||
		atomic_load(&pins->any_gone) || pin_is_away(table, entry) ||
		atomic_load(&entry->inode.mount->no_handles) ||
		atomic_load(&pins->count) + SHARDS > pins->max;
}

/* ---- start and end ---- */

/* Opening a file by its handle needs CAP_DAC_READ_SEARCH: tries it with the source. */
static int open_root_dir(int root)
{
	char room[sizeof(struct file_handle) + MAX_HANDLE_SZ] = { 0 };
	struct file_handle *handle = (struct file_handle *)room;
	int dir = openat(root, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC), fd = -1, mount;

	handle->handle_bytes = MAX_HANDLE_SZ;
	if (dir >= 0 && name_to_handle_at(dir, "", handle, &mount, AT_EMPTY_PATH) == 0)
		fd = open_by_handle_at(dir, handle, O_PATH | O_CLOEXEC);
	if (fd < 0 && dir >= 0 && errno != EOPNOTSUPP) {
		close(dir);
		return -1;
	}
	if (fd >= 0)
		close(fd);
	return dir;
}

int pins_init(struct inode_table *table)
{
	struct pins *pins = &table->pins;
	struct rlimit limit;

	pthread_mutex_init(&pins->lock, NULL);
	if (getrlimit(RLIMIT_NOFILE, &limit) < 0 || limit.rlim_cur > MOST)
		limit.rlim_cur = MOST;
	pins->max = table->options.pins ? table->options.pins : limit.rlim_cur / 2;
	pins->last = (int)limit.rlim_cur - (int)pins_reserve(limit.rlim_cur);
	pins->root_dir = open_root_dir(table->options.root);
	return 0;
}

static void close_if_open(int fd)
{
	if (fd >= 0)
		close(fd);
}

void pins_finish(struct inode_table *table)
{
	struct pins *pins = &table->pins;

	pins_stop_sweeper(table);
	close_if_open(pins->stop);
	close_if_open(pins->root_dir);
}
