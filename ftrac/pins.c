/* SPDX-License-Identifier: MIT */
#include "ftrac/pins.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "ftrac/inode_table.h"

#define MOST (1u << 30)
#define RESERVE 64 /* descriptors: for as many requests at once when all others are kept */
#define MAX_DEPTH 100000 /* of directories; names that lead in a circle are deeper */

/* ---- in use ---- */

/* Waits for who lets it go right now: some microseconds. */
static void use(struct pins *pins, struct entry *entry)
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

static void unuse(struct entry *entry)
{
	atomic_fetch_sub(&entry->users, 1);
}

static bool is_away(const struct inode_table *table, const struct entry *entry)
{
	return entry->inode.mount_id != table->root.inode.mount_id;
}

/* ---- the lists: circles, the head is next ---- */

static struct entry **list_of(struct inode_table *table, const struct entry *entry)
{
	return is_away(table, entry) ? &table->pins.away : &table->pins.home;
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

/* ---- letting go ---- */

/* One more reference, unless there is none left: it is being freed. */
static bool try_ref(struct entry *entry)
{
	uint32_t refs = atomic_load(&entry->refs);

	while (refs > 0)
		if (atomic_compare_exchange_weak(&entry->refs, &refs, refs + 1))
			return true;
	return false;
}

/* With the lock: nobody can use it from here on. */
static bool claim(struct inode_table *table, struct entry *entry)
{
	int32_t nobody = 0;

	if (!try_ref(entry))
		return false;
	if (atomic_compare_exchange_strong(&entry->users, &nobody, PINS_CLAIMED)) {
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

static bool has_name_or_file(struct inode_table *table, struct entry *entry, bool *ret_open)
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
uint64_t looks_of(const struct statx *sx)
{
	const uint64_t looks[] = { sx->stx_mode, sx->stx_uid, sx->stx_gid, sx->stx_size,
		sx->stx_mtime.tv_sec, sx->stx_mtime.tv_nsec };
	uint64_t hash = 14695981039346656037u;

	for (size_t i = 0; i < sizeof(looks) / sizeof(looks[0]); i++)
		hash = (hash ^ looks[i]) * 1099511628211u;
	return hash;
}

enum fate { GOES, STAYS, WAS_REMOVED };

static enum fate judge(struct inode_table *table, struct entry *entry, int fd)
{
	struct statx sx;
	bool is_open, has_way = has_name_or_file(table, entry, &is_open);

	if (is_open)
		return GOES;
	if (statx(fd, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, STATX_BASIC_STATS, &sx) < 0)
		return STAYS;
	if (sx.stx_nlink == 0)
		return WAS_REMOVED;
	entry->looks = looks_of(&sx);
	make_handle(table, entry, fd);
	return has_way || entry->handle ? GOES : STAYS;
}

static void unclaim(struct entry *entry)
{
	atomic_store(&entry->users, 0);
}

static void put_back(struct inode_table *table, struct entry *entry)
{
	pthread_mutex_lock(&table->pins.lock);
	list_add(list_of(table, entry), entry);
	pthread_mutex_unlock(&table->pins.lock);
	unclaim(entry);
}

/* A claimed one; with its reference still. */
static enum fate let_go(struct inode_table *table, struct entry *entry)
{
	struct pins *pins = &table->pins;
	int fd = atomic_load(&entry->fd);
	enum fate fate = judge(table, entry, fd);

	if (fate != GOES) {
		put_back(table, entry);
		return fate;
	}
	atomic_store(&pins->any_gone, true);
	atomic_fetch_sub(&pins->count, 1);
	atomic_store(&entry->fd, -1);
	close(fd);
	unclaim(entry);
	return GOES;
}

/* The clock: the next of the list that has not been held since the hand came by, claimed. */
static struct entry *next_victim(struct inode_table *table, struct entry **head, unsigned tries)
{
	struct entry *entry;

	for (; tries && *head; tries--, *head = (*head)->next) {
		entry = *head;
		if (!atomic_exchange(&entry->referenced, false) && claim(table, entry))
			return entry;
	}
	return NULL;
}

bool pins_make_room(struct inode_table *table)
{
	struct pins *pins = &table->pins;
	int saved = errno;
	enum fate fate = STAYS;
	struct entry *victim;

	/* Some have to stay; a few of them in a row do not mean that all have. */
	for (int i = 0; i < 64 && fate != GOES; i++) {
		unsigned tries = 2 * atomic_load(&pins->count) + 2;

		pthread_mutex_lock(&pins->lock);
		victim = next_victim(table, &pins->home, tries);
		if (!victim)
			victim = next_victim(table, &pins->away, tries);
		pthread_mutex_unlock(&pins->lock);
		if (!victim)
			break;
		fate = let_go(table, victim);
		entry_unref(table, victim);
	}
	errno = saved;
	return fate == GOES;
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

/* ---- getting one ---- */

/* Unless it is used: the descriptor that is to be closed. */
static int replace(struct entry *entry, int fd)
{
	int32_t nobody = 0;

	if (!atomic_compare_exchange_strong(&entry->users, &nobody, PINS_CLAIMED))
		return fd;
	if (atomic_load(&entry->fd) >= 0)
		fd = atomic_exchange(&entry->fd, fd);
	unclaim(entry);
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
	use(pins, entry);
	if (atomic_compare_exchange_strong(&entry->fd, &none, fd)) {
		pthread_mutex_lock(&pins->lock);
		list_add(list_of(table, entry), entry);
		pthread_mutex_unlock(&pins->lock);
		atomic_fetch_add(&pins->count, 1);
		while (atomic_load(&pins->count) > pins->max && pins_make_room(table))
			;
		fd = -1;
	}
	unuse(entry);
	/* Far away a descriptor may not have kept the number from being given to another file. */
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

/* ---- coming back ---- */

static bool is_same(const struct entry *entry, const struct statx *sx)
{
	const struct inode *inode = &entry->inode;

	if (inode->mount->named)
		return (sx->stx_mode & S_IFMT) == inode->type &&
			(inode->mount->proc || looks_of(sx) == entry->looks ||
				(sx->stx_ino == inode->ino && birth_of(sx) == entry->birth_ns));
	return sx->stx_ino == inode->ino && birth_of(sx) == entry->birth_ns &&
		makedev(sx->stx_dev_major, sx->stx_dev_minor) == inode->dev;
}

/* fd, or what is to stand in its place, if it is our file; else it is closed. */
static int check(struct inode_table *table, const struct entry *entry, int fd)
{
	struct statx sx;
	struct mount *mount;
	int r = fd;

	if (fd >= 0)
		r = table_look(table, &entry->inode, &fd, &sx, &mount);
	if (r == 0 && !is_same(entry, &sx))
		r = -ESTALE;
	if (r < 0 && fd >= 0)
		close(fd);
	return r < 0 ? r : fd;
}

/* As open(2). */
static int by_file(struct inode_table *table, struct entry *entry)
{
	struct shard *shard = table_shard(table, &entry->inode);
	char path[32];
	int fd = -1;

	errno = ESTALE;
	pthread_mutex_lock(&shard->lock);
	if (entry->opened && entry->opened->links) {
		snprintf(path, sizeof(path), "/proc/self/fd/%d", entry->opened->links->fd);
		fd = open(path, O_PATH | O_CLOEXEC);
	}
	pthread_mutex_unlock(&shard->lock);
	return fd;
}

static int by_handle(struct inode_table *table, struct entry *entry);

struct step {
	struct entry *entry; /* with a reference */
	char *name;
};

struct way {
	struct step *steps; /* from the file up */
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

/* Name and parent of the way's last step, the parent with a reference. */
static int step_up(struct inode_table *table, struct step *step, struct entry **ret_parent)
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

static struct step *add_step(struct way *way, struct entry *entry)
{
	struct step *grown = realloc(way->steps, (way->n + 1) * sizeof(*grown));

	if (!grown)
		return NULL;
	way->steps = grown;
	grown[way->n] = (struct step){ .entry = entry };
	return &grown[way->n++];
}

/* Whether it has a descriptor, or could be given one by its handle; it is in use. */
static bool is_open_now(struct inode_table *table, struct entry *entry)
{
	int fd;

	if (atomic_load(&entry->fd) >= 0)
		return true;
	if (is_away(table, entry)) /* its mount would have to be found first, by names */
		return false;
	fd = by_handle(table, entry);
	if (fd >= 0)
		pins_install(table, entry, fd);
	return fd >= 0;
}

/* The names from the next directory that has a descriptor, which is then in use and referenced. */
static int find_way(struct inode_table *table, struct entry *entry, struct way *way,
	struct entry **ret_start)
{
	struct entry *at = entry, *parent;
	int r = 0;

	entry_ref(at);
	for (; way->n < MAX_DEPTH; at = parent) {
		struct step *step = add_step(way, at);

		if (!step) {
			entry_unref(table, at);
			return -ENOMEM;
		}
		r = step_up(table, step, &parent);
		if (r < 0)
			return r;
		use(&table->pins, parent);
		if (is_open_now(table, parent)) {
			*ret_start = parent;
			return 0;
		}
		unuse(parent);
	}
	entry_unref(table, at);
	return -ESTALE;
}

/* Opens each step and gives it its descriptor; that of the last. */
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
			unuse(at);
			return fd;
		}
		use(&table->pins, next);
		pins_install(table, next, fd);
		fd = atomic_load(&next->fd);
		unuse(at);
	}
	unuse(at);
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

/* A descriptor on the mount that is good for open_by_handle_at(2), where an O_PATH one is not. */
static int open_mount(struct inode_table *table, struct entry *entry)
{
	struct mount *mount = entry->inode.mount;
	struct entry *top = NULL;
	int fd;

	if (!is_away(table, entry))
		return fcntl(table->pins.root_dir, F_DUPFD_CLOEXEC, 3);
	pthread_mutex_lock(&table->mounts.lock);
	if (mount->top && mount->top != &entry->inode && try_ref(entry_of(mount->top)))
		top = entry_of(mount->top);
	pthread_mutex_unlock(&table->mounts.lock);
	if (!top)
		return -1;
	use(&table->pins, top);
	if (atomic_load(&top->fd) < 0)
		by_name(table, top);
	fd = openat(atomic_load(&top->fd), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	unuse(top);
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

/* 0 or -errno. */
static int come_back(struct inode_table *table, struct entry *entry)
{
	int fd = WITH_ROOM(table, by_file(table, entry));

	if (fd < 0)
		fd = by_handle(table, entry);
	if (fd < 0) /* gives each directory on the way its descriptor, too */
		return by_name(table, entry);
	pins_install(table, entry, fd);
	return 0;
}

int pins_hold(struct inode_table *table, struct entry *entry)
{
	int r = 0;

	entry_ref(entry);
	use(&table->pins, entry);
	if (atomic_load(&entry->fd) < 0)
		r = come_back(table, entry);
	if (r == 0)
		return atomic_load(&entry->fd);
	pins_release(table, entry);
	/* These are about names on the way, which nobody has asked for. */
	return r == -ENOENT || r == -ENOTDIR || r == -EACCES ? -ESTALE : r;
}

void pins_release(struct inode_table *table, struct entry *entry)
{
	unuse(entry);
	entry_unref(table, entry);
}

void pins_release_for_good(struct inode_table *table, struct entry *entry, bool goes)
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
		unclaim(entry);
	} else {
		unuse(entry);
	}
	entry_unref(table, entry);
}

bool pins_need_names(struct inode_table *table, const struct entry *entry)
{
	const struct pins *pins = &table->pins;

	return table->options.names || entry->inode.mount->remote || pins->root_dir < 0 || atomic_load(&pins->any_gone) || is_away(table, entry) ||
		atomic_load(&entry->inode.mount->no_handles) ||
		atomic_load(&pins->count) + SHARDS > pins->max;
}

/* ---- the sweeper ---- */

#define SWEEP 256
#define TICK_MS 250

/* Claims those that were not held during the last full tick. */
static size_t claim_idle(struct inode_table *table, struct entry **ret_idle)
{
	struct pins *pins = &table->pins;
	struct entry *entry, *next, *last;
	uint32_t now = atomic_load(&pins->now);
	size_t n = 0;

	pthread_mutex_lock(&pins->lock);
	entry = pins->away;
	last = entry ? entry->prev : NULL;
	for (bool more = entry; more && n < SWEEP; entry = next) {
		more = entry != last;
		next = entry->next;
		if (now - atomic_load(&entry->used) > 1 && claim(table, entry))
			ret_idle[n++] = entry;
	}
	pthread_mutex_unlock(&pins->lock);
	return n;
}

/* The kernel waits for requests to do this: not while any entry is claimed. */
static void tell_removed(struct inode_table *table, struct entry *entry)
{
	struct step step = { .entry = entry };
	struct entry *parent;

	if (step_up(table, &step, &parent) == 0) {
		table->options.removed(table->options.arg,
			inode_nodeid(table, &parent->inode), step.name);
		entry_unref(table, parent);
	}
	free(step.name);
}

/* A part of all at each tick, round and round. */
static size_t claim_some(struct inode_table *table, struct entry **ret_some)
{
	struct pins *pins = &table->pins;
	unsigned count = atomic_load(&pins->count);
	size_t n = 0;

	pthread_mutex_lock(&pins->lock);
	for (unsigned i = 0; i < SWEEP && i < count && pins->home; i++) {
		struct entry *entry = pins->home;

		pins->home = entry->next;
		if (claim(table, entry))
			ret_some[n++] = entry;
	}
	pthread_mutex_unlock(&pins->lock);
	return n;
}

/* Tells of those that were removed; gives all references back. */
static void finish_sweep(struct inode_table *table, struct entry **entries,
	const enum fate *fates, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (fates[i] == WAS_REMOVED && table->options.removed)
			tell_removed(table, entries[i]);
		entry_unref(table, entries[i]);
	}
}

/* As judge(), without preparing for more. */
static bool is_removed(struct inode_table *table, struct entry *entry)
{
	struct statx sx;
	bool is_open;

	has_name_or_file(table, entry, &is_open);
	return !is_open && statx(atomic_load(&entry->fd), "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC,
		STATX_NLINK, &sx) == 0 && sx.stx_nlink == 0;
}

static void look_for_removed(struct inode_table *table)
{
	struct entry *some[SWEEP];
	enum fate fates[SWEEP];
	size_t n = table->options.removed ? claim_some(table, some) : 0;

	for (size_t i = 0; i < n; i++) {
		fates[i] = is_removed(table, some[i]) ? WAS_REMOVED : STAYS;
		put_back(table, some[i]);
	}
	finish_sweep(table, some, fates, n);
}

static void sweep_away(struct inode_table *table)
{
	struct entry *idle[SWEEP];
	enum fate fates[SWEEP];
	size_t n, gone;

	do {
		n = claim_idle(table, idle);
		gone = 0;
		for (size_t i = 0; i < n; i++) {
			fates[i] = let_go(table, idle[i]);
			gone += fates[i] == GOES;
		}
		finish_sweep(table, idle, fates, n);
	} while (n == SWEEP && gone);
}

/* Until the next tick; also listens for mounts of the host.  False: it is the end. */
static bool wait_for_tick(struct inode_table *table)
{
	struct pins *pins = &table->pins;
	struct pollfd fds[] = { { .fd = pins->stop, .events = POLLIN },
		{ .fd = pins->mountinfo, .events = POLLPRI } };
	int n = poll(fds, pins->mountinfo < 0 ? 1 : 2, TICK_MS);

	if (n > 0 && fds[0].revents)
		return false;
	if (n > 0)
		table_mounts_changed(table);
	return true;
}

static void *sweep(void *arg)
{
	struct inode_table *table = arg;

	while (wait_for_tick(table)) {
		atomic_fetch_add(&table->pins.now, 1);
		sweep_away(table);
		look_for_removed(table);
	}
	return NULL;
}

/* ---- start and end ---- */

/* Only with CAP_DAC_READ_SEARCH may one open a file by its handle: tried with the source itself. */
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
	pins->last = (int)limit.rlim_cur - RESERVE;
	pins->root_dir = open_root_dir(table->options.root);
	return 0;
}

int pins_start_sweeper(struct inode_table *table)
{
	struct pins *pins = &table->pins;
	sigset_t all, old;
	int r;

	pins->stop = eventfd(0, EFD_CLOEXEC);
	if (pins->stop < 0)
		return -errno;
	pins->mountinfo = open("/proc/self/mountinfo", O_RDONLY | O_CLOEXEC);
	table_mounts_changed(table); /* for what there is now */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	r = -pthread_create(&pins->sweeper, NULL, sweep, table);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	pins->has_sweeper = r == 0;
	return r;
}

void pins_stop_sweeper(struct inode_table *table)
{
	struct pins *pins = &table->pins;

	if (!pins->has_sweeper)
		return;
	eventfd_write(pins->stop, 1);
	pthread_join(pins->sweeper, NULL);
	pins->has_sweeper = false;
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
	close_if_open(pins->mountinfo);
	close_if_open(pins->root_dir);
}
