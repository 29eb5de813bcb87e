/* SPDX-License-Identifier: MIT */
#include "ftrac/mounts.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <uthash.h>

#include "base/cleanup.h"
#include "db/event.h"
#include "db/ring.h"

#define DEVICE_SHIFT 48
#define DEVICE_BIG 0xffffU /* not of a device: counted through */

struct mount_line {
	uint64_t id;
	char path[4096], options[256], fstype[64];
};

/* A number of more than 48 bits, or of a device beyond what 16 bits count. */
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

static void free_points(struct mounts *mounts);

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
	free_points(mounts);
	free(mounts->devices);
	pthread_mutex_destroy(&mounts->lock);
}

/* ---- mountinfo ---- */

/* One line of mountinfo: "36 35 98:0 /root /mount/point options - type source options". */
static bool parse_line(const char *line, struct mount_line *ret_line)
{
	const char *dash = strstr(line, " - ");
	unsigned long id;

	if (!dash || sscanf(line, "%lu %*u %*s %*s %4095s %255s", &id, ret_line->path,
			     ret_line->options) != 3)
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

static bool read_line_of(uint64_t id, struct mount_line *ret_line)
{
	cleanup_file FILE *f = fopen("/proc/self/mountinfo", "re");
	cleanup_free char *line = NULL;
	size_t room = 0;

	while (f && getline(&line, &room, f) > 0)
		if (parse_line(line, ret_line) && ret_line->id == id) {
			unescape(ret_line->path);
			return true;
		}
	return false;
}

static void free_points(struct mounts *mounts)
{
	while (mounts->n_points)
		free(mounts->points[--mounts->n_points]);
	free(mounts->points);
	mounts->points = NULL;
}

static void keep_point(struct mounts *mounts, const char *path)
{
	char **grown = realloc(mounts->points, (mounts->n_points + 1) * sizeof(*grown));

	if (!grown)
		return;
	mounts->points = grown;
	grown[mounts->n_points] = strdup(path);
	mounts->n_points += grown[mounts->n_points] != NULL;
}

void mounts_points(struct mounts *mounts, void (*point)(void *arg, const char *path), void *arg)
{
	cleanup_file FILE *f = fopen("/proc/self/mountinfo", "re");
	cleanup_free char *line = NULL;
	struct mount_line found;
	size_t room = 0;

	for (size_t i = 0; i < mounts->n_points; i++)
		point(arg, mounts->points[i]);
	free_points(mounts);
	while (f && getline(&line, &room, f) > 0) {
		if (!parse_line(line, &found))
			continue;
		unescape(found.path);
		point(arg, found.path);
		keep_point(mounts, found.path);
	}
}

/* ---- what a mount is ---- */

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

static bool is_mirror(const char *fstype)
{
	return strcmp(fstype, "fuse.ftrac") == 0;
}

static bool is_named(const char *fstype)
{
	/* In overlayfs a file gets another number, or time of birth, when it is copied up. */
	static const char *const named[] = { "proc", "overlay", "cifs", "smb3", "9p", NULL };

	return (strncmp(fstype, "fuse", 4) == 0 && !is_mirror(fstype)) || is_one_of(fstype, named);
}

static bool has_option(const struct mount_line *line, const char *option)
{
	size_t n = strlen(option);

	for (const char *at = line->options; (at = strstr(at, option)); at += n)
		if ((at == line->options || at[-1] == ',') && (!at[n] || at[n] == ','))
			return true;
	return false;
}

static void tell(const struct mounts *mounts, uint64_t id, const struct mount_line *line)
{
	struct event ev = { .kind = EVENT_MOUNT, .u.mount.id = id };
	char text[sizeof(line->fstype) + sizeof(line->path)];
	int n;

	if (!mounts->ring)
		return;
	n = snprintf(text, sizeof(text), "%s", line->fstype) + 1;
	n += snprintf(text + n, sizeof(text) - n, "%s", line->path) + 1;
	ring_push(mounts->ring, &ev, text, n);
}

void mounts_of_others(const char *dir, bool *ret_mirror, bool *ret_late)
{
	cleanup_file FILE *f = fopen("/proc/self/mountinfo", "re");
	cleanup_free char *line = NULL;
	struct mount_line found;
	size_t room = 0, on = 0; /* the length of the path of what dir is on */
	bool late, on_late = false, below_late = false;

	*ret_mirror = false;
	while (f && getline(&line, &room, f) > 0) {
		if (!parse_line(line, &found))
			continue;
		unescape(found.path);
		*ret_mirror |= is_mirror(found.fstype);
		late = is_remote(found.fstype) && !is_pseudo(found.fstype);
		below_late |= late && is_at_or_below(found.path, dir);
		/* What is mounted later at the same place covers what was. */
		if (is_at_or_below(dir, found.path) && strlen(found.path) >= on) {
			on = strlen(found.path);
			on_late = late;
		}
	}
	*ret_late = on_late || below_late;
}

static bool read_line_at(int fd, struct mount_line *ret_line)
{
	struct statx sx;

	return statx(fd, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, STATX_MNT_ID, &sx) == 0 &&
	       read_line_of(sx.stx_mnt_id, ret_line);
}

bool mounts_keep_atime(int fd)
{
	struct mount_line line;

	return read_line_at(fd, &line) && (has_option(&line, "ro") || has_option(&line, "noatime"));
}

/* With the lock held. */
static struct mount *add(struct mounts *mounts, uint64_t id, int fd)
{
	struct mount *mount = calloc(1, sizeof(*mount));
	struct mount_line line = { 0 };

	if (!mount)
		return NULL;
	mount->id = id;
	mount->remote = true; /* of what is not listed we do not know better */
	if (read_line_at(fd, &line)) {
		mount->remote = is_remote(line.fstype);
		mount->pseudo = is_pseudo(line.fstype);
		mount->named = is_named(line.fstype);
		mount->mirror = is_mirror(line.fstype);
		mount->stacked =
			strcmp(line.fstype, "overlay") == 0 || strcmp(line.fstype, "ecryptfs") == 0;
		mount->nosuid = has_option(&line, "nosuid");
		mount->nodev = has_option(&line, "nodev");
		mount->noexec = has_option(&line, "noexec");
		mount->proc = strcmp(line.fstype, "proc") == 0;
		tell(mounts, id, &line);
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
	if (i == mounts->n_devices) {
		dev_t *grown = realloc(mounts->devices, (i + 1) * sizeof(*grown));

		if (grown) {
			mounts->devices = grown;
			grown[mounts->n_devices++] = dev;
		} else {
			i = DEVICE_BIG; /* not the next one's: that would be two files of one number */
		}
	}
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
