/* SPDX-License-Identifier: MIT */
#include "ftrac/inode.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <unistd.h>
#include <uthash.h>

#include "base/cleanup.h"
#include "db/event.h"
#include "db/ring.h"

#define SHARDS 64 /* fewer threads than that ever run at once */

#define STATX_WANTED (STATX_BASIC_STATS | STATX_BTIME | STATX_MNT_ID)

struct key {
	uint64_t dev, ino, mount;
};

/* An inode as the table keeps it. */
struct entry {
	struct inode inode;
	struct key key;
	uint64_t nlookup;
	UT_hash_handle hh;
};

struct shard {
	pthread_mutex_t lock;
	struct entry *entries;
} __attribute__((aligned(64)));

struct inode_table {
	struct inode_options options;
	struct entry root;
	dev_t own_dev;
	_Atomic uint64_t last_id;
	pthread_mutex_t places_lock; /* of mounts and devices */
	struct mount *mounts;
	dev_t *devices;
	unsigned n_devices;
	struct shard shards[SHARDS];
};

/* ---- mounts and devices ---- */

struct mount_line {
	uint64_t id;
	char path[4096], fstype[64];
};

/* One line of mountinfo: "36 35 98:0 /root /mount/point options - type source options". */
static bool parse_mount_line(const char *line, struct mount_line *ret_line)
{
	const char *dash = strstr(line, " - ");
	unsigned long id;

	if (!dash || sscanf(line, "%lu %*u %*s %*s %4095s", &id, ret_line->path) != 2)
		return false;
	ret_line->id = id;
	return sscanf(dash, " - %63s", ret_line->fstype) == 1;
}

/* mountinfo writes space, tab, newline and backslash as octal. */
static void unescape(char *text)
{
	char *out = text;

	for (const char *in = text; *in; in++) {
		if (in[0] == '\\' && in[1] >= '0' && in[1] <= '3' && in[2] && in[3]) {
			*out++ = (in[1] - '0') << 6 | (in[2] - '0') << 3 | (in[3] - '0');
			in += 3;
		} else {
			*out++ = *in;
		}
	}
	*out = '\0';
}

static bool read_mount(uint64_t id, struct mount_line *ret_line)
{
	cleanup_file FILE *f = fopen("/proc/self/mountinfo", "re");
	cleanup_free char *line = NULL;
	size_t room = 0;

	while (f && getline(&line, &room, f) > 0)
		if (parse_mount_line(line, ret_line) && ret_line->id == id) {
			unescape(ret_line->path);
			return true;
		}
	return false;
}

static bool is_one_of(const char *name, const char *const *names)
{
	for (; *names; names++)
		if (strcmp(name, *names) == 0)
			return true;
	return false;
}

static bool is_remote(const char *fstype)
{
	static const char *const remote[] = { "nfs", "nfs4", "cifs", "smb3", "9p", "ceph", "afs",
		"lustre", "gpfs", "beegfs", "orangefs", "ocfs2", "gfs2", "virtiofs", NULL };

	return strncmp(fstype, "fuse", 4) == 0 || is_one_of(fstype, remote);
}

static bool is_pseudo(const char *fstype)
{
	static const char *const pseudo[] = { "proc", "sysfs", "cgroup", "cgroup2", "debugfs",
		"tracefs", "securityfs", "fusectl", "configfs", NULL };

	return is_one_of(fstype, pseudo);
}

static void tell_mount(const struct inode_table *table, const struct mount_line *line)
{
	struct event ev = { .kind = EVENT_MOUNT, .u.mount.id = line->id };
	char text[sizeof(line->fstype) + sizeof(line->path)];
	int n;

	if (!table->options.ring)
		return;
	n = snprintf(text, sizeof(text), "%s", line->fstype) + 1;
	n += snprintf(text + n, sizeof(text) - n, "%s", line->path) + 1;
	ring_push(table->options.ring, &ev, text, n);
}

/* With places_lock held. */
static struct mount *add_mount(struct inode_table *table, uint64_t id)
{
	struct mount *mount = calloc(1, sizeof(*mount));
	struct mount_line line = { 0 };

