/* SPDX-License-Identifier: MIT */
#include "ftrac/inode.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/fd_path.h"
#include "db/event.h"
#include "db/ring.h"
#include "ftrac/inode_table.h"
#include "ftrac/pins.h"

/* How long the kernel may take to forget a removed file: it batches FORGET requests. */
#define FORGET_NS 50000000

#define KEY_SIZE (offsetof(struct inode, mount) - offsetof(struct inode, dev))
_Static_assert(KEY_SIZE == 3 * sizeof(uint64_t), "dev, ino and mount_id make the key");

/* ---- the table ---- */

struct shard *table_shard(struct inode_table *table, const struct inode *inode)
{
	uint64_t h = (inode->ino ^ inode->dev << 20 ^ inode->mount_id << 40) *
		0x9e3779b97f4a7c15u;

	return &table->shards[h >> 58];
}

static void emit_node(const struct inode_table *table, const struct inode *inode,
	const struct statx *sx)
{
	struct event ev = { .kind = EVENT_NODE };

	if (!table->options.ring)
		return;
	ev.u.node = (struct event_node){ .id = inode->id, .dev = inode->dev, .ino = inode->ino,
		.size = sx->stx_size, .mount = inode->mount->id, .mode = sx->stx_mode,
		.nlink = sx->stx_nlink, .birth_ns = birth_of(sx) };
	ring_push(table->options.ring, &ev, NULL, 0);
}

static void emit_forgotten(const struct inode_table *table, uint64_t id)
{
	struct event ev = { .kind = EVENT_FORGET, .u.node.id = id };

	if (table->options.ring)
		ring_push(table->options.ring, &ev, NULL, 0);
}

static void fill_inode(struct inode_table *table, struct inode *inode, const struct inode *near,
	const struct statx *sx, struct mount *mount)
{
	inode->id = atomic_fetch_add(&table->last_id, 1) + 1;
	inode->type = sx->stx_mode & S_IFMT;
	inode->dev = stat_device(sx);
	inode->ino = sx->stx_ino;
	inode->mount_id = sx->stx_mnt_id;
	inode->mount = mount;
	inode->device = near && near->dev == inode->dev ? near->device
		: mounts_device(&table->mounts, inode->dev);
}

/* Remembers one directory of each mount, to open others from it. */
static void set_top(struct inode_table *table, struct inode *inode)
{
	if (inode->type != S_IFDIR)
		return;
	pthread_mutex_lock(&table->mounts.lock);
	if (!inode->mount->top)
		inode->mount->top = inode;
	pthread_mutex_unlock(&table->mounts.lock);
}

static struct entry *make_entry(struct inode_table *table, const struct inode *near,
	const struct statx *sx, struct mount *mount, bool is_hidden_device)
{
	struct entry *entry = calloc(1, sizeof(*entry));

	if (!entry)
		return NULL;
	fill_inode(table, &entry->inode, near, sx, mount);
	entry->inode.is_hidden_device = is_hidden_device;
	entry->inode.never_replied = true;
	entry->birth_ns = birth_of(sx);
	entry->nlookup = 1;
	entry->refs = 1;
	entry->fd = -1;
	return entry;
}

/* Drops a reference. Frees the entry with the last one, and then possibly its parents. */
void entry_unref(struct inode_table *table, struct entry *entry)
{
	while (entry && atomic_fetch_sub(&entry->refs, 1) == 1) {
		struct entry *parent = entry->parent;

		pins_drop(table, entry);
		if (entry->is_lost)
			atomic_fetch_sub(&table->lost, 1);
		free(entry->name);
		free(entry->handle);
		entry_free_opened(entry);
		free(entry);
		entry = parent;
	}
}

static struct entry *find(struct shard *shard, const struct inode *key)
{
	struct entry *entry;

	HASH_FIND(hh, shard->entries, &key->dev, KEY_SIZE, entry);
	return entry;
}

static bool hash(struct shard *shard, struct entry *entry)
{
	HASH_ADD_KEYPTR(hh, shard->entries, &entry->inode.dev, KEY_SIZE, entry);
	entry->is_hashed = entry->hh.tbl != NULL;
	return entry->is_hashed;
}

