/* SPDX-License-Identifier: MIT */
#include "ftrac/mounts.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <uthash.h>

#include "base/vector.h"
#include "db/event.h"
#include "db/ring.h"
#include "base/mountinfo.h"

#define DEVICE_SHIFT 48
#define DEVICE_BIG 0xffffU /* no device: for consecutive numbers */

/* An inode number of more than 48 bits, or of a device whose index exceeds 16 bits. */
struct big_number {
	struct {
		uint64_t device, ino;
	} key;
	uint64_t shown;
	UT_hash_handle hh;
};

void mounts_init(struct mounts *mounts, struct ring *ring)
{
	*mounts = (struct mounts){ .ring = ring };
	pthread_mutex_init(&mounts->lock, NULL);
}


void mounts_finish(struct mounts *mounts)
{
	struct big_number *big, *next_big;

	while (mounts->mounts) {
		struct mount *next = mounts->mounts->next;

		free(mounts->mounts);
		mounts->mounts = next;
	}
	HASH_ITER(hh, mounts->big, big, next_big) {
		HASH_DEL(mounts->big, big);
		free(big);
	}
	free(mounts->devices);
	pthread_mutex_destroy(&mounts->lock);
}

/* ---- kinds of mounts ---- */

/* Whether path is top or below it. */
static bool is_at_or_below(const char *path, const char *top)
{
	size_t n = strlen(top);

	n -= n == 1; /* "/" */
	return strncmp(path, top, n) == 0 && (path[n] == '/' || !path[n]);
}

static bool is_one_of(const char *name, const char *const *names)
{
	for (; *names; names++)
		if (strcmp(name, *names) == 0)
			return true;
	return false;
}

static bool is_fuse(const char *fstype)
{
	return strncmp(fstype, "fuse", 4) == 0;
}

static bool is_remote(const char *fstype)
{
	static const char *const remote[] = { "nfs", "nfs4", "cifs", "smb3", "9p", "ceph", "afs",
		"lustre", "gpfs", "beegfs", "orangefs", "ocfs2", "gfs2", "virtiofs", NULL };

	return is_fuse(fstype) || is_one_of(fstype, remote);
}

static bool is_pseudo(const char *fstype)
{
	static const char *const pseudo[] = { "proc", "sysfs", "cgroup", "cgroup2", "debugfs",
		"tracefs", "securityfs", "fusectl", "configfs", NULL };

	return is_one_of(fstype, pseudo);
}

static bool is_mirror(const char *fstype)
{
	return strcmp(fstype, "fuse.ftrac") == 0;
}

static bool is_named(const char *fstype)
{
	/* In overlayfs copy-up gives a file another inode number or time of birth. */
	static const char *const named[] = { "proc", "overlay", "cifs", "smb3", "9p", NULL };

	return (is_fuse(fstype) && !is_mirror(fstype)) || is_one_of(fstype, named);
}

static void emit(const struct mounts *mounts, uint64_t id, const struct mountinfo *line, int fd)
{
	struct event ev = { .kind = EVENT_MOUNT, .u.mount.id = id };
	char text[MOUNTINFO_TEXT], fsid[MOUNTINFO_FSID];

	if (mounts->ring)
		ring_push(mounts->ring, &ev, text, mountinfo_text(line, mountinfo_fsid(line, fd, fsid) ? fsid : NULL, text));
}

/* The results of mounts_of_others(). */
struct others {
	const char *dir;
	size_t on; /* length of the path of dir's mount */
	bool mirror, on_late, below_late;
};

static bool take_other(void *arg, const struct mountinfo *mount)
{
	struct others *others = arg;
	bool late = is_remote(mount->fstype) && !is_pseudo(mount->fstype);

	others->mirror |= is_mirror(mount->fstype);
	others->below_late |= late && is_at_or_below(mount->path, others->dir);
	/* A later mount at the same place covers an earlier one. */
	if (is_at_or_below(others->dir, mount->path) && strlen(mount->path) >= others->on) {
		others->on = strlen(mount->path);
		others->on_late = late;
	}
	return true;
}

void mounts_of_others(const char *dir, bool *ret_mirror, bool *ret_late)
{
	struct others others = { .dir = dir };

	mountinfo_each(take_other, &others);
	*ret_mirror = others.mirror;
	*ret_late = others.on_late || others.below_late;
}

struct sought {
	uint64_t id;
	struct mountinfo *ret_line;
	bool found;
};

static bool compare_id(void *arg, const struct mountinfo *mount)
{
	struct sought *sought = arg;

	sought->found = mount->id == sought->id;
	if (sought->found)
		*sought->ret_line = *mount;
	return !sought->found;
}