	if (!mount)
		return NULL;
	mount->id = id;
	mount->remote = true; /* of what is not listed we do not know better */
	if (read_mount(id, &line)) {
		mount->remote = is_remote(line.fstype);
		mount->pseudo = is_pseudo(line.fstype);
		tell_mount(table, &line);
	}
	mount->next = table->mounts;
	table->mounts = mount;
	return mount;
}

static const struct mount *get_mount(struct inode_table *table, const struct inode *near,
	uint64_t id)
{
	struct mount *mount;

	if (near && near->mount->id == id)
		return near->mount;
	pthread_mutex_lock(&table->places_lock);
	for (mount = table->mounts; mount && mount->id != id; mount = mount->next)
		;
	if (!mount)
		mount = add_mount(table, id);
	pthread_mutex_unlock(&table->places_lock);
	return mount;
}

static unsigned get_device(struct inode_table *table, const struct inode *near, dev_t dev)
{
	unsigned i;

	if (near && near->dev == dev)
		return near->device;
	pthread_mutex_lock(&table->places_lock);
	for (i = 0; i < table->n_devices && table->devices[i] != dev; i++)
		;
	if (i == table->n_devices) {
		dev_t *grown = realloc(table->devices, (i + 1) * sizeof(*grown));

		if (grown) {
			table->devices = grown;
			grown[table->n_devices++] = dev;
		}
	}
	pthread_mutex_unlock(&table->places_lock);
	return i;
}

ino_t inode_number(unsigned device, ino_t ino)
{
	return ino + ((ino_t)device << 48);
}

/* ---- attributes ---- */

static struct timespec time_of(const struct statx_timestamp *t)
{
	return (struct timespec){ .tv_sec = t->tv_sec, .tv_nsec = t->tv_nsec };
}

static dev_t device_of(const struct statx *sx)
{
	return makedev(sx->stx_dev_major, sx->stx_dev_minor);
}

static void fill_attr(const struct statx *sx, unsigned device, struct stat *ret_attr)
{
	*ret_attr = (struct stat){
		.st_dev = device_of(sx),
		.st_ino = inode_number(device, sx->stx_ino),
		.st_mode = sx->stx_mode,
		.st_nlink = sx->stx_nlink,
		.st_uid = sx->stx_uid,
		.st_gid = sx->stx_gid,
		.st_rdev = makedev(sx->stx_rdev_major, sx->stx_rdev_minor),
		.st_size = sx->stx_size,
		.st_blksize = sx->stx_blksize,
		.st_blocks = sx->stx_blocks,
		.st_atim = time_of(&sx->stx_atime),
		.st_mtim = time_of(&sx->stx_mtime),
		.st_ctim = time_of(&sx->stx_ctime),
	};
}

static void see_mode(struct inode *inode, mode_t mode)
{
	bool special = S_ISREG(mode) && (mode & (S_ISUID | S_ISGID));

	if (atomic_load_explicit(&inode->special, memory_order_relaxed) != special)
		atomic_store_explicit(&inode->special, special, memory_order_relaxed);
}

int inode_stat(struct inode *inode, int fd, struct stat *ret_attr)
{
	struct statx sx;

	if (statx(fd >= 0 ? fd : inode->fd, "", AT_EMPTY_PATH | AT_SYMLINK_NOFOLLOW,
		    STATX_BASIC_STATS, &sx) < 0)
		return -errno;
	see_mode(inode, sx.stx_mode);
	fill_attr(&sx, inode->device, ret_attr);
	return 0;
}

/* ---- the table ---- */

static struct shard *shard_of(struct inode_table *table, const struct key *key)
{
	uint64_t h = (key->ino ^ key->dev << 20 ^ key->mount << 40) * 0x9e3779b97f4a7c15u;

	return &table->shards[h >> 58];
}

static void tell_node(const struct inode_table *table, const struct inode *inode,
	const struct statx *sx)
{
	struct event ev = { .kind = EVENT_NODE };

	if (!table->options.ring)
		return;
	ev.u.node = (struct event_node){ .id = inode->id, .dev = inode->dev, .ino = inode->ino,
		.size = sx->stx_size, .mount = inode->mount->id, .mode = sx->stx_mode,
		.nlink = sx->stx_nlink };
	if (sx->stx_mask & STATX_BTIME)
		ev.u.node.birth_ns = sx->stx_btime.tv_sec * 1000000000 + sx->stx_btime.tv_nsec;
	ring_push(table->options.ring, &ev, NULL, 0);
}