static void unhash(struct shard *shard, struct entry *entry)
{
	if (entry->is_hashed)
		HASH_DEL(shard->entries, entry);
	if (entry->is_apart)
		HASH_DEL(shard->apart, entry);
	entry->is_hashed = entry->is_apart = false;
}

static void set_apart(struct shard *shard, struct entry *entry)
{
	unhash(shard, entry);
	HASH_ADD(hh, shard->apart, inode.id, sizeof(entry->inode.id), entry);
	entry->is_apart = entry->hh.tbl != NULL;
}

/* Called with its lock. Returns the old parent; the caller drops that reference without the
 * lock. */
static struct entry *set_name(struct entry *entry, struct entry *parent, const char *name)
{
	struct entry *old = entry->parent;

	if (parent == old && (!parent || strcmp(name, entry->name) == 0))
		return NULL;
	free(entry->name);
	entry->name = parent ? strdup(name) : NULL;
	entry->parent = entry->name ? parent : NULL;
	if (entry->parent)
		entry_ref(entry->parent);
	return old;
}

/* Like set_name(), after a lookup by that name. */
static struct entry *set_seen_name(struct entry *entry, struct entry *parent, const char *name)
{
	if (entry->parent && (entry->parent != parent || strcmp(entry->name, name) != 0))
		entry->had_names = true;
	return set_name(entry, parent, name);
}

/* The inode number was given to another file while ours had no open descriptor. */
static bool is_stale(const struct entry *entry, const struct statx *sx)
{
	return atomic_load(&entry->fd) < 0 && entry->birth_ns != birth_of(sx) &&
		(!entry->inode.mount->named || entry->digest != stat_digest(sx));
}

/*
 * The entry of a file, in use, with its lookup count raised by one. The event of a new entry is
 * pushed under the lock: no thread can use the entry before the writer knows it.
 */
static struct entry *get_entry(struct inode_table *table, struct inode *near, const char *name, int fd,
	const struct statx *sx, struct mount *mount)
{
	struct inode key = { .dev = stat_device(sx), .ino = sx->stx_ino, .mount_id = sx->stx_mnt_id };
	struct shard *shard = table_shard(table, &key);
	struct entry *entry, *old_parent = NULL;
	bool hidden = inode_hides_device(table, fd, sx->stx_mode);

	pthread_mutex_lock(&shard->lock);
	entry = find(shard, &key);
	/* The kernel never changes the device number of an inode. */
	if (entry && (is_stale(entry, sx) || entry->inode.is_hidden_device != hidden)) {
		set_apart(shard, entry);
		entry = NULL;
	}
	if (entry) {
		entry->nlookup++;
	} else if ((entry = make_entry(table, near, sx, mount, hidden)) && !hash(shard, entry)) {
		free(entry);
		entry = NULL;
	} else if (entry) {
		set_top(table, &entry->inode);
		emit_node(table, &entry->inode, sx);
	}
	if (entry) {
		entry_ref(entry);
		if (name && near)
			old_parent = set_seen_name(entry, entry_of(near), name);
	}
	pthread_mutex_unlock(&shard->lock);
	entry_unref(table, old_parent);
	return entry;
}

static bool is_root(const struct inode_table *table, const struct statx *sx)
{
	const struct inode *root = &table->root.inode;

	return sx->stx_ino == root->ino && sx->stx_mnt_id == root->mount_id &&
		stat_device(sx) == root->dev;
}

/* Takes over fd. */
static int take_fd(struct inode_table *table, struct inode *near, const char *name, int fd,
	struct inode **ret_inode, struct stat *ret_attr)
{
	struct statx sx;
	struct mount *mount;
	struct entry *entry = NULL;
	int r = table_stat(table, near, &fd, &sx, &mount);