static bool read_line_at(int fd, struct mountinfo *ret_line)
{
	struct sought sought = { .ret_line = ret_line };
	struct statx sx;

	if (statx(fd, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, STATX_MNT_ID, &sx) < 0)
		return false;
	sought.id = sx.stx_mnt_id;
	mountinfo_each(compare_id, &sought);
	return sought.found;
}

struct mount_effects mounts_effects(int fd)
{
	struct mountinfo line;

	if (!read_line_at(fd, &line))
		return (struct mount_effects){ 0 };
	return (struct mount_effects){
		.keeps_atime = mountinfo_has(&line, "ro") || mountinfo_has(&line, "noatime"),
		.nosuid = mountinfo_has(&line, "nosuid"),
		.nodev = mountinfo_has(&line, "nodev"),
	};
}

/* statmount(2) and unique ids: Linux 6.8; in headers of 2024. */
#define SYS_STATMOUNT 457
#define STATMOUNT_BASIC 2U

bool mounts_is_attached(const struct mount *mount, int fd)
{
	struct {
		uint32_t size, spare;
		uint64_t id, param;
	} request = { .size = sizeof(request), .id = mount->id, .param = STATMOUNT_BASIC };
	uint64_t result[128];
	struct mountinfo line;

	if (syscall(SYS_STATMOUNT, &request, result, sizeof(result), 0) == 0)
		return true;
	return errno == ENOENT ? false : errno != ENOSYS || read_line_at(fd, &line);
}

/* Called with the lock held. */
static struct mount *add(struct mounts *mounts, uint64_t id, int fd)
{
	struct mount *mount = calloc(1, sizeof(*mount));
	struct mountinfo line = { 0 };

	if (!mount)
		return NULL;
	mount->id = id;
	mount->remote = true; /* if the mount is not listed, this is the safe assumption */
	if (read_line_at(fd, &line)) {
		mount->remote = is_remote(line.fstype);
		mount->fuse = is_fuse(line.fstype) || strcmp(line.fstype, "virtiofs") == 0;
		mount->pseudo = is_pseudo(line.fstype);
		mount->named = is_named(line.fstype);
		mount->mirror = is_mirror(line.fstype);
		mount->stacked =
			strcmp(line.fstype, "overlay") == 0 || strcmp(line.fstype, "ecryptfs") == 0;
		mount->proc = strcmp(line.fstype, "proc") == 0;
		emit(mounts, id, &line, fd);
	}
	mount->next = mounts->mounts;
	mounts->mounts = mount;
	return mount;
}

struct mount *mounts_get(struct mounts *mounts, uint64_t id, int fd)
{
	struct mount *mount;

	pthread_mutex_lock(&mounts->lock);
	for (mount = mounts->mounts; mount && mount->id != id; mount = mount->next)
		;
	if (!mount)
		mount = add(mounts, id, fd);
	pthread_mutex_unlock(&mounts->lock);
	return mount;
}

/* ---- numbers ---- */

unsigned mounts_device(struct mounts *mounts, dev_t dev)
{
	unsigned i;

	pthread_mutex_lock(&mounts->lock);
	for (i = 0; i < mounts->n_devices && mounts->devices[i] != dev; i++)
		;
	if (i == mounts->n_devices && vector_push(mounts->devices, mounts->n_devices, dev) < 0)
		i = DEVICE_BIG; /* not the next index: two files would get one number */
	pthread_mutex_unlock(&mounts->lock);
	return i;
}

static ino_t big_number(struct mounts *mounts, unsigned device, ino_t ino)
{
	struct big_number *big, wanted = { .key = { device, ino } };
	ino_t shown = ino;

	pthread_mutex_lock(&mounts->lock);
	HASH_FIND(hh, mounts->big, &wanted.key, sizeof(wanted.key), big);
	if (!big && (big = malloc(sizeof(*big)))) {
		*big = wanted;
		big->shown = (uint64_t)DEVICE_BIG << DEVICE_SHIFT | ++mounts->n_big;
		shown = big->shown;
		HASH_ADD(hh, mounts->big, key, sizeof(big->key), big);
		if (!big->hh.tbl)
			free(big);
	} else if (big) {
		shown = big->shown;
	}
	pthread_mutex_unlock(&mounts->lock);
	return shown;
}

ino_t mounts_number(struct mounts *mounts, unsigned device, ino_t ino)
{
	if (ino >> DEVICE_SHIFT == 0 && device < DEVICE_BIG)
		return ino | (ino_t)device << DEVICE_SHIFT;
	return big_number(mounts, device, ino);
}