static int fill_inode(struct inode_table *table, const struct inode *near, int fd,
	const struct statx *sx, struct inode *inode)
{
	inode->id = atomic_fetch_add(&table->last_id, 1) + 1;
	inode->fd = fd;
	inode->type = sx->stx_mode & S_IFMT;
	inode->dev = device_of(sx);
	inode->ino = sx->stx_ino;
	inode->device = get_device(table, near, inode->dev);
	inode->mount = get_mount(table, near, sx->stx_mnt_id);
	return inode->mount ? 0 : -ENOMEM;
}

/*
 * The inode of fd, which is taken over.  A new one is told of under the lock: nobody can use it
 * before the writer has heard of it.
 */
static int get_inode(struct inode_table *table, const struct inode *near, int fd,
	const struct statx *sx, struct inode **ret_inode)
{
	struct key key = { device_of(sx), sx->stx_ino, sx->stx_mnt_id };
	struct shard *shard = shard_of(table, &key);
	struct entry *entry;
	int r = 0;

	pthread_mutex_lock(&shard->lock);
	HASH_FIND(hh, shard->entries, &key, sizeof(key), entry);
	if (entry) {
		entry->nlookup++;
	} else if (!(entry = calloc(1, sizeof(*entry)))) {
		r = -ENOMEM;
	} else {
		r = fill_inode(table, near, fd, sx, &entry->inode);
		entry->key = key;
		entry->nlookup = 1;
		if (r == 0) {
			HASH_ADD(hh, shard->entries, key, sizeof(entry->key), entry);
			tell_node(table, &entry->inode, sx);
			fd = -1;
		}
	}
	pthread_mutex_unlock(&shard->lock);
	if (fd >= 0)
		close(fd);
	if (r < 0) {
		free(entry);
		return r;
	}
	see_mode(&entry->inode, sx->stx_mode);
	*ret_inode = &entry->inode;
	return 0;
}

/* Attributes without asking ourselves; a descriptor in our own mount becomes what it covers. */
static int look_at(struct inode_table *table, const struct inode *near, int *fd, struct statx *sx)
{
	const int flags = AT_EMPTY_PATH | AT_SYMLINK_NOFOLLOW;

	if (statx(*fd, "", flags | AT_STATX_DONT_SYNC, STATX_WANTED, sx) < 0)
		return -errno;
	if (table->own_dev && device_of(sx) == table->own_dev) {
		close(*fd);
		*fd = fcntl(table->options.covered, F_DUPFD_CLOEXEC, 3);
		if (*fd < 0)
			return -errno;
		return statx(*fd, "", flags, STATX_WANTED, sx) < 0 ? -errno : 0;
	}
	if ((!near || near->mount->id != sx->stx_mnt_id || near->mount->remote) &&
		get_mount(table, near, sx->stx_mnt_id)->remote)
		return statx(*fd, "", flags, STATX_WANTED, sx) < 0 ? -errno : 0;
	return 0;
}

static int take_fd(struct inode_table *table, const struct inode *near, int fd,
	struct inode **ret_inode, struct stat *ret_attr)
{
	struct statx sx;
	int r = look_at(table, near, &fd, &sx);

	if (r == 0 && device_of(&sx) == table->root.inode.dev &&
		sx.stx_ino == table->root.inode.ino && sx.stx_mnt_id == table->root.key.mount) {
		close(fd); /* the root, reached from below */
		*ret_inode = &table->root.inode;
		fill_attr(&sx, 0, ret_attr);
		return 0;
	}
	if (r < 0) {
		if (fd >= 0)
			close(fd);
		return r;
	}
	r = get_inode(table, near, fd, &sx, ret_inode);
	if (r == 0)
		fill_attr(&sx, (*ret_inode)->device, ret_attr);
	return r;
}

int inode_lookup(struct inode_table *table, const struct inode *parent, const char *name,
	struct inode **ret_inode, struct stat *ret_attr)
{
	int fd = openat(parent->fd, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);