	if (r == 0 && is_root(table, &sx)) {
		*ret_inode = &table->root.inode;
		r = inode_fill_attr(table, *ret_inode, fd, &sx, ret_attr);
		close(fd); /* reached through another mount */
		return r;
	}
	if (r == 0 && !(entry = get_entry(table, near, name, fd, &sx, mount)))
		r = -ENOMEM;
	if (r < 0) {
		if (fd >= 0)
			close(fd);
		return r;
	}
	inode_see_mode(&entry->inode, sx.stx_mode);
	r = inode_fill_attr(table, &entry->inode, fd, &sx, ret_attr);
	pins_install(table, entry, fd);
	if (r == 0)
		*ret_inode = &entry->inode;
	else
		inode_forget(table, &entry->inode, 1);
	entry_unref(table, entry); /* the lookup keeps it */
	return r;
}

int inode_lookup(struct inode_table *table, struct inode *parent, const char *name,
	struct inode **ret_inode, struct stat *ret_attr)
{
	int dir = inode_hold(table, parent), fd;

	if (dir < 0)
		return dir;
	fd = WITH_ROOM(table, openat(dir, name, O_PATH | O_NOFOLLOW | O_CLOEXEC));
	if (fd >= 0)
		fd = take_fd(table, parent, name, fd, ret_inode, ret_attr);
	inode_release(table, parent);
	return fd;
}

int inode_from_fd(struct inode_table *table, struct inode *parent, const char *name, int fd,
	struct inode **ret_inode, struct stat *ret_attr)
{
	int pin = WITH_ROOM(table, open(fd_path(fd).text, O_PATH | O_CLOEXEC));

	return pin < 0 ? pin : take_fd(table, parent, name, pin, ret_inode, ret_attr);
}

void inode_separate(struct inode_table *table, struct inode *inode)
{
	struct shard *shard = table_shard(table, inode);

	pthread_mutex_lock(&shard->lock);
	set_apart(shard, entry_of(inode));
	pthread_mutex_unlock(&shard->lock);
	atomic_store(&inode->is_backed, true); /* it also changes through the other inode */
}

void inode_add_lookup(struct inode_table *table, struct inode *inode)
{
	struct shard *shard = table_shard(table, inode);

	pthread_mutex_lock(&shard->lock);
	entry_of(inode)->nlookup++;
	entry_of(inode)->had_names = true;
	pthread_mutex_unlock(&shard->lock);
}

void inode_forget(struct inode_table *table, struct inode *inode, uint64_t n)
{
	struct entry *entry = entry_of(inode);
	struct shard *shard = table_shard(table, inode);
	bool gone;

	if (entry == &table->root)
		return;
	pthread_mutex_lock(&shard->lock);
	entry->nlookup -= n < entry->nlookup ? n : entry->nlookup;
	gone = entry->nlookup == 0;
	if (gone) {
		unhash(shard, entry);
		emit_forgotten(table, inode->id);
	}
	pthread_mutex_unlock(&shard->lock);
	if (gone)
		entry_unref(table, entry);
}

/*
 * A node id goes to the kernel and returns in another thread. The kernel orders the two; this fence
 * orders them for the C memory model.
 */
struct inode *inode_of(const struct inode_table *table, uint64_t nodeid)
{
	atomic_load_explicit(&table->handed_over, memory_order_acquire);
	return nodeid == NODE_ROOT ? (struct inode *)&table->root.inode
				   : (struct inode *)(uintptr_t)nodeid;
}

uint64_t inode_nodeid(struct inode_table *table, const struct inode *inode)
{
	atomic_fetch_add_explicit(&table->handed_over, 1, memory_order_release);
	return inode == &table->root.inode ? NODE_ROOT : (uintptr_t)inode;
}

int inode_hold(struct inode_table *table, struct inode *inode)
{
	return pins_hold(table, entry_of(inode));
}

void inode_release(struct inode_table *table, struct inode *inode)
{
	pins_release(table, entry_of(inode));
}

bool inode_make_room(struct inode_table *table)
{
	return pins_make_room(table);
}

int inode_keep(struct inode_table *table, int fd)
{
	return pins_keep(table, fd);
}

/* ---- names ---- */

/*
 * Finds the entry of the file that a name in dir leads to ("": of dir itself), with a reference;
 * NULL if there is none.
 */
static struct entry *find_at(struct inode_table *table, int dir, const char *name)
{
	const int flags = AT_EMPTY_PATH | AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT | AT_STATX_DONT_SYNC;
	struct statx sx;
	struct inode key;
	struct shard *shard;
	struct entry *entry;