	return fd < 0 ? -errno : take_fd(table, parent, fd, ret_inode, ret_attr);
}

int inode_from_fd(struct inode_table *table, const struct inode *parent, int fd,
	struct inode **ret_inode, struct stat *ret_attr)
{
	char path[32];
	int pin;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	pin = open(path, O_PATH | O_CLOEXEC);
	return pin < 0 ? -errno : take_fd(table, parent, pin, ret_inode, ret_attr);
}

static struct entry *entry_of(struct inode *inode)
{
	return (struct entry *)inode; /* its first member */
}

void inode_again(struct inode_table *table, struct inode *inode)
{
	struct shard *shard = shard_of(table, &entry_of(inode)->key);

	pthread_mutex_lock(&shard->lock);
	entry_of(inode)->nlookup++;
	pthread_mutex_unlock(&shard->lock);
}

static void tell_forgotten(const struct inode_table *table, uint64_t id)
{
	struct event ev = { .kind = EVENT_FORGET, .u.node.id = id };

	if (table->options.ring)
		ring_push(table->options.ring, &ev, NULL, 0);
}

void inode_forget(struct inode_table *table, struct inode *inode, uint64_t n)
{
	struct entry *entry = entry_of(inode);
	struct shard *shard;
	bool gone;

	if (entry == &table->root)
		return;
	shard = shard_of(table, &entry->key);
	pthread_mutex_lock(&shard->lock);
	entry->nlookup -= n < entry->nlookup ? n : entry->nlookup;
	gone = entry->nlookup == 0;
	if (gone) {
		HASH_DEL(shard->entries, entry);
		tell_forgotten(table, inode->id);
	}
	pthread_mutex_unlock(&shard->lock);
	if (gone) {
		close(inode->fd);
		free(entry);
	}
}

struct inode *inode_of(const struct inode_table *table, uint64_t nodeid)
{
	return nodeid == NODE_ROOT ? (struct inode *)&table->root.inode
				   : (struct inode *)(uintptr_t)nodeid;
}

uint64_t inode_nodeid(const struct inode_table *table, const struct inode *inode)
{
	return inode == &table->root.inode ? NODE_ROOT : (uintptr_t)inode;
}

void inode_own_device(struct inode_table *table, dev_t dev)
{
	table->own_dev = dev;
}

static int open_root(struct inode_table *table)
{
	struct statx sx;
	int r;

	if (statx(table->options.root, "", AT_EMPTY_PATH, STATX_WANTED, &sx) < 0)
		return -errno;
	r = fill_inode(table, NULL, table->options.root, &sx, &table->root.inode);
	if (r < 0)
		return r;
	table->root.key = (struct key){ device_of(&sx), sx.stx_ino, sx.stx_mnt_id };
	table->root.nlookup = 1;
	tell_node(table, &table->root.inode, &sx);
	return 0;
}

int inode_table_create(const struct inode_options *options, struct inode_table **ret_table)
{
	struct inode_table *table = aligned_alloc(64, sizeof(*table));
	int r;

	if (!table)
		return -ENOMEM;
	memset(table, 0, sizeof(*table));
	table->options = *options;
	pthread_mutex_init(&table->places_lock, NULL);
	for (int i = 0; i < SHARDS; i++)
		pthread_mutex_init(&table->shards[i].lock, NULL);
	r = open_root(table); /* gets the id NODE_ROOT: it is the first */
	if (r < 0) {
		inode_table_destroy(table);
		return r;
	}
	*ret_table = table;
	return 0;
}

void inode_table_destroy(struct inode_table *table)
{
	struct entry *e, *next;

	if (!table)
		return;
	for (int i = 0; i < SHARDS; i++) {
		HASH_ITER(hh, table->shards[i].entries, e, next) {
			HASH_DEL(table->shards[i].entries, e);
			close(e->inode.fd);
			free(e);
		}
	}
	while (table->mounts) {
		struct mount *next_mount = table->mounts->next;

		free(table->mounts);
		table->mounts = next_mount;
	}
	free(table->devices);
	close(table->options.root);
	if (table->options.covered >= 0)
		close(table->options.covered);
	free(table);
}