	if (statx(dir, name, flags, STATX_WANTED, &sx) < 0)
		return NULL;
	if (is_root(table, &sx)) {
		entry_ref(&table->root);
		return &table->root;
	}
	key = (struct inode){ .dev = stat_device(&sx), .ino = sx.stx_ino,
		.mount_id = sx.stx_mnt_id };
	shard = table_shard(table, &key);
	pthread_mutex_lock(&shard->lock);
	entry = find(shard, &key);
	if (entry && is_stale(entry, &sx))
		entry = NULL;
	if (entry)
		entry_ref(entry);
	pthread_mutex_unlock(&shard->lock);
	return entry;
}

struct inode *inode_hold_child(struct inode_table *table, struct inode *parent, const char *name)
{
	return pins_need_names(table, entry_of(parent)) ? inode_hold_removed(table, parent, name) : NULL;
}

struct inode *inode_hold_removed(struct inode_table *table, struct inode *parent, const char *name)
{
	struct entry *entry;
	struct inode *child = NULL;
	int dir = inode_hold(table, parent);

	if (dir < 0)
		return NULL;
	entry = find_at(table, dir, name);
	inode_release(table, parent);
	if (entry && entry != &table->root && inode_hold(table, &entry->inode) >= 0)
		child = &entry->inode;
	entry_unref(table, entry); /* the hold keeps it */
	return child;
}

/*
 * Called with the lock, after a name of a file without links was removed. Whether the file is gone. Then a remote
 * file system may give its inode number to another file, in spite of our descriptor.
 */
static bool is_gone(const struct entry *entry)
{
	return !entry->parent && !(entry->opened && entry->opened->links);
}

/*
 * On a remote file system a descriptor may stand for the removed name, not for the file: another name may be left.
 * If none can be, FUSE answers what it makes of a file without any. (NFS would keep the file under a name of its own,
 * and its directory could not be removed.)
 */
static bool may_keep(const struct entry *entry, bool gone)
{
	const struct mount *mount = entry->inode.mount;

	return !mount->remote || (gone && mount->fuse && !entry->had_names);
}

void inode_name_removed(struct inode_table *table, struct inode *child, struct inode *parent,
	const char *name)
{
	struct shard *shard = table_shard(table, child);
	struct entry *entry = entry_of(child), *old = NULL;
	bool gone = child->mount->remote && inode_has_no_links(atomic_load(&entry->fd)), keep;

	pthread_mutex_lock(&shard->lock);
	if (entry->parent == entry_of(parent) && strcmp(entry->name, name) == 0)
		old = set_name(entry, NULL, NULL);
	if (!entry->is_lost)
		atomic_fetch_add(&table->lost, 1);
	entry->is_lost = true;
	gone = gone && is_gone(entry);
	if (gone && entry->is_hashed)
		set_apart(shard, entry);
	keep = may_keep(entry, gone);
	pthread_mutex_unlock(&shard->lock);
	entry_unref(table, old);
	pins_release_closed(table, entry, !keep);
}

void inode_freed(struct inode_table *table)
{
	atomic_store_explicit(&table->freed_ns, clock_now_ns(), memory_order_relaxed);
}

bool inode_wait_for_space(struct inode_table *table, unsigned turn)
{
	int64_t freed_ns = atomic_load_explicit(&table->freed_ns, memory_order_relaxed);
	bool just_now = freed_ns && clock_now_ns() - freed_ns < FORGET_NS;

	if (turn == 20 || (!just_now && !atomic_load(&table->lost)))
		return false;
	usleep(1000);
	return true;
}

void inode_name_changed(struct inode_table *table, struct inode *child, struct inode *parent,
	const char *name)
{
	struct shard *shard = table_shard(table, child);
	struct entry *old;

	pthread_mutex_lock(&shard->lock);
	old = set_name(entry_of(child), entry_of(parent), name);
	pthread_mutex_unlock(&shard->lock);
	entry_unref(table, old);
	inode_release(table, child);
}

/* Writes "/name" in front of *at. Returns the parent with a reference; NULL if there is no room or
 * no parent. */
static struct entry *prepend(struct inode_table *table, struct entry *entry, const char *start,
	char **at, int *ret_error)
{
	struct shard *shard = table_shard(table, &entry->inode);
	struct entry *parent;
	size_t len;

	pthread_mutex_lock(&shard->lock);
	parent = entry->parent;
	len = parent ? strlen(entry->name) : 0;
	if (!parent) {
		*ret_error = -ENOENT;
	} else if ((size_t)(*at - start) < len + 1) {
		*ret_error = -ENAMETOOLONG;
		parent = NULL;
	} else {
		*at -= len;
		memcpy(*at, entry->name, len);
		*--*at = '/';
		entry_ref(parent);
	}
	pthread_mutex_unlock(&shard->lock);
	return parent;
}

int inode_path(struct inode_table *table, struct inode *inode, char *out, size_t size)
{
	struct entry *entry = entry_of(inode), *parent;
	char *at = out + size - 1;
	int error = 0;
	size_t len;

	*at = '\0';
	entry_ref(entry);
	while (entry && entry != &table->root) {
		parent = prepend(table, entry, out, &at, &error);
		entry_unref(table, entry);
		entry = parent;
	}
	if (!entry)
		return error;
	entry_unref(table, entry);
	if (!*at)
		*--at = '/';
	len = out + size - 1 - at;
	memmove(out, at, len + 1);
	return len;
}

/* ---- start and end ---- */

void inode_own_mount(struct inode_table *table, dev_t dev, bool nosuid, bool nodev)
{
	table->own_dev = dev;
	table->own_nosuid = nosuid;
	table->own_nodev = nodev;
}

int inode_table_start_sweeper(struct inode_table *table)
{
	return pins_start_sweeper(table);
}

void inode_table_stop_sweeper(struct inode_table *table)
{
	if (table)
		pins_stop_sweeper(table);
}

static int open_root(struct inode_table *table)
{
	struct entry *root = &table->root;
	struct statx sx;
	struct mount *mount;

	if (statx(table->options.root, "", AT_EMPTY_PATH, STATX_WANTED, &sx) < 0)
		return -errno;
	mount = mounts_get(&table->mounts, sx.stx_mnt_id, table->options.root);
	if (!mount)
		return -ENOMEM;
	fill_inode(table, &root->inode, NULL, &sx, mount);
	root->birth_ns = birth_of(&sx);
	root->nlookup = 1;
	root->refs = 1;
	root->fd = table->options.root;
	emit_node(table, &root->inode, &sx);
	return pins_init(table);
}

int inode_table_create(const struct inode_options *options, struct inode_table **ret_table)
{
	struct inode_table *table = aligned_alloc(64, sizeof(*table));
	int r;

	if (!table)
		return -ENOMEM;
	memset(table, 0, sizeof(*table));
	table->options = *options;
	table->pins.root_dir = table->pins.stop = -1;
	mounts_init(&table->mounts, options->ring);
	for (int i = 0; i < SHARDS; i++)
		pthread_mutex_init(&table->shards[i].lock, NULL);
	r = open_root(table); /* the first entry, so its id is NODE_ROOT */
	if (r < 0) {
		inode_table_destroy(table);
		return r;
	}
	*ret_table = table;
	return 0;
}

static void close_left(struct inode_table *table, struct entry *entry)
{
	struct open_link *link;

	while (table->options.left_open && entry->opened && (link = entry->opened->links)) {
		entry->opened->links = link->next;
		table->options.left_open(link);
		entry_unref(table, entry);
	}
}

void inode_table_destroy(struct inode_table *table)
{
	struct entry *e;

	if (!table)
		return;
	pins_finish(table);
	for (int i = 0; i < SHARDS; i++) {
		while ((e = table->shards[i].entries) || (e = table->shards[i].apart)) {
			unhash(&table->shards[i], e);
			close_left(table, e);
			entry_unref(table, e);
		}
	}
	mounts_finish(&table->mounts);
	close(table->options.root);
	if (table->options.covered >= 0)
		close(table->options.covered);
	free(table);
}
